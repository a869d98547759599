package testbench_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/testbench"
	"github.com/stem-hw/stem-hw/target"
)

var (
	_ machine.Machine = (*testbench.Hazard3)(nil)
	_ machine.Machine = (*testbench.RISCVTests)(nil)
)

func TestTwoHarts(t *testing.T) {
	var first string
	for range 3 {
		m := testbench.NewHazard3(2)
		e, out := run(t, m, "testdata/harts.elf", 1_000_000)
		if e.Kind != machine.EventExit || e.Code != 0 || out != "000007d0\n000007d0\n" {
			t.Fatalf("%+v after %q", e, out)
		}
		s := fmt.Sprint(m.Now(), m.Cores()[0].Instret(), m.Cores()[1].Instret())
		if first == "" {
			first = s
		}
		if s != first {
			t.Errorf("run took %s, the first one %s", s, first)
		}
	}
}

// TestTurnsDoNotMatter: the result is the same however the time is cut.
func TestTurnsDoNotMatter(t *testing.T) {
	var want string
	for _, slice := range []uint64{1_000_000, 1, 7, 1000} {
		m := testbench.NewHazard3(2)
		var out strings.Builder
		load(t, m, "testdata/harts.elf")
		m.SetHooks(machine.Hooks{Output: func(_ string, b byte) { out.WriteByte(b) }})
		e := machine.Event{}
		for e.Kind == machine.EventLimit && m.Now() < 1_000_000 {
			e = m.Run(m.Now() + slice)
		}
		got := fmt.Sprint(e.Kind, out.String(), m.Now(), m.Cores()[0].Instret())
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("in slices of %d: %s, want %s", slice, got, want)
		}
	}
}

func TestTohost(t *testing.T) {
	m := testbench.NewRISCVTests()
	e, out := run(t, m, "testdata/tohost.elf", 100_000)
	if e.Kind != machine.EventExit || e.Code != 42 || e.How != "tohost" || out != "hello\n" {
		t.Errorf("%+v after %q", e, out)
	}
}

// program makes an image of words at address 0x40.
func program(words ...uint32) *image.Image {
	b := make([]byte, 0x40+4*len(words))
	for i, w := range words {
		for k := range 4 {
			b[0x40+4*i+k] = byte(w >> (8 * k))
		}
	}
	return &image.Image{Format: image.FormatBIN, Segments: []image.Segment{{Data: b, Name: "segment 1"}}}
}

func start(t *testing.T, words ...uint32) *testbench.Hazard3 {
	t.Helper()
	m := testbench.NewHazard3(1)
	if err := m.Load(program(words...)); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEnds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		words []uint32
		kind  machine.EventKind
		cause string
	}{
		{"limit", []uint32{0x00000013, 0xffdff06f}, machine.EventLimit, ""},
		{"exception loop", []uint32{0}, machine.EventCrash, "illegal instruction at 0x00000000, again and again"},
		{"load fault", []uint32{0x305f9073, 0x40000537, 0x00052503}, machine.EventCrash, "instruction"},
		{"asleep for ever", []uint32{0x10500073}, machine.EventAsleep, ""},
		{"jump to itself", []uint32{0x0000006f}, machine.EventAsleep, "hart 0 jumps to itself at 0x00000040 with interrupts off"},
	} {
		m := start(t, tc.words...)
		e := m.Run(5000)
		if e.Kind != tc.kind || !strings.Contains(e.Cause, tc.cause) {
			t.Errorf("%s: %+v", tc.name, e)
		}
	}
}

func TestTimerWakesAtItsCycle(t *testing.T) {
	m := start(t,
		0x80000537, // lui a0, 0x80000
		0x000025b7, // lui a1, 2: 8192
		0x10b52423, // sw a1, 0x108(a0)
		0x30446073, // csrsi mie, 8 (bit 3): not the timer
		0x08000613, // li a2, 0x80
		0x30461073, // csrw mie, a2
		0x10500073, // wfi
		0x10052683, // lw a3, 0x100(a0)
		0x00052423, // sw zero, 8(a0)
	)
	e := m.Run(1_000_000)
	if e.Kind != machine.EventExit {
		t.Fatalf("%+v", e)
	}
	v, _ := m.Cores()[0].ReadReg(13)
	if v < 8192 || v > 8196 {
		t.Errorf("woken at %d, want 8192", v)
	}
	// A limit in between is kept.
	m.Reset()
	if e := m.Run(5000); e.Kind != machine.EventLimit || m.Now() != 5000 || !m.Cores()[0].Asleep() {
		t.Errorf("%+v at %d", e, m.Now())
	}
}

func TestDebuggerOnBoard(t *testing.T) {
	m := start(t, 0x00000013, 0x00000013, 0xff9ff06f)
	c := m.Cores()[0]
	c.SetPoints([]target.Point{{Kind: target.PointHardware, Addr: 0x44, Len: 4}})
	if e := m.Run(1000); e.Kind != machine.EventStop || c.PC() != 0x44 {
		t.Fatalf("%+v at 0x%x", e, c.PC())
	}
	// Halted cores stay; time passes.
	if e := m.Run(2000); e.Kind != machine.EventLimit || m.Now() != 2000 || c.PC() != 0x44 {
		t.Errorf("%+v at 0x%x, %d", e, c.PC(), m.Now())
	}
	p := make([]byte, 4)
	if n := m.Peek(0, 0x44, p); n != 4 || p[0] != 0x13 {
		t.Errorf("peek %d %x", n, p)
	}
	if n := m.Poke(0, 0x44, []byte{0x73, 0x00, 0x50, 0x10}, false); n != 4 {
		t.Errorf("poke %d", n)
	}
	if m.Peek(0, 0x80000000, p) != 0 || m.Poke(0, 0x80000000, p, true) != 0 {
		t.Error("registers must be refused")
	}
	c.SetPoints(nil)
	c.Resume()
	if e := m.Run(4000); e.Kind != machine.EventAsleep {
		t.Errorf("%+v", e)
	}
	d := m.Describe()
	if d.Name != testbench.Hazard3Name || len(d.Cores) != 1 || len(d.Registers) < 100 || d.Breakpoints != -1 {
		t.Errorf("%+v", d)
	}
}

func TestBadImages(t *testing.T) {
	m := testbench.NewHazard3(1)
	for _, img := range []*image.Image{
		{Arch: image.ArchARM, Path: "x.elf"},
		{Segments: []image.Segment{{Addr: 0x10000000, Data: []byte{1}, Name: "segment 1"}}},
		{Segments: []image.Segment{{Addr: 16<<20 - 1, Data: []byte{1, 2}, Name: "segment 1"}}},
	} {
		err := m.Load(img)
		if faults.StatusOf(err) != faults.StatusImage || len(faults.Of(err).Try) == 0 {
			t.Errorf("%+v: %v", img.Segments, err)
		}
	}
	if err := testbench.NewRISCVTests().Load(program(0)); faults.StatusOf(err) != faults.StatusImage {
		t.Errorf("without tohost: %v", err)
	}
}
