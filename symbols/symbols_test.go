package symbols

import (
	"encoding/binary"
	"os"
	"testing"
)

// crash.elf is built from cmd/stem-hw/testdata/prog.
func load(t testing.TB) *Table {
	t.Helper()
	raw, err := os.ReadFile("testdata/crash.elf")
	if err != nil {
		t.Fatal(err)
	}
	tab, err := Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestNames(t *testing.T) {
	tab := load(t)
	inner, ok := tab.Lookup("inner")
	if !ok || !inner.Func || inner.Size == 0 {
		t.Fatalf("inner is %+v, %v", inner, ok)
	}
	for _, c := range []struct {
		addr uint32
		want string
	}{
		{inner.Addr, "inner"},
		{inner.Addr + 6, "inner+0x6"},
		{0, "trap"},
		{0x40, "_start"},
		{0x42, "_start+0x2"},
		{0x7fffffff, ""},
		{0xffffffff, ""},
	} {
		if got := tab.Format(c.addr); got != c.want {
			t.Errorf("Format(%#x) = %q, want %q", c.addr, got, c.want)
		}
	}
	if _, ok := tab.Lookup("nothing"); ok {
		t.Error("a symbol that is not there was found")
	}
	// A table that is not there knows nothing and does not crash.
	var none *Table
	if _, ok := none.Function(0); ok {
		t.Error("a nil table finds a function")
	}
	if got := none.Format(0); got != "" {
		t.Errorf("a nil table says %q", got)
	}
	if fr := none.Frames(4); len(fr) != 1 || fr[0].PC != 4 {
		t.Errorf("a nil table gives frames %+v", fr)
	}
}

func TestFrames(t *testing.T) {
	tab := load(t)
	inner, _ := tab.Lookup("inner")
	fr := tab.Frames(inner.Addr + 6)
	if len(fr) != 2 {
		t.Fatalf("frames %+v, want the inlined call and its function", fr)
	}
	if fr[0].Function != "load" || !fr[0].Inlined || fr[0].Place() != "crash.c:4" {
		t.Errorf("the inlined call is %+v", fr[0])
	}
	if fr[1].Function != "inner" || fr[1].Inlined || fr[1].Place() != "crash.c:7" || fr[1].Offset != 6 {
		t.Errorf("the function is %+v", fr[1])
	}
	if file, line, ok := tab.Line(inner.Addr); !ok || file != "/src/crash.c" || line != 6 {
		t.Errorf("Line = %q, %d, %v", file, line, ok)
	}
}

// stack is memory and registers of a core.
type stack struct {
	regs map[int]uint32
	mem  map[uint32]uint32
}

func (s stack) reg(n int) (uint32, bool) { v, ok := s.regs[n]; return v, ok }

func (s stack) read(addr uint32, p []byte) bool {
	for i := range p {
		w, ok := s.mem[(addr+uint32(i))&^3]
		if !ok {
			return false
		}
		p[i] = byte(w >> (8 * ((addr + uint32(i)) & 3)))
	}
	return true
}

// code puts the file's code into the memory.
func (s stack) code(t *testing.T, tab *Table, lo, hi uint32) {
	t.Helper()
	// In this file, address 0 is at offset 0x1000.
	for a := lo &^ 3; a < hi; a += 4 {
		s.mem[a] = binary.LittleEndian.Uint32(tab.raw[0x1000+a:])
	}
}

func TestUnwind(t *testing.T) {
	tab := load(t)
	inner, _ := tab.Lookup("inner")
	outer, _ := tab.Lookup("outer")
	main, _ := tab.Lookup("main")
	start, _ := tab.Lookup("_start")
	inOuter, inMain, inStart := outer.Addr+0xc, main.Addr+0x28, start.Addr+0xa
	s := stack{
		regs: map[int]uint32{riscvRA: inOuter, riscvSP: 0xffd0, 8: 0xffe0},
		mem: map[uint32]uint32{
			0xffdc: 0xfff0,                  // inner's s0
			0xffec: inMain, 0xffe8: 0x10000, // outer's ra, s0
			0xfffc: inStart, 0xfff8: 0, // main's
		},
	}
	want := []uint32{inner.Addr + 6, inOuter, inMain, inStart}
	check := func(name string) {
		t.Helper()
		got := tab.Unwind(inner.Addr+6, s.reg, s.read)
		if len(got) != len(want) {
			t.Fatalf("%s: chain %#x, want %#x", name, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: chain %#x, want %#x", name, got, want)
			}
		}
	}
	check("by call frame information")

	// Without it, by prologues; the code has to be readable then.
	tab.frames = nil
	s.code(t, tab, 0, 0x100)
	check("by prologues")

	// A broken stack ends the chain and nothing else.
	delete(s.mem, 0xffec)
	if got := tab.Unwind(inner.Addr+6, s.reg, s.read); len(got) != 2 {
		t.Errorf("chain over a hole: %#x", got)
	}
	// Without symbols only the return address is known.
	var none *Table
	if got := none.Unwind(0x1234, s.reg, s.read); len(got) != 2 || got[1] != inOuter {
		t.Errorf("chain without symbols: %#x", got)
	}
}

// TestPrologue16 takes encodings from GNU objdump.
func TestPrologue16(t *testing.T) {
	for _, c := range []struct {
		code uint16
		name string
		down uint32
		ra   int
		stop bool
	}{
		{0x1141, "c.addi sp,-16", 16, -1, false},
		{0x1101, "c.addi sp,-32", 32, -1, false},
		{0x7139, "c.addi16sp -64", 64, -1, false},
		{0x715d, "c.addi16sp -80", 80, -1, false},
		{0x0141, "c.addi sp,16", 0, -1, true},
		{0x6121, "c.addi16sp 64", 0, -1, true},
		{0xc606, "c.swsp ra,12", 0, 12, false},
		{0xde06, "c.swsp ra,60", 0, 60, false},
		{0xc422, "c.swsp s0,8", 0, -1, false},
		{0xb842, "cm.push {ra},-16", 16, 12, false},
		{0xb852, "cm.push {ra,s0},-16", 16, 8, false},
		{0xb856, "cm.push {ra,s0},-32", 32, 24, false},
		{0xb886, "cm.push {ra,s0-s3},-48", 48, 28, false},
		{0xb8b2, "cm.push {ra,s0-s6},-32", 32, 0, false},
		{0x8082, "ret", 0, -1, true},
		{0xb7ed, "c.j", 0, -1, true},
		{0xff65, "c.bnez", 0, -1, true},
	} {
		down, ra, stop := prologue16(c.code)
		if down != c.down || ra != c.ra || stop != c.stop {
			t.Errorf("%s: %d, %d, %v, want %d, %d, %v", c.name, down, ra, stop, c.down, c.ra, c.stop)
		}
	}
}

func TestCFA(t *testing.T) {
	c := &cie{codeAlign: 2, dataAlign: -4, ra: 1, initial: []byte{cfaDefCfa, 2, 0}}
	e := &fde{cie: c, lo: 0x100, hi: 0x200, program: []byte{
		cfaAdvance | 1, cfaDefCfaOffset, 32, // 0x102
		cfaAdvance | 1, cfaOffset | 1, 1, cfaOffset | 8, 2, // 0x104
		cfaRemember,
		cfaAdvance1, 4, cfaRestore | 1, cfaDefCfaOffset, 0, // 0x10c
		cfaAdvance2, 2, 0, cfaRestoreState, // 0x110
	}}
	for _, x := range []struct {
		addr   uint32
		offset int64
		ra     rule
	}{
		{0x100, 0, rule{}}, {0x102, 32, rule{}}, {0x104, 32, rule{ruleOffset, -4}}, {0x10a, 32, rule{ruleOffset, -4}},
		{0x10c, 0, rule{}}, {0x110, 32, rule{ruleOffset, -4}}, {0x1fe, 32, rule{ruleOffset, -4}},
	} {
		r, ok := e.rowAt(x.addr)
		if !ok || r.cfaReg != 2 || r.cfaOffset != x.offset || r.regs[1] != x.ra {
			t.Errorf("at %#x: %+v, %v", x.addr, r, ok)
		}
	}
}

// FuzzLoad reads damaged files and asks them everything.
func FuzzLoad(f *testing.F) {
	raw, err := os.ReadFile("testdata/crash.elf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, uint32(0x7a))
	f.Add(raw[:2000], uint32(0))
	f.Fuzz(func(t *testing.T, raw []byte, addr uint32) {
		tab, err := Load(raw)
		if err != nil {
			return
		}
		tab.Format(addr)
		if len(tab.Frames(addr)) == 0 {
			t.Fatal("no frame")
		}
		tab.Line(addr)
		chain := tab.Unwind(addr, func(int) (uint32, bool) { return addr, true }, func(a uint32, p []byte) bool {
			binary.LittleEndian.PutUint16(p, uint16(a))
			return true
		})
		if len(chain) == 0 || len(chain) > MaxDepth {
			t.Fatalf("a chain of %d", len(chain))
		}
	})
}

// FuzzFrames reads arbitrary call frame information.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x10\x00\x00\x00\xff\xff\xff\xff\x04\x00\x04\x00\x01\x7c\x01\x0c\x02\x00\x00\x00"+
		"\x10\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x10\x00\x00\x00\x42\x0e\x20\x00"), uint32(0x104), false)
	f.Add([]byte("\x10\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x7c\x01\x01\x1b\x0d\x02\x00"), uint32(0), true)
	f.Fuzz(func(t *testing.T, data []byte, addr uint32, eh bool) {
		for _, e := range parseFrames(data, 0x1000, eh) {
			if e.hi <= e.lo {
				t.Fatalf("range %#x to %#x", e.lo, e.hi)
			}
			e.rowAt(e.lo)
			if addr >= e.lo && addr < e.hi {
				e.rowAt(addr)
			}
		}
	})
}
