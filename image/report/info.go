package report

import (
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/binaryinfo"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// Info is everything about an image file.
type Info struct {
	File     string       `json:"file"`
	Format   image.Format `json:"format"`
	Contents int          `json:"content_bytes"`
	// Chip and CPU are what the image is for, as far as it says; Type is
	// the image type in picotool's words, "ARM Secure" or "RISC-V".
	Chip  string `json:"chip,omitempty"`
	CPU   string `json:"cpu,omitempty"`
	Type  string `json:"image_type,omitempty"`
	Place string `json:"kind,omitempty"` // "flash" or "ram"
	// Start and End are the lowest address and the one behind the highest byte.
	Start Addr `json:"binary_start"`
	End   Addr `json:"content_end"`
	// ProgramEnd is where the program says it ends.
	ProgramEnd *Addr `json:"binary_end,omitempty"`
	Entry      *Addr `json:"entry,omitempty"`
	// Family and OtherFamilies are those of a UF2 file.
	Family        string           `json:"family,omitempty"`
	OtherFamilies []string         `json:"other_families,omitempty"`
	Program       *binaryinfo.Info `json:"program,omitempty"`
	Memory        []Region         `json:"memory"`
	MemoryNote    string           `json:"memory_note,omitempty"`
	Symbols       []Symbol         `json:"largest_symbols,omitempty"`
	Blocks        []MetadataBlock  `json:"metadata"`
	Problem       string           `json:"metadata_problem,omitempty"`
	Boot          []BootView       `json:"boot"`
	Warnings      []string         `json:"warnings,omitempty"`
	pins          bool
	im            *image.Image
}

// Symbol is one of the largest symbols.
type Symbol struct {
	Name   string `json:"name"`
	Addr   Addr   `json:"address"`
	Size   uint32 `json:"size"`
	Kind   string `json:"kind"`
	Memory string `json:"memory"`
}

// BootView is what a chip with one CPU running would do with the image.
type BootView struct {
	CPU     string `json:"cpu"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Block   *Addr  `json:"image_definition,omitempty"`
	Entry   *Addr  `json:"entry,omitempty"`
	Stack   *Addr  `json:"stack,omitempty"`
	Vectors *Addr  `json:"vector_table,omitempty"`
}

// Kind is "image-info".
func (*Info) Kind() string { return "image-info" }

// largest is how many symbols are shown.
const largest = 10

// NewInfo looks at an image. With pins the text shows the board's outline.
func NewInfo(im *image.Image, pins bool) *Info {
	r := &Info{File: im.Path, Format: im.Format, Contents: im.Size(), pins: pins, im: im,
		Warnings: append([]string(nil), im.Warnings...)}
	lo, end := im.Bounds()
	r.Start, r.End = Addr(lo), Addr(uint32(end))
	if im.HasEntry {
		e := Addr(im.Entry)
		r.Entry = &e
	}
	if im.Format == image.FormatUF2 {
		r.Family = uf2.FamilyName(im.Family)
		for _, o := range im.Others {
			r.OtherFamilies = append(r.OtherFamilies, o.Name)
		}
	}
	r.place()
	r.metadata()
	r.program()
	r.memory()
	for _, s := range im.Symbols() {
		if len(r.Symbols) == largest {
			break
		}
		k := "data"
		if s.Func {
			k = "code"
		}
		r.Symbols = append(r.Symbols, Symbol{s.Name, Addr(s.Addr), s.Size, k, regionName(s.Addr)})
	}
	r.boot()
	r.Warnings = append(r.Warnings, im.Contradictions()...)
	return r
}

// HashFault returns a fault if a hash or signature in the image is wrong.
func (r *Info) HashFault() error {
	for _, b := range r.Blocks {
		if b.Hash == hashWrong || b.Signature == hashWrong {
			return &faults.Fault{Code: faults.CodeHashMismatch, Status: faults.StatusImage,
				Summary: r.File + ": the image was changed after it was sealed",
				Seen:    fmt.Sprintf("a hash that does not fit the block at %s", b.Addr),
				Wanted:  "the contents as they were sealed",
				Try:     []string{"copy or build the file again", "if the change was meant, seal the file it was made of: stem-hw image seal"}}
		}
	}
	return nil
}

func (r *Info) place() {
	l, err := r.im.Place(&image.RP2350)
	if err != nil {
		if f := faults.Of(err); f != nil {
			r.Warnings = append(r.Warnings, withoutPath(f.Error(), r.im.Path))
		}
		return
	}
	r.Place = string(l.Kind)
	r.Warnings = append(r.Warnings, l.Notes...)
}

func withoutPath(s, path string) string {
	if path != "" && len(s) > len(path)+2 && s[:len(path)] == path {
		return s[len(path)+2:]
	}
	return s
}

// program reads the binary info: an RP2350 program has it in its first 256
// words, an RP2040 program behind its boot stage.
func (r *Info) program() {
	read := func(p []byte, addr uint32) bool { return r.im.ReadAt(p, addr) == len(p) }
	starts := []uint32{uint32(r.Start)}
	if e, ok := r.im.PhysicalEntry(); ok && r.Place == string(image.KindRAM) {
		starts = append(starts, e&^3)
	}
	for _, s := range starts {
		if r.Program = binaryinfo.Find(read, s, 256); r.Program != nil {
			break
		}
	}
	if r.Program == nil {
		return
	}
	if e := r.Program.BinaryEnd; e != 0 {
		a := Addr(e)
		r.ProgramEnd = &a
	}
}

// boot asks the boot ROM's rules what each CPU would do.
func (r *Info) boot() {
	if r.Place == "" || len(r.im.Segments) == 0 {
		return
	}
	for _, cpu := range []boot.CPU{boot.Arm, boot.RISCV} {
		d := decide(r.im, boot.Options{Chip: boot.A4, CPU: cpu})
		v := BootView{CPU: cpu.String(), Outcome: string(d.Outcome), Reason: d.Reason}
		if d.Image != nil {
			a := Addr(d.Image.Addr)
			v.Block = &a
		}
		if d.Outcome == boot.OutcomeBoot {
			e, s := Addr(d.Entry.PC), Addr(d.Entry.SP)
			v.Entry, v.Stack = &e, &s
			if cpu == boot.Arm {
				t := Addr(d.Entry.VTOR)
				v.Vectors = &t
			}
		}
		r.Boot = append(r.Boot, v)
	}
}

// decide applies the boot ROM's rules to an image: as if it were in flash, or
// loaded into RAM by the drive. A program that is not at the start of flash is
// looked at where it is, as a boot loader in front of it would.
func decide(im *image.Image, o boot.Options) *boot.Decision {
	w, _ := im.SearchWindow()
	if w.Base == boot.FlashBase {
		return boot.FindImage(im.Memory(), o)
	}
	return boot.FindInWindow(im.Memory(), w, o)
}
