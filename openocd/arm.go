package openocd

import (
	"context"
	"errors"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/cortexm"
	"github.com/stem-hw/stem-hw/target"
)

// Registers of a Cortex-M33's debug (Armv8-M ARM, D1.2).
const (
	regDHCSR  = 0xe000edf0
	regAIRCR  = 0xe000ed0c
	regVTOR   = 0xe000ed08
	regFPCtrl = 0xe0002000
	regDWT    = 0xe0001000
	regComp0  = 0xe0001020
	dhcsrKey  = 0xa05f0000
	debugEn   = 1 << 0
	sSleep    = 1 << 18
	sLockup   = 1 << 19
	resetReq  = 0x05fa0004
	matched   = 1 << 24
	hardFault = 3
	xpsrThumb = 0x01000000
	xpsrIT    = 0x0600fc00
)

// arm are two Cortex-M33.
type arm struct {
	cores
	catch     bool
	reset     bool // seen, and not taken yet
	bps, wps  int
	catchLine string
}

// numXPSR is the number of xPSR as gdb sees it.
const numXPSR = 25

func openArm(ctx context.Context, p *Process, catch bool) (*arm, error) {
	a := &arm{cores: cores{p: p, arch: image.ArchARM, names: names(image.ArchARM), regs: map[int]string{}}, catch: catch}
	for _, r := range cortexm.Registers() {
		a.regs[r.Num] = r.Name
	}
	text, err := p.Do(ctx, "capture {targets "+a.names[0]+"; reg}")
	if err == nil && strings.Contains(text, "xPSR") {
		a.regs[numXPSR] = "xPSR"
	}
	fp, err := a.word(ctx, 0, regFPCtrl)
	if err != nil {
		return nil, err
	}
	dwt, err := a.word(ctx, 0, regDWT)
	if err != nil {
		return nil, err
	}
	a.bps, a.wps = int(fp>>4&0xf|fp>>8&0x70), int(dwt>>28)
	return a, a.vectors(ctx, false)
}

// vectors says which exceptions stop the cores.
func (a *arm) vectors(ctx context.Context, reset bool) error {
	what := ""
	if a.catch {
		what += " hard_err"
	}
	if reset {
		what += " reset"
	}
	if what == "" {
		what = " none"
	}
	if what == a.catchLine {
		return nil
	}
	err := each(3, func(core int) error {
		_, err := a.do(ctx, core, "cortex_m vector_catch"+what)
		return err
	})
	if err == nil {
		a.catchLine = what
	}
	return err
}

// Registers implements probe.Cores.
func (a *arm) Registers() []target.Register { return cortexm.Registers() }

// Limits implements probe.Cores.
func (a *arm) Limits() (breakpoints, watchpoints int) { return a.bps, a.wps }

// NeedsHalt implements probe.Cores.
func (a *arm) NeedsHalt() bool { return false }

// States implements probe.Cores. OpenOCD's own poll tells of a reset, by the state
// of that name, once.
func (a *arm) States(ctx context.Context) (s [probe.Count]probe.CoreState, reset bool, err error) {
	for core, t := range a.names {
		for range 3 {
			text, err := a.p.Do(ctx, t+" arp_poll; "+t+" curstate")
			if locked(err) {
				// Later versions halt a core that is locked up, and say that it failed.
				s[core].LockedUp = true
				break
			}
			if err != nil {
				return s, false, a.refused(err)
			}
			if text != "reset" {
				s[core].Halted = text == "halted"
				break
			}
			a.reset = true
		}
		if s[core].Halted || s[core].LockedUp || a.reset {
			continue
		}
		// S_RESET_ST, which reading clears, was taken by the poll just now.
		v, err := a.word(ctx, core, regDHCSR)
		if err != nil {
			return s, false, err
		}
		s[core].Sleeping, s[core].LockedUp = v&sSleep != 0, v&sLockup != 0
		a.reset = a.reset || v&(1<<25) != 0
	}
	return s, a.reset, nil
}

// locked reports whether a poll failed over a core that is locked up.
func locked(err error) bool {
	var ce *CommandError
	if !errors.As(err, &ce) {
		return false
	}
	for _, l := range ce.Log {
		if strings.Contains(l, "clearing lockup") {
			return true
		}
	}
	return false
}

// refused is a poll that failed: the chip is being reset just now, or its bus
// hangs.
func (a *arm) refused(err error) error {
	if gone(err) {
		return err
	}
	return errRefused(regDHCSR, false, err)
}

// TakeReset implements probe.Cores.
func (a *arm) TakeReset(ctx context.Context) error {
	_, _, err := a.States(ctx)
	a.reset = false
	return err
}

// Enable implements probe.Cores.
func (a *arm) Enable(ctx context.Context) error {
	a.catchLine = ""
	return a.vectors(ctx, false)
}

// Resume implements probe.Cores: what the comparators saw before is forgotten.
func (a *arm) Resume(ctx context.Context, mask uint32) error {
	if a.watching() {
		err := each(mask, func(core int) error {
			_, err := a.watched(ctx, core)
			return err
		})
		if err != nil {
			return err
		}
	}
	return a.cores.Resume(ctx, mask)
}

func (a *arm) watching() bool {
	for _, p := range a.points {
		if p.Kind > target.PointHardware {
			return true
		}
	}
	return false
}

// watched is the address of the comparator that saw an access, 0 for none.
// Reading clears it.
func (a *arm) watched(ctx context.Context, core int) (addr uint32, err error) {
	for i := range uint32(a.wps) {
		fn, err := a.word(ctx, core, regComp0+8+16*i)
		if err != nil {
			return 0, err
		}
		if fn&matched == 0 || addr != 0 {
			continue
		}
		if addr, err = a.word(ctx, core, regComp0+16*i); err != nil {
			return 0, err
		}
	}
	return addr, nil
}

// Stopped implements probe.Cores. OpenOCD keeps the cause to itself, so it is
// found by what the core stands at.
func (a *arm) Stopped(ctx context.Context, core int) (target.Stop, error) {
	s := target.Stop{Core: core, Reason: target.StopHalt}
	pc, err := a.PC(ctx, core)
	if err != nil {
		return s, err
	}
	s.PC = pc
	if a.watching() {
		addr, err := a.watched(ctx, core)
		if err != nil {
			return s, err
		}
		for _, p := range a.points {
			if addr != 0 && p.Kind > target.PointHardware && addr >= p.Addr && addr-p.Addr < max(p.Len, 1) {
				s.Reason, s.Point, s.Addr = target.StopWatchpoint, p, p.Addr
				return s, nil
			}
		}
	}
	for _, p := range a.points {
		if p.Kind <= target.PointHardware && p.Addr == pc {
			s.Reason = target.StopBreakpoint
			return s, nil
		}
	}
	if a.catch && a.caught(ctx, core, pc) {
		s.Reason = target.StopCrash
		return s, nil
	}
	var b [2]byte
	if a.read(ctx, core, pc, b[:]) == nil && b[1] == 0xbe { // BKPT
		s.Reason = target.StopBreakpoint
	}
	return s, nil
}

// caught reports whether a core stands at the first instruction of its HardFault
// handler.
func (a *arm) caught(ctx context.Context, core int, pc uint32) bool {
	x, err := a.Register(ctx, core, numXPSR)
	if err != nil || x&0x1ff != hardFault {
		return false
	}
	vectors, err := a.word(ctx, core, regVTOR)
	if err != nil {
		return false
	}
	handler, err := a.word(ctx, core, vectors+4*hardFault)
	return err == nil && handler&^1 == pc
}

// Register implements probe.Cores.
func (a *arm) Register(ctx context.Context, core, num int) (uint64, error) {
	n, err := a.name(num)
	if err != nil {
		return 0, err
	}
	return a.reg(ctx, core, n, false)
}

// SetRegister implements probe.Cores.
func (a *arm) SetRegister(ctx context.Context, core, num int, v uint64) error {
	if num == 15 {
		return a.SetPC(ctx, core, uint32(v))
	}
	n, err := a.name(num)
	if err != nil {
		return err
	}
	return a.setRegs(ctx, core, n, v)
}

// PC implements probe.Cores.
func (a *arm) PC(ctx context.Context, core int) (uint32, error) {
	v, err := a.reg(ctx, core, "pc", false)
	return uint32(v), err
}

// SetPC implements probe.Cores: in Thumb state, outside of any IT block.
func (a *arm) SetPC(ctx context.Context, core int, pc uint32) error {
	x, err := a.Register(ctx, core, numXPSR)
	if err != nil {
		return err
	}
	return a.setRegs(ctx, core, "pc", pc&^1, a.regs[numXPSR], uint32(x)&^xpsrIT|xpsrThumb)
}

// Read implements probe.Cores.
func (a *arm) Read(ctx context.Context, core int, addr uint32, p []byte, _ bool) error {
	return a.read(ctx, core, addr, p)
}

// Write implements probe.Cores.
func (a *arm) Write(ctx context.Context, core int, addr uint32, p []byte, _ bool) error {
	return a.write(ctx, core, addr, p)
}

// Enter implements probe.Cores.
func (a *arm) Enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error {
	set := []any{
		"primask", 1, "faultmask", 0, "basepri", 0, "control", 0, "msplim_s", 0, a.regs[numXPSR], xpsrThumb, "msp", sp, "sp", sp,
		"lr", uint32(0xffffffff), "pc", pc &^ 1,
	}
	for i, v := range args {
		set = append(set, a.regs[i], v)
	}
	return a.setRegs(ctx, core, set...)
}

// CatchReset implements probe.Cores.
func (a *arm) CatchReset(ctx context.Context, on bool) error {
	if on {
		if err := a.Halt(ctx, 3); err != nil {
			return err
		}
	}
	a.catchLine = ""
	return a.vectors(ctx, on)
}

// ResetCores implements probe.Cores: core 1 first, which then waits in the ROM.
func (a *arm) ResetCores(ctx context.Context) error {
	return each(3, func(core int) error {
		err := a.poke(ctx, core, regAIRCR, resetReq)
		if gone(err) {
			return err
		}
		return nil // a core in reset may not answer
	})
}

// Forget implements probe.Cores: OpenOCD's poll drops its registers by itself.
func (a *arm) Forget() { a.forgotten = true }

// Release implements probe.Cores.
func (a *arm) Release(ctx context.Context) error {
	if err := a.Points(ctx, nil); err != nil {
		return err
	}
	a.catch, a.catchLine = false, ""
	if err := a.vectors(ctx, false); err != nil {
		return err
	}
	s, _, err := a.States(ctx)
	if err != nil {
		return err
	}
	return each(3, func(core int) error {
		if s[core].Halted {
			if _, err := a.do(ctx, core, "resume"); err != nil {
				return err
			}
		}
		err := a.poke(ctx, core, regDHCSR, dhcsrKey)
		if err != nil && !gone(err) {
			return nil // it switches to the other architecture already
		}
		return err
	})
}

// Crash implements probe.Cores.
func (a *arm) Crash(ctx context.Context, core int) string {
	var v [len(cortexm.FaultRegisters)]uint32
	for i, r := range cortexm.FaultRegisters {
		var err error
		if v[i], err = a.word(ctx, core, r); err != nil {
			return "a fault"
		}
	}
	if text := cortexm.Describe(v); text != "" {
		return text
	}
	return "a fault"
}

var _ probe.Cores = (*arm)(nil)
