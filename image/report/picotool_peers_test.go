//go:build peers

package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/uf2"
)

// peerFiles are the valid images that both tools are given. STEM_PEER_IMAGES
// adds folders of files that the project may not contain.
func peerFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, g := range []string{"../testdata/cases/e*.elf", "../testdata/cases/b*.bin", "../testdata/weather.bin", "../testdata/cases/p01*.bin", "../testdata/cases/p10*.bin", "../testdata/cases/pt.bin", "../../examples/*/*.elf"} {
		m, err := filepath.Glob(g)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, m...)
	}
	for _, dir := range filepath.SplitList(os.Getenv("STEM_PEER_IMAGES")) {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".elf") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// knownDifferences are files on which picotool is known to be wrong, or
// stricter, with the reason.
var knownDifferences = map[string]string{
	"e15_ram_entry_not_first.elf":    "picotool takes it for an RP2040 RAM image",
	"e20_riscv_elf_arm_imagedef.elf": "the file contradicts itself; picotool believes the image definition",
	"e21_app_at_64k.elf":             "picotool takes a program behind a boot loader for an RP2040",
	"e26_usb_ram_bss.elf":            "picotool refuses .bss in USB RAM",
	"e31_osabi_97.elf":               "picotool refuses the OSABI",
}

// TestPeerConvert: UF2 files equal picotool's byte for byte with zeros
// between the parts; with the default fill they differ only where no segment
// lies.
func TestPeerConvert(t *testing.T) {
	run := picotool(t, true)
	equal, refused := 0, 0
	for _, f := range peerFiles(t) {
		name := filepath.Base(f)
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			in := "in" + filepath.Ext(f)
			if err := os.WriteFile(filepath.Join(dir, in), data, 0o644); err != nil {
				t.Fatal(err)
			}
			out, perr := run(dir, "uf2", "convert", in, "out.uf2")
			im, err := image.Open(f)
			var mine bytes.Buffer
			var fam uint32
			if err == nil {
				if fam, _, err = im.FamilyFor(); err == nil {
					zero := byte(0)
					_, err = im.WriteUF2(&mine, image.WriteOptions{Family: fam, Fill: &zero})
				}
			}
			if why := knownDifferences[name]; why != "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				t.Log(why)
				return
			}
			if (err == nil) != (perr == nil) {
				t.Fatalf("stem-hw: %v; picotool: %v\n%s", err, perr, out)
			}
			if err != nil {
				refused++
				return
			}
			want, err := os.ReadFile(filepath.Join(dir, "out.uf2"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mine.Bytes(), want) {
				t.Fatalf("the UF2 files differ: %d and %d bytes", mine.Len(), len(want))
			}
			equal++
			checkFill(t, im, fam, want)
		})
	}
	t.Logf("%d files equal, %d refused by both", equal, refused)
	if equal < 20 {
		t.Errorf("only %d files compared", equal)
	}
}

// checkFill compares the default output with picotool's outside segments.
func checkFill(t *testing.T, im *image.Image, fam uint32, want []byte) {
	var mine bytes.Buffer
	if _, err := im.WriteUF2(&mine, image.WriteOptions{Family: fam}); err != nil {
		t.Fatal(err)
	}
	a, b := uf2.NewReader(&mine), uf2.NewReader(bytes.NewReader(want))
	for {
		x, err1 := a.Next()
		y, err2 := b.Next()
		if errors.Is(err1, io.EOF) && errors.Is(err2, io.EOF) {
			return
		}
		if err1 != nil || err2 != nil || x.Block.Addr != y.Block.Addr {
			t.Fatal("the blocks differ")
		}
		for i := range x.Block.Payload() {
			p, q := x.Block.Data[i], y.Block.Data[i]
			var c [1]byte
			covered := im.ReadAt(c[:], x.Block.Addr+uint32(i)) == 1
			if covered && p != q || !covered && p != 0xff {
				t.Fatalf("0x%08x: %02x and %02x, covered by a segment: %v", x.Block.Addr+uint32(i), p, q, covered)
			}
		}
	}
}

// TestPeerBack: picotool's UF2 files read back as the image they came from.
func TestPeerBack(t *testing.T) {
	run := picotool(t, true)
	for _, f := range peerFiles(t) {
		im, err := image.Open(f)
		if err != nil {
			continue
		}
		dir := t.TempDir()
		data, _ := os.ReadFile(f)
		in := "in" + filepath.Ext(f)
		if err := os.WriteFile(filepath.Join(dir, in), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := run(dir, "uf2", "convert", "--abs-block", in, "out.uf2"); err != nil {
			continue
		}
		back, err := image.Open(filepath.Join(dir, "out.uf2"))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		for _, s := range im.Segments {
			p := make([]byte, len(s.Data))
			if back.ReadAt(p, s.Addr) != len(p) || !bytes.Equal(p, s.Data) {
				t.Errorf("%s: contents at 0x%08x differ", f, s.Addr)
			}
		}
	}
}

// TestPeerInfo: info carries picotool's facts.
func TestPeerInfo(t *testing.T) {
	run := picotool(t, true)
	facts := 0
	for _, f := range peerFiles(t) {
		name := filepath.Base(f)
		im, err := image.Open(f)
		if err != nil || knownDifferences[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data, _ := os.ReadFile(f)
			in := "in" + filepath.Ext(f)
			if err := os.WriteFile(filepath.Join(dir, in), data, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := run(dir, "info", "-a", in)
			if err != nil {
				t.Skipf("picotool does not read it: %s", out)
			}
			mine := picotoolFacts(NewInfo(im, false))
			for _, fact := range parseFacts(out) {
				facts++
				if !mine[fact] {
					t.Errorf("picotool says %q, info does not\n%s", fact, out)
				}
			}
		})
	}
	t.Logf("%d facts", facts)
	if facts < 200 {
		t.Errorf("only %d facts compared", facts)
	}
}

// parseFacts turns picotool's page into "section/key=value" lines; values that
// go on in the next line are joined.
func parseFacts(out string) []string {
	var facts []string
	section, key := "", ""
	for _, l := range strings.Split(out, "\n") {
		switch {
		case strings.HasPrefix(l, "File "), l == "", strings.TrimSpace(l) == "none":
		case !strings.HasPrefix(l, " "):
			section = strings.TrimSpace(l)
			// A block that links to itself is listed twice.
		default:
			k, v, ok := strings.Cut(strings.TrimSpace(l), ":")
			if ok && len(l)-len(strings.TrimLeft(l, " ")) == 1 {
				key = k
				facts = append(facts, section+"/"+key+"="+strings.TrimSpace(v))
			} else if len(facts) > 0 {
				if strings.HasPrefix(key, "partition ") || key == "un-partitioned space" {
					// Wrapped at the width of a terminal.
					facts[len(facts)-1] += " " + strings.TrimSpace(l)
					continue
				}
				facts = append(facts, section+"/"+key+"="+strings.TrimSpace(l))
			}
		}
	}
	var kept []string
	seen := map[string]bool{}
	for _, f := range facts {
		if !seen[f] && !strings.Contains(f, "/embedded drive=") {
			kept = append(kept, f)
		}
		seen[f] = true
	}
	return kept
}

// picotoolFacts writes our facts in picotool's words.
func picotoolFacts(r *Info) map[string]bool {
	m := map[string]bool{}
	say := func(section, key string, value any) {
		if s := fmt.Sprint(value); s != "" {
			m[section+"/"+key+"="+s] = true
		}
	}
	const prog, pins, build = "Program Information", "Fixed Pin Information", "Build Information"
	say(prog, "target chip", r.Chip)
	say(prog, "image type", r.Type)
	if p := r.Program; p != nil {
		say(prog, "binary start", r.Start)
		say(prog, "name", p.Name)
		say(prog, "version", p.Version)
		say(prog, "web site", p.URL)
		say(prog, "description", p.Description)
		for _, f := range p.Features {
			say(prog, "features", f)
		}
		for _, g := range p.Groups {
			for _, v := range g.Values {
				say(prog, g.Label, valueText(v))
			}
		}
		if r.ProgramEnd != nil {
			say(prog, "binary end", *r.ProgramEnd)
		}
		for i := 0; i < len(p.Pins); {
			j := i
			for j+1 < len(p.Pins) && p.Pins[j+1].GPIO == p.Pins[j].GPIO+1 && strings.Join(p.Pins[j+1].Names, "|") == strings.Join(p.Pins[i].Names, "|") {
				j++
			}
			key := fmt.Sprint(p.Pins[i].GPIO)
			if j > i {
				key += fmt.Sprintf("-%d", p.Pins[j].GPIO)
			}
			say(pins, key, strings.Join(p.Pins[i].Names, ", "))
			i = j + 1
		}
		say(build, "sdk version", p.SDKVersion)
		say(build, "pico_board", p.Board)
		say(build, "boot2_name", p.Boot2)
		say(build, "build date", p.BuildDate)
		for _, a := range p.BuildAttributes {
			say(build, "build attributes", a)
		}
	}
	for i := range r.Blocks {
		for _, n := range []int{i + 1, i + 2} { // a lone block is listed twice
			s := fmt.Sprintf("Metadata Block %d", n)
			b := r.Blocks[i]
			say(s, "address", b.Addr)
			say(s, "next block address", b.Next)
			say(s, "block type", b.Type)
			say(s, "target chip", b.Chip)
			say(s, "image type", b.Image)
			say(s, "version", b.Version)
			if b.Entry != nil {
				say(s, "entry point", fmt.Sprintf("EP %s, SP %s", *b.Entry, *b.Stack))
			}
			if b.VTOR != nil {
				say(s, "vector table", *b.VTOR)
			}
			if b.Version != "" {
				say(prog, "version", b.Version)
			}
			for k, l := range b.LoadMap {
				to, text := l.To, ""
				switch l.Do {
				case "hash":
					text = fmt.Sprintf("Load %s->%s", to, to+Addr(l.Size))
				case "clear":
					text = fmt.Sprintf("Clear %s->%s", to, to+Addr(l.Size))
				default:
					from := *l.From
					text = fmt.Sprintf("Copy %s->%s to %s->%s", from, from+Addr(l.Size), to, to+Addr(l.Size))
				}
				say(s, fmt.Sprintf("load map entry %d", k), text)
			}
			if b.Table != nil {
				for _, sec := range []string{s, prog} {
					tableFacts(b.Table, func(key, value string) { say(sec, key, value) })
				}
			}
		}
	}
	return m
}

// tableFacts writes a partition table in picotool's words.
func tableFacts(p *Partitions, say func(key, value string)) {
	say("partition table", map[bool]string{true: "singleton", false: "non-singleton"}[p.Singleton])
	perms := func(q Permissions) string {
		return fmt.Sprintf("S(%s) NSBOOT(%s) NS(%s)", dash(q.Secure), dash(q.Bootloader), dash(q.NonSecure))
	}
	fams := func(list []string) string {
		// picotool's own order; other families follow as they are.
		order := []string{"absolute", "rp2040", "rp2350-arm-s", "rp2350-arm-ns", "rp2350-riscv", "data"}
		rank := func(f string) int {
			if i := slices.Index(order, f); i >= 0 {
				return i
			}
			return len(order)
		}
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
		var out []string
		for _, f := range list {
			if !strings.HasPrefix(f, "0x") {
				f = "'" + f + "'"
			}
			out = append(out, f)
		}
		return "uf2 { " + strings.Join(out, ", ") + " }"
	}
	say("un-partitioned space", perms(p.Unpartitioned.Permissions)+", "+fams(p.Unpartitioned.Families))
	for _, q := range p.Partitions {
		role := "(A)"
		if rest, ok := strings.CutPrefix(q.Role, "B of "); ok {
			role = "(B w/ " + rest + ")"
		} else if rest, ok := strings.CutPrefix(q.Role, "owned by "); ok {
			role = "(A ob/ " + rest + ")"
		}
		s := fmt.Sprintf("%08x->%08x %s", uint32(q.Start), uint32(q.End), perms(q.Permissions))
		if q.ID != "" {
			s += ", id=" + strings.TrimPrefix(q.ID, "0x")
		}
		if q.Name != "" {
			s += fmt.Sprintf(", %q", q.Name)
		}
		s += fmt.Sprintf(", %s, arm_boot %d, riscv_boot %d", fams(q.Families), bit(q.ArmBoot), bit(q.RISCVBoot))
		say(fmt.Sprintf("partition %d %s", q.Number, role), s)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
