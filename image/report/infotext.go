package report

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/binaryinfo"
	"github.com/stem-hw/stem-hw/ui"
)

// Text is a page in sections; those with nothing to say are left out.
func (r *Info) Text(t *ui.Text) {
	t.Heading(r.File)
	r.textFile(t)
	if r.Program != nil {
		r.textProgram(t)
	}
	r.textMemory(t)
	r.textSymbols(t)
	r.textPins(t)
	r.textBuild(t)
	r.textBlocks(t)
	r.textBoot(t)
	if len(r.Warnings) > 0 {
		t.Linef("")
		for _, w := range r.Warnings {
			t.Linef("note: %s", w)
		}
	}
}

// pair is one row of a section.
func pair(t *ui.Text, name, value string) {
	if value != "" {
		t.Row("  "+name, value)
	}
}

func section(t *ui.Text, name string) {
	t.Linef("")
	t.Heading(name)
}

func (r *Info) textFile(t *ui.Text) {
	format := strings.ToUpper(string(r.Format))
	if r.Family != "" {
		format += ", family " + r.Family
	}
	pair(t, "format", format)
	pair(t, "other families", strings.Join(r.OtherFamilies, ", "))
	chip := r.Chip
	if chip == "" {
		chip = "not said"
	}
	kind := r.Type
	if kind == "" && r.CPU != "" {
		kind = r.CPU + " (no image definition)"
	}
	pair(t, "target chip", chip)
	pair(t, "image type", kind)
	place := map[string]string{"flash": "in flash", "ram": "in RAM"}[r.Place]
	pair(t, "contents", strings.TrimSpace(fmt.Sprintf("%s %s, %s-%s", size(uint64(r.Contents)), place, r.Start, r.End)))
	if r.Entry != nil {
		pair(t, "file's entry", r.Entry.String())
	}
}

func (r *Info) textProgram(t *ui.Text) {
	p := r.Program
	section(t, "Program")
	pair(t, "name", p.Name)
	pair(t, "version", p.Version)
	pair(t, "web site", p.URL)
	pair(t, "description", p.Description)
	lines(t, "features", p.Features)
	for _, g := range p.Groups {
		var vals []string
		for _, v := range g.Values {
			vals = append(vals, valueText(v))
		}
		if g.Commas {
			vals = []string{strings.Join(vals, ", ")}
		}
		lines(t, g.Label, vals)
	}
	pair(t, "binary start", r.Start.String())
	if r.ProgramEnd != nil {
		pair(t, "binary end", r.ProgramEnd.String())
	}
	for _, d := range p.Devices {
		may := ""
		for _, f := range []struct {
			on bool
			s  string
		}{{d.Read, "readable"}, {d.Write, "writable"}, {d.Format, "may be formatted"}} {
			if f.on {
				may += ", " + f.s
			}
		}
		pair(t, "embedded drive", fmt.Sprintf("%s-%s (%s) %s%s", Addr(d.Address), Addr(d.Address+d.Size), size(uint64(d.Size)), d.Name, may))
	}
	if p.Unreadable > 0 {
		pair(t, "unreadable", fmt.Sprintf("%d entries", p.Unreadable))
	}
}

func valueText(v binaryinfo.Value) string {
	switch {
	case v.Int != nil:
		return fmt.Sprintf("%s = %d", v.Label, *v.Int)
	case v.Label != "":
		return fmt.Sprintf("%s = %q", v.Label, *v.Text)
	case v.Text != nil:
		return *v.Text
	}
	return ""
}

func lines(t *ui.Text, name string, vals []string) {
	for i, v := range vals {
		if i > 0 {
			name = ""
		}
		t.Row("  "+name, v)
	}
}

func (r *Info) textMemory(t *ui.Text) {
	section(t, "Memory")
	for _, m := range r.Memory {
		share := float64(m.Used) / float64(m.Size)
		t.Row("  "+m.Name, bar(share), percent(share), size(m.Used), "of "+size(uint64(m.Size)))
	}
	if r.MemoryNote != "" {
		t.Linef("  (%s)", r.MemoryNote)
	}
}

func (r *Info) textSymbols(t *ui.Text) {
	if len(r.Symbols) == 0 {
		return
	}
	section(t, "Largest symbols")
	for _, s := range r.Symbols {
		t.Row("  "+size(uint64(s.Size)), s.Addr.String(), s.Kind, s.Memory, s.Name)
	}
}

func (r *Info) textPins(t *ui.Text) {
	if r.pins {
		section(t, "Pins")
		drawPins(t, pinsOf(r.Program))
		return
	}
	if r.Program == nil {
		return
	}
	section(t, "Pins")
	pins := r.Program.Pins
	if len(pins) == 0 {
		t.Linef("  none said")
		return
	}
	for i := 0; i < len(pins); {
		j := i
		for j+1 < len(pins) && pins[j+1].GPIO == pins[j].GPIO+1 && strings.Join(pins[j+1].Names, "|") == strings.Join(pins[i].Names, "|") {
			j++
		}
		name := fmt.Sprintf("GPIO %d", pins[i].GPIO)
		if j > i {
			name += fmt.Sprintf("-%d", pins[j].GPIO)
		}
		t.Row("  "+name, strings.Join(pins[i].Names, ", "))
		i = j + 1
	}
}

func (r *Info) textBuild(t *ui.Text) {
	p := r.Program
	if p == nil {
		return
	}
	section(t, "Build")
	pair(t, "sdk version", p.SDKVersion)
	pair(t, "pico_board", p.Board)
	pair(t, "boot2_name", p.Boot2)
	pair(t, "build date", p.BuildDate)
	lines(t, "build attributes", p.BuildAttributes)
	if p.SDKVersion+p.Board+p.Boot2+p.BuildDate == "" && len(p.BuildAttributes) == 0 {
		t.Linef("  none said")
	}
}

func (r *Info) textBlocks(t *ui.Text) {
	for i, b := range r.Blocks {
		section(t, fmt.Sprintf("Metadata block %d: %s", i+1, b.Type))
		pair(t, "address", fmt.Sprintf("%s, %d bytes", b.Addr, b.Size))
		pair(t, "next block", b.Next.String())
		pair(t, "target chip", b.Chip)
		pair(t, "image type", b.Image)
		if b.VTOR != nil {
			pair(t, "vector table", b.VTOR.String())
		}
		if b.Entry != nil {
			s := fmt.Sprintf("%s, stack %s", *b.Entry, *b.Stack)
			if b.Limit != nil {
				s += fmt.Sprintf(", stack limit %s", *b.Limit)
			}
			pair(t, "entry point", s)
		}
		if b.Window != nil {
			pair(t, "rolling window", fmt.Sprintf("%+d bytes", *b.Window))
		}
		for k, l := range b.LoadMap {
			name := "load map"
			if k > 0 {
				name = ""
			}
			s := fmt.Sprintf("%s %s-%s (%s)", l.Do, l.To, l.To+Addr(l.Size), size(uint64(l.Size)))
			if l.From != nil {
				s += " from " + l.From.String()
			}
			t.Row("  "+name, s)
		}
		pair(t, "version", b.Version)
		if b.Rollback != nil {
			pair(t, "rollback version", fmt.Sprintf("%d, in OTP rows %v", *b.Rollback, b.OTPRows))
		}
		if b.Salt {
			pair(t, "salt", "the chip mixes a secret of its own into the hash")
		}
		pair(t, "hash", b.Hash)
		pair(t, "hash value", b.HashValue)
		pair(t, "signature", b.Signature)
		pair(t, "public key", b.PublicKey)
		if b.Type == "unknown" {
			pair(t, "items", strings.Join(b.Items, ", "))
		}
		pair(t, r.view(), b.Fate)
		if b.Table != nil {
			b.Table.text(t)
		}
	}
	if len(r.Blocks) == 0 || r.Problem != "" {
		section(t, "Metadata")
		t.Linef("  %s", noneOr(r.Problem))
	}
}

// view names the row that says what the boot ROM does with a block: with
// image definitions for both CPUs that depends on the CPU.
func (r *Info) view() string {
	cpus := map[bool]bool{}
	for _, b := range r.Blocks {
		if b.Type == "image def" {
			cpus[strings.HasPrefix(b.Image, "RISC-V")] = true
		}
	}
	if len(cpus) < 2 {
		return "boot ROM"
	}
	if r.im.Arch == image.ArchRISCV {
		return "RISC-V boot"
	}
	return "Arm boot"
}

func noneOr(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (r *Info) textBoot(t *ui.Text) {
	if len(r.Boot) == 0 {
		return
	}
	section(t, "Boot")
	for _, v := range r.Boot {
		s := v.Reason
		if v.Entry != nil {
			s = fmt.Sprintf("starts at %s with stack %s", *v.Entry, *v.Stack)
			if v.Vectors != nil {
				s += fmt.Sprintf(", vector table %s", *v.Vectors)
			}
		}
		t.Row("  "+v.CPU, s)
	}
}
