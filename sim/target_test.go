package sim

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// bench is a target on the fake machine with a program, and what it printed.
type bench struct {
	*testing.T
	ctx context.Context
	t   *Target
	m   *fake

	mu  sync.Mutex
	out strings.Builder
}

func newBench(t *testing.T, opt Options, code ...uint32) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	b := &bench{T: t, ctx: ctx, m: newFake("fake")}
	opt.Build = func() (machine.Machine, error) { return b.m, nil }
	opt.Output = func(_ string, p []byte) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.out.Write(p)
	}
	made, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	b.t = Base(made)
	t.Cleanup(func() { b.t.Close() })
	if err := b.t.Load(ctx, ramImage(fakeRAM, code...)); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) printed() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

func (b *bench) run(o RunOptions) Outcome {
	b.Helper()
	out, err := b.t.Run(b.ctx, o)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func TestRunEnds(t *testing.T) {
	exit := func(code int) []uint32 { return []uint32{lui(t1, fakePut), addi(a0, zero, code), sw(a0, t1, 8), self} }
	lines := append(prints("one\r\ntwo\nthree and\nfour\n"), wfi, jal(zero, -4))
	for _, c := range []struct {
		name    string
		code    []uint32
		opt     RunOptions
		end     End
		status  int
		printed string
		pending int
	}{
		{"exit", exit(0), RunOptions{}, EndExit, 0, "", 0},
		{"exit with a status", exit(7), RunOptions{}, EndExit, 7, "", 0},
		{"exit with a text pending", exit(0), RunOptions{Expect: []string{"x"}}, EndExit, 0, "", 1},
		{"asleep", lines, RunOptions{}, EndAsleep, 0, "one\r\ntwo\nthree and\nfour\n", 0},
		{"expected, to the end of the line", lines, RunOptions{Expect: []string{"thr"}}, EndExpected, 0, "one\r\ntwo\nthree and\n", 0},
		{"over a line end", lines, RunOptions{Expect: []string{"one\ntwo\n"}}, EndExpected, 0, "one\r\ntwo\n", 0},
		{"in order", lines, RunOptions{Expect: []string{"one", "two", "four"}}, EndExpected, 0, "one\r\ntwo\nthree and\nfour\n", 0},
		{"out of order", lines, RunOptions{Expect: []string{"two", "one"}}, EndAsleep, 0, "one\r\ntwo\nthree and\nfour\n", 1},
		{"in any order", lines, RunOptions{Expect: []string{"three", "one"}, AnyOrder: true}, EndExpected, 0, "one\r\ntwo\nthree and\n", 0},
		{"the same text twice", lines, RunOptions{Expect: []string{"o", "o", "o"}}, EndExpected, 0, "one\r\ntwo\nthree and\nfour\n", 0},
		{"failing text", lines, RunOptions{Fail: []string{"two"}}, EndFailText, 0, "one\r\ntwo\n", 0},
		{"failing text after the last expected", lines, RunOptions{Expect: []string{"one"}, Fail: []string{"two"}}, EndExpected, 0, "one\r\n", 0},
		{"failing text first", lines, RunOptions{Expect: []string{"three"}, Fail: []string{"two"}}, EndFailText, 0, "one\r\ntwo\n", 1},
		{"cycles", []uint32{self}, RunOptions{Cycles: 5000}, EndCycles, 0, "", 0},
		{"timeout", []uint32{self}, RunOptions{Timeout: time.Millisecond}, EndTimeout, 0, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Options{}, c.code...)
			out := b.run(c.opt)
			if out.End != c.end || out.Stop.Code != c.status || len(out.Pending) != c.pending {
				t.Errorf("ended with %+v, want %s, status %d, %d pending", out, c.end, c.status, c.pending)
			}
			if got := b.printed(); got != c.printed {
				t.Errorf("printed %q, want %q", got, c.printed)
			}
			if c.opt.Cycles > 0 && b.t.Stats().Cycles != c.opt.Cycles {
				t.Errorf("stopped at cycle %d, want %d", b.t.Stats().Cycles, c.opt.Cycles)
			}
		})
	}
}

func TestRunIsRepeatable(t *testing.T) {
	b := newBench(t, Options{}, append(prints("x\n"), wfi, jal(zero, -4))...)
	for range 3 {
		if out := b.run(RunOptions{Expect: []string{"x"}}); out.End != EndExpected {
			t.Fatalf("ended with %+v", out)
		}
	}
	if got := b.printed(); got != "x\nx\nx\n" {
		t.Errorf("printed %q", got)
	}
}

func TestInterrupt(t *testing.T) {
	b := newBench(t, Options{}, self)
	ctx, cancel := context.WithCancel(b.ctx)
	time.AfterFunc(5*time.Millisecond, cancel)
	out, err := b.t.Run(ctx, RunOptions{Expect: []string{"x"}})
	if err != nil || out.End != EndInterrupted {
		t.Errorf("%+v, %v", out, err)
	}
}

// echo reads characters and prints them until 'q'.
var echo = []uint32{
	lui(t1, fakePut),
	addi(a1, zero, 'q'), addi(a2, zero, -1),
	lw(a0, t1, 12),    // 0c
	bne(a0, a2, 12),   // 10 -> 1c
	wfi,               // 14
	jal(zero, -12),    // 18 -> 0c
	sw(a0, t1, 0),     // 1c
	bne(a0, a1, -20),  // 20 -> 0c
	addi(a0, zero, 0), // 24
	sw(a0, t1, 8),     // 28
	self,
}

func TestInput(t *testing.T) {
	b := newBench(t, Options{Input: true}, echo...)
	con := b.t.Console()
	go func() {
		// Each write finds every core asleep.
		for _, s := range []string{"he", "llo ", strings.Repeat("x", 1000), "q"} {
			con.Write([]byte(s))
			time.Sleep(time.Millisecond)
		}
	}()
	out := b.run(RunOptions{})
	if want := "hello " + strings.Repeat("x", 1000) + "q"; out.End != EndExit || b.printed() != want {
		t.Errorf("ended with %+v after %q", out, b.printed())
	}
	// What was printed can be read from the console too.
	p := make([]byte, 5)
	if _, err := io.ReadFull(con, p); err != nil || string(p) != "hello" {
		t.Errorf("the console gives %q, %v", p, err)
	}
}

func TestInputEnds(t *testing.T) {
	b := newBench(t, Options{Input: true}, echo...)
	time.AfterFunc(2*time.Millisecond, func() {
		b.t.Console().Write([]byte("ab"))
		b.t.CloseInput()
	})
	out := b.run(RunOptions{})
	if out.End != EndAsleep || b.printed() != "ab" {
		t.Errorf("ended with %+v after %q: the end of input lets the cores sleep for ever", out, b.printed())
	}
	if b.m.runs > 100 {
		t.Errorf("the machine was run %d times: waiting for input must not burn time", b.m.runs)
	}
}

func TestInputRefused(t *testing.T) {
	b := newBench(t, Options{Input: true}, echo...)
	b.m.refuseInput = true
	go func() {
		b.t.Console().Write([]byte("abc"))
		b.t.CloseInput()
	}()
	if out := b.run(RunOptions{}); out.End != EndAsleep {
		t.Errorf("ended with %+v", out)
	}
}

func TestSemihosting(t *testing.T) {
	// Reads by SYS_READC, prints by SYS_WRITEC, and ends with status 9 by
	// SYS_EXIT_EXTENDED.
	code := []uint32{
		addi(a0, zero, 7), addi(a1, zero, 0), // 00
		semiIn, ebreak, semiOut, // 08
		addi(a2, zero, -1),      // 14
		beq(a0, a2, 0x3c-0x18),  // 18
		auipc(a1, 0),            // 1c
		sw(a0, a1, 0x100),       // 20
		addi(a1, a1, 0x100),     // 24
		addi(a0, zero, 3),       // 28
		semiIn, ebreak, semiOut, // 2c
		jal(zero, -0x38),              // 38
		auipc(a1, 0),                  // 3c
		lui(a2, 0x20000),              // 40
		addi(a2, a2, 0x26),            // 44
		sw(a2, a1, 0x100),             // 48
		addi(a2, zero, 9),             // 4c
		sw(a2, a1, 0x104),             // 50
		addi(a1, a1, 0x100),           // 54
		addi(a0, zero, 0x20),          // 58
		semiIn, ebreak, semiOut, self, // 5c
	}
	b := newBench(t, Options{Input: true, Semihosting: &semihost.Options{}}, code...)
	b.m.refuseInput = true
	go func() {
		for _, s := range []string{"a", "bc", "d"} {
			time.Sleep(time.Millisecond)
			b.t.Console().Write([]byte(s))
		}
		b.t.CloseInput()
	}()
	out := b.run(RunOptions{})
	if out.End != EndExit || out.Stop.Code != 9 || b.printed() != "abcd" {
		t.Errorf("ended with %+v after %q", out, b.printed())
	}
}

// TestSemihostingWaits halts a program that waits for input in a call.
func TestSemihostingWaits(t *testing.T) {
	b := newBench(t, Options{Input: true, Semihosting: &semihost.Options{}},
		addi(a0, zero, 7), semiIn, ebreak, semiOut, self)
	if err := b.t.Start(b.ctx); err != nil {
		t.Fatal(err)
	}
	for b.t.Stats().Instructions[0] < 2 {
		time.Sleep(time.Millisecond)
	}
	if err := b.t.Halt(b.ctx); err != nil {
		t.Fatal(err)
	}
	pc, err := b.t.ReadRegister(b.ctx, 0, riscvPC)
	if err != nil || uint32(pc) != fakeRAM+8 {
		t.Errorf("halted at %#x, %v: a call that waits stands at its ebreak", pc, err)
	}
	b.t.CloseInput()
	if err := b.t.Resume(b.ctx, []target.Action{{Core: 0, Kind: target.ActionStep}}); err != nil {
		t.Fatal(err)
	}
	if s, err := b.t.Wait(b.ctx); err != nil || s.PC != fakeRAM+12 {
		t.Errorf("after the end of input: %+v, %v", s, err)
	}
	if v, _ := b.t.ReadRegister(b.ctx, 0, a0); uint32(v) != 0xffffffff {
		t.Errorf("the call gives %#x", v)
	}
}

func TestFirmwareReset(t *testing.T) {
	code := append(prints("boot\n"),
		auipc(a1, 0),
		lw(a0, a1, 0x100), // counts the resets, in memory that survives
		addi(a2, zero, 2),
		beq(a0, a2, 20),
		addi(a0, a0, 1),
		sw(a0, a1, 0x100),
		sw(zero, t1, 16),
		self,
		wfi, jal(zero, -4))
	restarts := 0
	b := newBench(t, Options{Restarted: func(int) { restarts++ }}, code...)
	if out := b.run(RunOptions{}); out.End != EndAsleep || restarts != 2 || b.printed() != "boot\nboot\nboot\n" {
		t.Errorf("ended with %+v after %d resets and %q", out, restarts, b.printed())
	}
	// A debugger hears of it, and its breakpoints survive.
	b = newBench(t, Options{Debug: true}, code...)
	if err := b.t.Start(b.ctx); err != nil {
		t.Fatal(err)
	}
	s, err := b.t.Wait(b.ctx)
	if err != nil || s.Reason != target.StopReset {
		t.Errorf("a reset under a debugger: %+v, %v", s, err)
	}
}

func TestDebuggerKeepsSleepers(t *testing.T) {
	b := newBench(t, Options{Debug: true}, wfi, ebreak, self)
	if err := b.t.Start(b.ctx); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Millisecond)
	defer cancel()
	if s, err := b.t.Wait(ctx); !errors.Is(err, target.ErrRunning) {
		t.Errorf("sleeping cores under a debugger: %+v, %v", s, err)
	}
	// Input wakes them, and the program's own breakpoint stops.
	b.t.Console().Write([]byte("x"))
	if s, err := b.t.Wait(b.ctx); err != nil || s.Reason != target.StopBreakpoint || s.PC != fakeRAM+4 {
		t.Errorf("a breakpoint instruction under a debugger: %+v, %v", s, err)
	}
}

func TestEndedProgramDoesNotResume(t *testing.T) {
	b := newBench(t, Options{}, lui(t1, fakePut), sw(zero, t1, 8), self)
	b.run(RunOptions{})
	if err := b.t.Resume(b.ctx, []target.Action{{Core: 0}}); !errors.Is(err, errEnded) {
		t.Errorf("Resume after the end: %v", err)
	}
	if v, err := b.t.ReadRegister(b.ctx, 0, t1); err != nil || v != fakePut {
		t.Errorf("registers after the end: %#x, %v", v, err)
	}
}

func TestCloseWhileRunning(t *testing.T) {
	b := newBench(t, Options{}, self)
	if err := b.t.Start(b.ctx); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Millisecond, func() { b.t.Close() })
	if _, err := b.t.Wait(b.ctx); !errors.Is(err, errClosed) {
		t.Errorf("Wait while the target is closed: %v", err)
	}
	if err := b.t.Halt(b.ctx); !errors.Is(err, errClosed) {
		t.Errorf("Halt after Close: %v", err)
	}
	if n, err := b.t.Console().Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Read after Close: %d, %v", n, err)
	}
}

// testClock is a wall clock that only moves when somebody waits.
type testClock struct {
	now    time.Time
	waited time.Duration
}

func (c *testClock) Now() time.Time { return c.now }
func (c *testClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.now = c.now.Add(d)
	c.waited += d
	ch := make(chan time.Time, 1)
	ch <- c.now
	return ch, func() {}
}

func TestRealSpeed(t *testing.T) {
	clock := &testClock{now: time.Unix(0, 0)}
	b := newBench(t, Options{Speed: SpeedReal, Clock: clock}, self)
	b.run(RunOptions{Cycles: fakeHertz / 2})
	if d := clock.waited - 500*time.Millisecond; d > 10*time.Millisecond || d < -10*time.Millisecond {
		t.Errorf("waited %v for half a second of simulated time", clock.waited)
	}
	clock = &testClock{now: time.Unix(0, 0)}
	b = newBench(t, Options{Clock: clock}, self)
	b.run(RunOptions{Cycles: fakeHertz / 2})
	if clock.waited != 0 {
		t.Errorf("waited %v at full speed", clock.waited)
	}
}

func TestTrace(t *testing.T) {
	var got []Instruction
	b := newBench(t, Options{Trace: func(in Instruction) { got = append(got, in) }},
		addi(a0, zero, 1), lui(t1, fakePut), sw(zero, t1, 8), self)
	b.run(RunOptions{})
	if len(got) < 3 || got[0] != (Instruction{PC: fakeRAM, Code: addi(a0, zero, 1), Size: 4}) ||
		got[2].Count != 2 || got[2].PC != fakeRAM+8 {
		t.Errorf("trace %+v", got)
	}
}

func TestConsoleKeepsTheLast(t *testing.T) {
	r := newRing()
	for range 3 {
		r.put([]byte(strings.Repeat("a", ringSize/2)))
	}
	r.put([]byte("end"))
	p := make([]byte, ringSize+10)
	n, err := r.read(p)
	if err != nil || n != ringSize || !strings.HasSuffix(string(p[:n]), "aend") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestChoose(t *testing.T) {
	at := func(addr uint32, f image.Format, arch image.Arch) *image.Image {
		return &image.Image{Format: f, Arch: arch, Segments: []image.Segment{{Addr: addr, Data: []byte{1}}}}
	}
	for _, c := range []struct {
		name string
		img  *image.Image
		want string
	}{
		{"auto", at(0, image.FormatELF, image.ArchRISCV), MachineHazard3TB},
		{"auto", at(0, image.FormatELF, image.ArchARM), MachineRP2350},
		{"auto", at(0, image.FormatBIN, image.ArchRISCV), MachineRP2350},
		{"auto", at(0x80000000, image.FormatELF, image.ArchRISCV), MachineRP2350}, // no tohost
		{"auto", at(0x10000000, image.FormatUF2, image.ArchRISCV), MachineRP2350},
		{"", at(0x20000000, image.FormatELF, image.ArchRISCV), MachineRP2350},
		{"riscv-tests", at(0, image.FormatELF, image.ArchRISCV), MachineRISCVTests},
	} {
		got, why, err := Choose(c.name, c.img, nil)
		if err != nil || got != c.want || why == "" {
			t.Errorf("%q, %v at %#x: %q because %q, %v; want %q", c.name, c.img.Format, c.img.Segments[0].Addr, got, why, err, c.want)
		}
	}
	if _, _, err := Choose("vax", at(0, image.FormatELF, image.ArchRISCV), nil); err == nil {
		t.Error("a machine that does not exist is accepted")
	}
}
