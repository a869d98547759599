package gdbserver

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// fake is a target with two cores, RAM, ROM and flash that executes nothing:
// a step adds 4 to pc, and a continue lasts until the test says what stops it.
type fake struct {
	mu      sync.Mutex
	desc    target.Description
	mem     map[uint32][]byte
	regs    [2]map[int]uint64
	points  map[target.Point]bool
	running bool
	stops   chan target.Stop
	resumed chan []target.Action
	// calls are what was asked for, in order.
	calls []string
	// fail is the error of a call, by its name or by its line in calls.
	fail    map[string]error
	console io.ReadWriter
}

const (
	fakeRAM    = 0x20000000
	fakeFlash  = 0x10000000
	fakeSector = 0x1000
	fakePC     = 32
	fakeCSR    = 65 + 0x300
)

func newFake() *fake {
	f := &fake{
		mem: map[uint32][]byte{
			0: make([]byte, 0x400), fakeFlash: make([]byte, 8*fakeSector), fakeRAM: make([]byte, 0x2000),
			0x40120000: make([]byte, 0x100),
		},
		points:  make(map[target.Point]bool),
		stops:   make(chan target.Stop, 4),
		resumed: make(chan []target.Action, 64),
		fail:    make(map[string]error),
		desc: target.Description{
			Name: "fake", Simulated: true, Arch: image.ArchRISCV,
			Cores: []target.Core{{ID: 0, Name: "hart 0"}, {ID: 1, Name: "hart 1"}},
			Memory: []target.Region{
				{Name: "rom", Kind: target.RegionROM, Base: 0, Size: 0x400},
				{Name: "flash", Kind: target.RegionFlash, Base: fakeFlash, Size: 8 * fakeSector, Sector: fakeSector},
				{Name: "ram", Kind: target.RegionRAM, Base: fakeRAM, Size: 0x2000},
			},
		},
	}
	for i := range fakePC {
		f.desc.Registers = append(f.desc.Registers, target.Register{Num: i, Name: fmt.Sprintf("x%d", i), Bits: 32, Feature: "org.gnu.gdb.riscv.cpu", Save: true})
	}
	f.desc.Registers = append(f.desc.Registers,
		target.Register{Num: fakePC, Name: "pc", Bits: 32, Feature: "org.gnu.gdb.riscv.cpu", Type: "code_ptr", Save: true},
		target.Register{Num: fakeCSR, Name: "mstatus<&>", Bits: 32, Feature: "org.gnu.gdb.riscv.csr", Group: "csr"})
	for c := range f.regs {
		f.regs[c] = make(map[int]uint64)
		for i := range fakePC {
			f.regs[c][i] = uint64(c)<<16 | uint64(i)
		}
		f.regs[c][fakePC] = fakeFlash + 0x100*uint64(c)
		f.regs[c][fakeCSR] = 0x1800
	}
	copy(f.mem[fakeRAM], "0123456789abcdef")
	for i := range f.mem[fakeFlash] {
		f.mem[fakeFlash][i] = 0xff
	}
	return f
}

// call notes a call and returns the error it shall have.
func (f *fake) call(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	f.calls = append(f.calls, line)
	if err := f.fail[line]; err != nil {
		return err
	}
	name, _, _ := strings.Cut(line, " ")
	return f.fail[name]
}

// history returns the calls since the last history.
func (f *fake) history() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.calls
	f.calls = nil
	return h
}

func (f *fake) Describe() target.Description { return f.desc }

func (f *fake) Load(context.Context, *image.Image) error { return nil }
func (f *fake) Start(context.Context) error              { return nil }
func (f *fake) Console() io.ReadWriter                   { return f.console }
func (f *fake) Close() error                             { return nil }

func (f *fake) Reset(_ context.Context, mode target.ResetMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = false
	return f.call("reset %d", mode)
}

func (f *fake) at(addr uint32, n int) []byte {
	for base, m := range f.mem {
		if addr >= base && uint64(addr-base)+uint64(n) <= uint64(len(m)) {
			return m[addr-base:][:n]
		}
	}
	return nil
}

func (f *fake) ReadMemory(_ context.Context, _ int, addr uint32, p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.at(addr, len(p))
	if m == nil || f.fail["read"] != nil {
		return &target.MemoryError{Addr: addr, Why: "bus fault"}
	}
	copy(p, m)
	return nil
}

func (f *fake) WriteMemory(_ context.Context, _ int, addr uint32, p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.at(addr, len(p))
	if m == nil || addr < fakeRAM {
		return &target.MemoryError{Addr: addr, Write: true, Why: "bus fault"}
	}
	if err := f.call("write %#x %d", addr, len(p)); err != nil {
		return err
	}
	copy(m, p)
	return nil
}

func (f *fake) EraseFlash(_ context.Context, addr, n uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("erase %#x", addr); err != nil {
		return err
	}
	for i := range f.at(addr, int(n)) {
		f.at(addr, int(n))[i] = 0xff
	}
	return nil
}

func (f *fake) ProgramFlash(_ context.Context, addr uint32, p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("program %#x", addr); err != nil {
		return err
	}
	copy(f.at(addr, len(p)), p)
	return nil
}

func (f *fake) Halt(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("halt"); err != nil {
		return err
	}
	if f.running {
		f.running = false
		f.push(target.Stop{Reason: target.StopHalt, PC: uint32(f.regs[0][fakePC])})
	}
	return nil
}

// push delivers a stop; one that nobody waits for is dropped, as by a target
// that remembers only the latest.
func (f *fake) push(st target.Stop) {
	select {
	case f.stops <- st:
	default:
	}
}

// stop stops the running target.
func (f *fake) stop(st target.Stop) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = false
	f.push(st)
}

func (f *fake) Resume(_ context.Context, actions []target.Action) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("resume %v", actions); err != nil {
		return err
	}
	for len(f.stops) > 0 {
		<-f.stops
	}
	f.running = true
	for _, a := range actions {
		if a.Kind != target.ActionContinue {
			f.regs[a.Core][fakePC] += 4
			f.running = false
			f.push(target.Stop{Core: a.Core, Reason: target.StopStep, PC: uint32(f.regs[a.Core][fakePC])})
			break
		}
	}
	select {
	case f.resumed <- actions:
	default:
	}
	return nil
}

func (f *fake) Wait(ctx context.Context) (target.Stop, error) {
	select {
	case st := <-f.stops:
		f.mu.Lock()
		defer f.mu.Unlock()
		return st, f.fail["wait"]
	case <-ctx.Done():
		return target.Stop{}, fmt.Errorf("%w: %w", target.ErrRunning, ctx.Err())
	}
}

func (f *fake) ReadRegister(_ context.Context, core, num int) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running {
		return 0, target.ErrRunning
	}
	if err := f.fail[fmt.Sprintf("register %d", num)]; err != nil {
		return 0, err
	}
	return f.regs[core][num], nil
}

func (f *fake) WriteRegister(_ context.Context, core, num int, v uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("set %d %d", core, num); err != nil {
		return err
	}
	f.regs[core][num] = v
	return nil
}

func (f *fake) SetBreakpoint(_ context.Context, p target.Point) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("point %d %#x", p.Kind, p.Addr); err != nil {
		return err
	}
	f.points[p] = true
	return nil
}

func (f *fake) ClearBreakpoint(_ context.Context, p target.Point) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("clear %d %#x", p.Kind, p.Addr); err != nil {
		return err
	}
	delete(f.points, p)
	return nil
}

// Reports and Report make the fake a Reporter.
func (f *fake) Reports() map[string]string { return map[string]string{"gpio": "levels of the pins"} }

func (f *fake) Report(_ context.Context, name string, args []string) (string, error) {
	if len(args) > 0 {
		return "", fmt.Errorf("%s takes no arguments", name)
	}
	return "pin 25 high\n", nil
}

// Stats makes it a Runner.
func (f *fake) Stats() target.Stats {
	return target.Stats{Cycles: 300, Seconds: 0.000002, Instructions: []uint64{7, 9}}
}
