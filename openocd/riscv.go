package openocd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/riscvdm"
	"github.com/stem-hw/stem-hw/target"
)

// Registers of the Debug Module (RISC-V Debug Support 0.13.2, 3.12), and bits of
// dmcontrol and dmstatus.
const (
	dmControl  = 0x10
	dmStatus   = 0x11
	dmWindow   = 0x15
	dmHaltSum0 = 0x40

	ctlActive       = 1 << 0
	ctlNDMReset     = 1 << 1
	ctlClrResetHalt = 1 << 2
	ctlSetResetHalt = 1 << 3
	ctlArray        = 1 << 26
	ctlAckReset     = 1 << 28
	stAnyUnavail    = 1 << 12
	stAnyHaveReset  = 1 << 18
)

// riscv are two Hazard3 harts.
type riscv struct {
	cores
	// force: this OpenOCD keeps values of registers that are not so any more.
	force bool
	// written are registers that OpenOCD holds for a hart until it runs, after a
	// reset: reading them by force would lose them. nil: nothing was reset.
	written [probe.Count]map[string]bool
	reset   bool
	// privateView is the way to memory that is on, by hart: through the hart.
	through [probe.Count]bool
}

// numCSR0 is gdb's number of control register 0, numPriv of the privilege.
const (
	numCSR0 = 65
	numPriv = 65 + 4096
	numPC   = 32
)

func openRISCV(ctx context.Context, p *Process, stock bool) (*riscv, error) {
	r := &riscv{cores: cores{p: p, arch: image.ArchRISCV, names: names(image.ArchRISCV), regs: map[int]string{}}, force: stock}
	for _, reg := range riscvdm.Registers() {
		r.regs[reg.Num] = reg.Name
	}
	for _, n := range []int{0xbd0, 0xbe0, 0xbe1, 0xbe2, 0xbe3, 0xbe4, 0xbe5, 0xbf0, 0xbff} {
		r.regs[numCSR0+n] = fmt.Sprintf("csr%d", n) // exposed by the configuration
	}
	for core, t := range r.names {
		if _, err := p.Do(ctx, t+" riscv set_mem_access sysbus"); err != nil {
			return nil, err
		}
		// OpenOCD leaves a hart that it halted to examine it halted for a moment.
		if _, err := r.do(ctx, core, t+" arp_poll"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Registers implements probe.Cores.
func (r *riscv) Registers() []target.Register { return riscvdm.Registers() }

// Limits implements probe.Cores.
func (r *riscv) Limits() (breakpoints, watchpoints int) { return riscvdm.Triggers, 0 }

// NeedsHalt implements probe.Cores.
func (r *riscv) NeedsHalt() bool { return true }

// module does something with the Debug Module, and leaves the selection of harts
// as OpenOCD believes it to be.
func (r *riscv) module(ctx context.Context, script string) (string, error) {
	return r.p.Do(ctx, fmt.Sprintf("targets %s; set stemc [expr {[riscv dmi_read 0x%x] & 0x%x}]; riscv dmi_write 0x%x 3; %s",
		r.names[0], dmControl, 0x07ffffc1, dmWindow, script))
}

// restore is the end of a script for module.
const restore = "; riscv dmi_write 0x10 $stemc"

// status reads which harts are halted, and dmstatus over both.
func (r *riscv) status(ctx context.Context) (halted, status uint32, err error) {
	text, err := r.module(ctx, fmt.Sprintf(
		"riscv dmi_write 0x%x 0x%x; set stems [riscv dmi_read 0x%x]; set stemh [riscv dmi_read 0x%x]%s; list $stemh $stems",
		dmControl, ctlActive|ctlArray, dmStatus, dmHaltSum0, restore))
	if err != nil {
		return 0, 0, err
	}
	words, err := splitList(text)
	if err != nil || len(words) != 2 {
		return 0, 0, fmt.Errorf("OpenOCD says of the Debug Module: %q", text)
	}
	var v [2]uint64
	for i, w := range words {
		if v[i], err = strconv.ParseUint(strings.TrimSpace(w), 0, 32); err != nil {
			return 0, 0, fmt.Errorf("OpenOCD says of the Debug Module: %q", text)
		}
	}
	return uint32(v[0]), uint32(v[1]), nil
}

// States implements probe.Cores. The Debug Module is asked, since OpenOCD
// acknowledges resets without telling. Where it believes a hart to run that is
// halted, or the other way round, it is made to look.
func (r *riscv) States(ctx context.Context) (s [probe.Count]probe.CoreState, reset bool, err error) {
	halted, status, err := r.status(ctx)
	if err != nil {
		return s, false, r.refused(err)
	}
	if status&stAnyUnavail != 0 {
		return s, false, errRefused(4*dmStatus, false, errUnavailable)
	}
	r.reset = r.reset || status&stAnyHaveReset != 0
	for core, t := range r.names {
		s[core].Halted = halted>>core&1 != 0
		text, err := r.p.Do(ctx, t+" curstate")
		if err != nil {
			return s, false, err
		}
		if s[core].Halted != (text == "halted") {
			if _, err := r.do(ctx, core, t+" arp_poll"); err != nil {
				return s, false, r.refused(err)
			}
		}
	}
	return s, r.reset, nil
}

// refused is a look that failed.
func (r *riscv) refused(err error) error {
	if gone(err) {
		return err
	}
	return errRefused(4*dmStatus, false, err)
}

// TakeReset implements probe.Cores.
func (r *riscv) TakeReset(ctx context.Context) error {
	r.reset = false
	_, err := r.module(ctx, fmt.Sprintf("riscv dmi_write 0x%x 0x%x%s", dmControl, ctlActive|ctlArray|ctlAckReset, restore))
	return err
}

// Enable implements probe.Cores: OpenOCD makes breakpoint instructions stop a hart
// whenever it lets one run.
func (r *riscv) Enable(context.Context) error { return nil }

// Halt implements probe.Cores.
func (r *riscv) Halt(ctx context.Context, mask uint32) error {
	err := r.cores.Halt(ctx, mask)
	if err == nil {
		return nil
	}
	return r.refused(err)
}

// Resume implements probe.Cores.
func (r *riscv) Resume(ctx context.Context, mask uint32) error {
	if err := r.view(ctx, mask); err != nil {
		return err
	}
	err := r.cores.Resume(ctx, mask)
	for core := range r.written {
		if mask>>core&1 != 0 {
			r.written[core] = nil
		}
	}
	return err
}

// Step implements probe.Cores. A breakpoint on the instruction would stop the hart
// before it: not every OpenOCD takes it away.
func (r *riscv) Step(ctx context.Context, core int) error {
	if err := r.view(ctx, 1<<core); err != nil {
		return err
	}
	var here *target.Point
	if len(r.points) > 0 {
		pc, err := r.PC(ctx, core)
		if err != nil {
			return err
		}
		for i, p := range r.points {
			if p.Kind <= target.PointHardware && p.Addr == pc {
				here = &r.points[i]
			}
		}
	}
	if here != nil {
		if _, err := r.do(ctx, core, clear(*here)); err != nil {
			return err
		}
	}
	err := r.cores.Step(ctx, core)
	r.written[core] = nil
	if here != nil {
		_, serr := r.do(ctx, core, r.cores.set(*here))
		err = errors.Join(err, serr)
	}
	return err
}

// view gives harts that are going to run the way to memory that works then.
func (r *riscv) view(ctx context.Context, mask uint32) error {
	for core := range r.through {
		if mask>>core&1 != 0 {
			if err := r.access(ctx, core, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// access says how memory is reached: through the hart, which sees its own part of
// the SIO, or through the module's bus port.
func (r *riscv) access(ctx context.Context, core int, through bool) error {
	if r.through[core] == through {
		return nil
	}
	way := "sysbus"
	if through {
		way = "progbuf"
	}
	_, err := r.p.Do(ctx, r.names[core]+" riscv set_mem_access "+way)
	if err == nil {
		r.through[core] = through
	}
	return err
}

// Stopped implements probe.Cores.
func (r *riscv) Stopped(ctx context.Context, core int) (target.Stop, error) {
	s := target.Stop{Core: core, Reason: target.StopHalt}
	pc, err := r.PC(ctx, core)
	if err != nil {
		return s, err
	}
	s.PC = pc
	dcsr, err := r.reg(ctx, core, "dcsr", true)
	if err != nil {
		return s, err
	}
	if cause := dcsr >> 6 & 7; cause == 1 || cause == 2 { // ebreak, trigger
		s.Reason = target.StopBreakpoint
	}
	return s, nil
}

// get reads a register; by force where OpenOCD may know an old value.
func (r *riscv) get(ctx context.Context, core int, name string) (uint64, error) {
	w := r.written[core]
	return r.reg(ctx, core, name, r.force || w != nil && !w[name])
}

// set writes registers.
func (r *riscv) set(ctx context.Context, core int, values ...any) error {
	if w := r.written[core]; w != nil {
		for i := 0; i < len(values); i += 2 {
			w[values[i].(string)] = true
		}
	}
	return r.setRegs(ctx, core, values...)
}

// Register implements probe.Cores.
func (r *riscv) Register(ctx context.Context, core, num int) (uint64, error) {
	n, err := r.name(num)
	if err != nil {
		return 0, err
	}
	if num == 0 {
		return 0, nil
	}
	if num == numPriv {
		v, err := r.reg(ctx, core, "dcsr", true)
		return v & 3, err
	}
	return r.get(ctx, core, n)
}

// SetRegister implements probe.Cores.
func (r *riscv) SetRegister(ctx context.Context, core, num int, v uint64) error {
	n, err := r.name(num)
	if err != nil || num == 0 {
		return err
	}
	if num == numPC {
		v &^= 1
	}
	return r.set(ctx, core, n, v)
}

// PC implements probe.Cores.
func (r *riscv) PC(ctx context.Context, core int) (uint32, error) {
	v, err := r.get(ctx, core, "pc")
	return uint32(v), err
}

// SetPC implements probe.Cores.
func (r *riscv) SetPC(ctx context.Context, core int, pc uint32) error {
	return r.set(ctx, core, "pc", pc&^1)
}

// The SIO, whose registers each hart sees for itself (RP2350 datasheet 3.1).
const sioBase, sioEnd = 0xd0000000, 0xd0040000

// Read implements probe.Cores.
func (r *riscv) Read(ctx context.Context, core int, addr uint32, p []byte, halted bool) error {
	if err := r.checkCore(core); err != nil {
		return err
	}
	own := halted && addr >= sioBase && addr < sioEnd
	if err := r.access(ctx, core, own); err != nil {
		return err
	}
	return r.read(ctx, core, addr, p)
}

// Write implements probe.Cores.
func (r *riscv) Write(ctx context.Context, core int, addr uint32, p []byte, halted bool) error {
	if err := r.checkCore(core); err != nil {
		return err
	}
	own := halted && addr >= sioBase && addr < sioEnd
	if err := r.access(ctx, core, own); err != nil {
		return err
	}
	return r.write(ctx, core, addr, p)
}

// Enter implements probe.Cores.
func (r *riscv) Enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error {
	status, err := r.get(ctx, core, "mstatus")
	if err != nil {
		return err
	}
	dcsr, err := r.reg(ctx, core, "dcsr", true)
	if err != nil {
		return err
	}
	const mie, machine, step = 1 << 3, 3, 1 << 2
	set := []any{"sp", sp}
	for i, v := range args {
		set = append(set, r.regs[10+i], v)
	}
	set = append(set, "mstatus", status&^mie, "dcsr", dcsr&^step|machine, "pc", pc)
	return r.set(ctx, core, set...)
}

// CatchReset implements probe.Cores.
func (r *riscv) CatchReset(ctx context.Context, on bool) error {
	bit := ctlClrResetHalt
	if on {
		bit = ctlSetResetHalt
	}
	_, err := r.module(ctx, fmt.Sprintf("riscv dmi_write 0x%x 0x%x%s", dmControl, ctlActive|ctlArray|bit, restore))
	return err
}

// ResetCores implements probe.Cores.
func (r *riscv) ResetCores(ctx context.Context) error {
	r.Forget()
	_, err := r.module(ctx, fmt.Sprintf("riscv dmi_write 0x%x 0x%x; riscv dmi_write 0x%x 0x%x%s",
		dmControl, ctlActive|ctlArray|ctlNDMReset, dmControl, ctlActive|ctlArray, restore))
	return err
}

// Forget implements probe.Cores.
func (r *riscv) Forget() {
	r.forgotten = true
	for core := range r.written {
		r.written[core] = map[string]bool{}
	}
}

// Release implements probe.Cores: OpenOCD takes the breakpoint bits of a hart away
// when it lets it run.
func (r *riscv) Release(ctx context.Context) error {
	if err := r.CatchReset(ctx, false); err != nil {
		return err
	}
	if err := r.Halt(ctx, 3); err != nil {
		return err
	}
	if err := r.Points(ctx, nil); err != nil {
		return err
	}
	for _, t := range r.names {
		if _, err := r.p.Do(ctx, fmt.Sprintf(
			"catch {%s riscv set_ebreakm off; %s riscv set_ebreaku off}", t, t)); err != nil {
			return err
		}
	}
	return r.Resume(ctx, 3)
}

// Crash implements probe.Cores: a hart goes to its handler, and nothing stops it.
func (r *riscv) Crash(context.Context, int) string { return "" }

var _ probe.Cores = (*riscv)(nil)
