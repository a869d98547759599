package boot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image/picobin"
)

func flashOf(t *testing.T, name string) Flash {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return Flash{Data: b, Size: 4 << 20}
}

// TestCases: what the ROM does with each shared block-loop case.
func TestCases(t *testing.T) {
	tests := []struct {
		file    string
		cpu     CPU
		outcome Outcome
		reason  string // part of Reason
	}{
		{"b3000_image.bin", Arm, OutcomeBoot, ""},
		{"b3000_image.bin", RISCV, OutcomeSwitch, "restarts with that CPU"},
		{"b_all_ff.bin", Arm, OutcomeBootsel, "no block starts in 0x10000000-0x10001000"},
		{"p01_two_block_loop.bin", Arm, OutcomeBoot, ""},
		{"p04_second_self_link.bin", Arm, OutcomeBootsel, "a later block links to itself"},
		{"p05_block_past_4k.bin", Arm, OutcomeBootsel, "no block starts in 0x10000000-0x10001000; slot 1 holds an image"},
		{"p06_block_straddles_4k.bin", Arm, OutcomeBoot, ""},
		// The link goes below the image definition, but the block there is the
		// first one of the search, so that the loop is sound.
		{"p09_link_below_first.bin", Arm, OutcomeBoot, ""},
		// The last Arm image definition is a non-secure one.
		{"p10_three_imagedefs.bin", Arm, OutcomeBootsel, "non-secure Arm image"},
		{"p10_three_imagedefs.bin", RISCV, OutcomeBoot, ""},
		{"p11_zero_size_item.bin", Arm, OutcomeBootsel, "item of size 0"},
	}
	for _, tt := range tests {
		d := FindImage(flashOf(t, tt.file), Options{Chip: A2, CPU: tt.cpu})
		if d.Outcome != tt.outcome || !strings.Contains(d.Reason, tt.reason) {
			t.Errorf("%s on %v: %s (%s)\n%s", tt.file, tt.cpu, d.Outcome, d.Reason, strings.Join(d.Steps, "\n"))
		}
	}
}

// TestThreeImageDefs: with one for each CPU each CPU takes its own.
func TestThreeImageDefs(t *testing.T) {
	m := flashOf(t, "p10_three_imagedefs.bin")
	for _, cpu := range []CPU{Arm, RISCV} {
		d := FindImage(m, Options{Chip: A2, CPU: cpu})
		if d.Image.CPU() != cpu {
			t.Errorf("%v boots the image for %v", cpu, d.Image.CPU())
		}
		if n := len(d.Slots[0].Blocks); n != 3 {
			t.Errorf("%d blocks", n)
		}
	}
}

// builder lays blocks out in flash.
type builder struct{ data []byte }

func newBuilder(size int) *builder {
	b := &builder{make([]byte, size)}
	for i := range b.data {
		b.data[i] = 0xff
	}
	return b
}

func (f *builder) put(off int, words []uint32) { copy(f.data[off:], picobin.Bytes(words)) }

// block writes one block with the given items and link.
func (f *builder) block(off int, link int32, items ...[]uint32) int {
	var b picobin.Builder
	for _, it := range items {
		b.Raw(it...)
	}
	w, err := b.Words(link)
	if err != nil {
		panic(err)
	}
	f.put(off, w)
	return 4 * len(w)
}

func imageType(t uint16) []uint32 { return []uint32{uint32(t)<<16 | 0x142} }
func version(maj, min uint32) []uint32 {
	return []uint32{0x248, maj<<16 | min}
}
func entryItem(pc, sp uint32) []uint32 { return []uint32{0x344, pc, sp} }

const (
	armS  = 0x1021
	riscv = 0x1101
)

func (f *builder) flash() Flash { return Flash{Data: f.data, Size: uint32(len(f.data))} }

func TestLinkBelowFirst(t *testing.T) {
	f := newBuilder(1 << 20)
	f.block(0x200, 0x600, imageType(armS))
	f.block(0x800, -0x700, imageType(armS))
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Outcome != OutcomeBootsel || !strings.Contains(d.Reason, "below the first block") {
		t.Errorf("%s %s", d.Outcome, d.Reason)
	}
}

func TestLaterBlockWins(t *testing.T) {
	f := newBuilder(1 << 20)
	f.block(0x100, 0x8000, imageType(armS), entryItem(0x10000201, 0x20001000))
	f.block(0x8100, -0x8000, imageType(armS), entryItem(0x10000301, 0x20002000))
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Outcome != OutcomeBoot || d.Entry.PC != 0x10000301 || d.Entry.SP != 0x20002000 {
		t.Fatalf("%+v %s", d.Entry, d.Reason)
	}
}

func TestErratumE13(t *testing.T) {
	f := newBuilder(1 << 20)
	f.block(0x100, 0x100, imageType(0x0011)) // RP2040
	f.block(0x200, -0x100, imageType(armS), entryItem(0x10000301, 0x20002000))
	if d := FindImage(f.flash(), Options{Chip: A2}); d.Outcome != OutcomeBootsel || !strings.Contains(d.Reason, "RP2040") {
		t.Errorf("A2: %s %s", d.Outcome, d.Reason)
	}
	if d := FindImage(f.flash(), Options{Chip: A4}); d.Outcome != OutcomeBoot {
		t.Errorf("A4: %s %s", d.Outcome, d.Reason)
	}
}

func TestDefaultEntries(t *testing.T) {
	f := newBuilder(1 << 20)
	f.put(0, []uint32{0x20082000, 0x10000201})
	f.block(0x100, 0, imageType(armS))
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Entry != (Entry{PC: 0x10000201, SP: 0x20082000, VTOR: 0x10000000}) {
		t.Errorf("Arm: %+v", d.Entry)
	}
	g := newBuilder(1 << 20)
	g.block(0x100, 0, imageType(riscv))
	d = FindImage(g.flash(), Options{Chip: A2, CPU: RISCV})
	if d.Entry.PC != 0x10000000 || d.Entry.SP != InvalidSP {
		t.Errorf("RISC-V: %+v", d.Entry)
	}
}

// TestHang: a circle that never returns to the first block stops, and says
// what the chip would do.
func TestHang(t *testing.T) {
	f := newBuilder(1 << 20)
	f.block(0x100, 0x1000, imageType(armS))
	f.block(0x1100, 0x1000, imageType(armS))
	f.block(0x2100, 0x1000, imageType(armS))
	f.block(0x3100, -0x1000, imageType(armS))
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Outcome != OutcomeHang || !strings.Contains(d.Reason, "never") {
		t.Fatalf("%s %s", d.Outcome, d.Reason)
	}
}

func table(singleton bool, parts ...[]uint32) []uint32 {
	w := []uint32{0, 0xfc000000 | FlagAbsolute}
	for _, p := range parts {
		w = append(w, p...)
	}
	w[0] = uint32(len(parts))<<24 | uint32(len(w))<<8 | 0x0a
	if singleton {
		w[0] |= 0x80000000
	}
	return w
}

func part(first, last, flags uint32) []uint32 {
	return []uint32{0xfc000000 | last<<13 | first, 0xfc000000 | flags}
}

func bFlags(a uint32) uint32 { return 1<<1 | a<<3 }

// abFlash has a table with an A/B pair at 64 and 128 KiB and a data
// partition owned by A.
func abFlash() *builder {
	f := newBuilder(1 << 20)
	f.block(0, 0, table(false,
		part(16, 31, FlagArmS|FlagRISCV),
		part(32, 47, FlagArmS|FlagRISCV|bFlags(0)),
		part(48, 49, FlagData|2<<1|0<<3|FlagNoReboot|FlagABAffinity)))
	return f
}

func TestPartitionsAB(t *testing.T) {
	f := abFlash()
	f.block(0x10000, 0, imageType(armS), version(1, 0), entryItem(0x10000101, 0x20002000))
	f.block(0x20000, 0, imageType(armS), version(1, 1), entryItem(0x10000201, 0x20002000))
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Outcome != OutcomeBoot || d.Place != 1 || d.Entry.PC != 0x10000201 {
		t.Fatalf("%s place %d %+v: %s", d.Outcome, d.Place, d.Entry, strings.Join(d.Steps, "\n"))
	}
	if !d.Rolled || d.ATRANS != [4]uint32{0x10<<16 | 0x20, 0x30, 0x30, 0x30} {
		t.Errorf("ATRANS %x", d.ATRANS)
	}
	// Writing goes to the one that does not boot now.
	tg := TargetFor(f.flash(), Options{Chip: A2}, d.Table, 0xe48bff59)
	if !tg.Accepted || tg.Partition != 0 || tg.Offset != 0x10000 || tg.Limit != 0x10020000 {
		t.Errorf("target %+v", tg)
	}
	// A flash-update boot prefers the one just written and erases the other.
	d = FindImage(f.flash(), Options{Chip: A2, HasUpdate: true, UpdateBase: 0x10010000})
	if d.Place != 0 || d.EraseOther != 0x10020000 {
		t.Errorf("update: place %d, erase %x", d.Place, d.EraseOther)
	}
}

func TestDataFollowsOwner(t *testing.T) {
	f := abFlash()
	m := f.flash()
	tab := ResidentTable(m, Options{Chip: A2})
	tg := TargetFor(m, Options{Chip: A2}, tab, 0xe48bff58)
	if !tg.Accepted || tg.Partition != 2 || !tg.NoReboot {
		t.Errorf("%+v", tg)
	}
	if tg := TargetFor(m, Options{Chip: A2}, tab, 0xe48bff56); tg.Accepted {
		t.Errorf("rp2040 accepted: %+v", tg)
	}
}

func TestTBYB(t *testing.T) {
	f := abFlash()
	f.block(0x10000, 0, imageType(armS), version(1, 0), entryItem(0x10000101, 0x20002000))
	f.block(0x20000, 0, imageType(armS|0x8000), version(2, 0), entryItem(0x10000201, 0x20002000))
	if d := FindImage(f.flash(), Options{Chip: A2}); d.Place != 0 || d.TBYB {
		t.Errorf("normal boot: place %d", d.Place)
	}
	d := FindImage(f.flash(), Options{Chip: A2, HasUpdate: true, UpdateBase: 0x10020000})
	if d.Place != 1 || !d.TBYB || d.TBYBAddr != 0x10020004 {
		t.Errorf("update: place %d, trial %v at %x", d.Place, d.TBYB, d.TBYBAddr)
	}
}

func TestSlots(t *testing.T) {
	// Two tables: the newer one in slot 1 wins, with the image of its loop.
	f := newBuilder(1 << 20)
	f.block(0, 0, table(false, part(16, 31, FlagArmS)), version(1, 0))
	n := f.block(0x1000, 0x100, table(false, part(32, 47, FlagArmS)), version(2, 0))
	if n > 0x100 {
		t.Fatal(n)
	}
	f.block(0x1100, -0x100, imageType(armS), entryItem(0x10000201, 0x20002000))
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Place != PlaceSlot1 || d.Outcome != OutcomeBoot || !d.Rolled || d.ATRANS[0]&0xfff != 1 {
		t.Errorf("place %d %s atrans %x: %s", d.Place, d.Outcome, d.ATRANS, strings.Join(d.Steps, "\n"))
	}
	// A singleton table in slot 0 hides slot 1.
	g := newBuilder(1 << 20)
	g.block(0, 0, table(true, part(16, 31, FlagArmS)), version(1, 0))
	g.block(0x1000, 0, table(false, part(32, 47, FlagArmS)), version(2, 0))
	d = FindImage(g.flash(), Options{Chip: A2})
	if len(d.Slots) != 1 || !d.Table.Singleton {
		t.Errorf("%d slots searched", len(d.Slots))
	}
}

func TestLoadMapAndHash(t *testing.T) {
	f := newBuilder(1 << 20)
	// Storage 0x1000-0x1010 goes to RAM, and 64 bytes are cleared.
	f.put(0x1000, []uint32{0x20002000, 0x20000009, 3, 4})
	lm := []uint32{0x80000706 | 2<<24, 0x10001000, 0x20000000, 0x20000010, 0, 0x20000010, 0x20000050}
	f.block(0x100, 0, imageType(armS), []uint32{0x203, 0x20000000}, lm)
	d := FindImage(f.flash(), Options{Chip: A2})
	if d.Outcome != OutcomeBoot {
		t.Fatal(d.Reason)
	}
	want := []LoadOp{{From: 0x10001000, To: 0x20000000, Size: 16}, {To: 0x20000010, Size: 64, Clear: true}}
	if len(d.Loads) != 2 || d.Loads[0] != want[0] || d.Loads[1] != want[1] {
		t.Errorf("%+v", d.Loads)
	}
	if d.Entry.PC != 0x20000009 || d.Entry.SP != 0x20002000 {
		t.Errorf("vector table in RAM: %+v", d.Entry)
	}
}

func TestFuses(t *testing.T) {
	f := newBuilder(1 << 20)
	f.block(0x100, 0, imageType(riscv), entryItem(0x10000200, 0x20001000))
	for name, o := range map[string]OTP{
		"no switch": {NoArchSwitch: true}, "RISC-V off": {RISCVDisabled: true}, "no flash boot": {NoFlashBoot: true},
	} {
		if d := FindImage(f.flash(), Options{Chip: A2, OTP: o}); d.Outcome != OutcomeBootsel {
			t.Errorf("%s: %s", name, d.Outcome)
		}
	}
	d, switched := Boot(f.flash(), Options{Chip: A2})
	if !switched || d.Outcome != OutcomeBoot || d.CPU != RISCV {
		t.Errorf("Boot: %v %s", switched, d.Outcome)
	}
}

func TestWindow(t *testing.T) {
	m := Flash{}
	for _, w := range []Window{{0x20000000, 0x90000}, {0, 0x1000}, {0x13ffc000, 0x8000}, {0x20001000, 0xfffffff0}} {
		if d := FindInWindow(m, w, Options{Chip: A2}); d.Outcome != OutcomeBootsel || !strings.Contains(d.Reason, "not in RAM or flash") {
			t.Errorf("%+v: %s", w, d.Reason)
		}
	}
}
