package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/cortexm"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/probe/loader"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/riscvdm"
	"github.com/stem-hw/stem-hw/probe/swd"
	"github.com/stem-hw/stem-hw/target"
)

// chipError is a chip that is no RP2350.
type chipError struct{ dpidr, targetID, chipID uint32 }

func (e *chipError) Error() string {
	return fmt.Sprintf("DPIDR 0x%08x, TARGETID 0x%08x, CHIP_ID 0x%08x", e.dpidr, e.targetID, e.chipID)
}

// powerError is a debug domain without power; states are what the RP-AP says of
// the domains swcore, XIP, SRAM 0 and SRAM 1.
type powerError struct {
	err    *swd.PowerError
	states [4]uint32
	known  bool
}

func (e *powerError) Error() string { return e.err.Error() }
func (e *powerError) Unwrap() error { return e.err }

// mixedError is a chip whose cores have different architectures.
type mixedError struct{ arch [cores]image.Arch }

func (e *mixedError) Error() string {
	return fmt.Sprintf("core 0 is %s, core 1 is %s", e.arch[0], e.arch[1])
}

// isLost reports whether the way to the chip is gone for good.
func isLost(err error) bool {
	return errors.Is(err, dap.ErrLost) || errors.Is(err, dap.ErrSilent) || errors.Is(err, dap.ErrAnswer)
}

// isLost reports whether the way to the chip is gone for good.
func (t *Target) isLost(err error) bool {
	return isLost(err) || t.way != nil && err != nil && t.way.Lost(err)
}

// explained turns an error into a fault.
func (t *Target) explained(err error) error {
	if t.way == nil {
		return explain(err, t.dap.Info())
	}
	if faults.Of(err) == nil && err != nil {
		err = t.way.Explain(err)
	}
	return explain(err, t.way.Info())
}

// oldFirmware is the advice for a probe that behaves badly.
const oldFirmware = "update the probe's firmware: Raspberry Pi's is at github.com/raspberrypi/debugprobe/releases"

// Explain turns an error of opening a probe into a fault.
func Explain(err error) error { return untouched(explain(err, dap.Info{})) }

// untouched tells the state of the board to who lost the probe before anything was
// done to it.
func untouched(err error) error {
	f := faults.Of(err)
	if f == nil || f.Status != faults.StatusLost || len(f.Details) > 0 {
		return err
	}
	c := *f
	c.Details = []string{"the program runs on, undisturbed"}
	return &c
}

// explain turns an error into a fault by the layer it came from.
func explain(err error, probe dap.Info) error {
	if f := faults.Of(err); err == nil || f != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var me *target.MemoryError
	if errors.As(err, &me) || errors.Is(err, target.ErrRunning) || errors.Is(err, errClosed) {
		return err
	}
	f := &faults.Fault{Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Err: err}
	if explainProbe(f, err) || explainWires(f, err, probe) || explainChip(f, err) || explainCore(f, err) {
		return f
	}
	f.Summary = "the debug probe cannot do what was asked"
	f.Try = []string{"the same again with --log dap, to see what it answers", oldFirmware}
	return f
}

// explainProbe explains failures between the host and the probe.
func explainProbe(f *faults.Fault, err error) bool {
	switch {
	case errors.Is(err, dap.ErrLost):
		f.Code, f.Status = faults.CodeLost, faults.StatusLost
		f.Summary = "the debug probe is gone"
		f.Try = []string{"plug it in again", "stem-hw list"}
	case errors.Is(err, dap.ErrSilent):
		f.Code, f.Status = faults.CodeLost, faults.StatusLost
		f.Summary = "the debug probe does not answer"
		f.Try = []string{"unplug the probe and plug it in again", oldFirmware}
	case errors.Is(err, dap.ErrAnswer):
		f.Summary = "the debug probe answers what makes no sense"
		f.Wanted = "an answer as CMSIS-DAP describes it"
		f.Try = []string{"unplug the probe and plug it in again", oldFirmware}
	default:
		return false
	}
	return true
}

// explainWires explains failures between the probe and the chip's debug port.
func explainWires(f *faults.Fault, err error, probe dap.Info) bool {
	var na *swd.NoAnswerError
	var ae *swd.Error
	switch {
	case errors.As(err, &na):
		f.Err = nil
		f.Code, f.Seen = faults.CodeNoTarget, na.Error()
		f.Wanted = "the debug port of an RP2350"
		f.Summary = "the probe is there, and no chip answers it"
		wires := "check SWCLK, SWDIO and GND between probe and board"
		if probe.Product == picoProbe {
			wires += ": on a Pico as a probe they are GP2, GP3 and GND"
		}
		switch {
		case na.Line == swd.LineNoisy:
			f.Try = []string{"connect GND between probe and board", wires}
		case na.Garbled:
			f.Code = faults.CodeBadWires
			f.Summary = "something answers the probe, and what arrives is spoilt"
			f.Try = []string{wires, "shorter wires, and one more for GND"}
		case na.Line == swd.LineLow:
			f.Try = []string{"check that the board has power", wires}
		default:
			f.Try = []string{wires, "check that the board has power"}
		}
	case errors.As(err, &ae) && ae.Kind == swd.Parity:
		f.Code = faults.CodeBadWires
		f.Summary = "what passes between probe and chip is spoilt, at every clock"
		f.Try = []string{"shorter wires, and one more for GND", "a slower clock: --clock 400"}
	case errors.As(err, &ae) && ae.Kind == swd.Silent:
		f.Code = faults.CodeNoTarget
		f.Summary = "the chip stopped answering the probe"
		f.Try = []string{"check power and wires", "the same command again"}
	case errors.As(err, &ae) && ae.Kind == swd.Wait:
		f.Code = faults.CodeCoreStuck
		f.Summary = "the chip's bus does not finish an access: its clock is stopped, or a peripheral never answers"
		f.Try = []string{"stem-hw reset --rescue", "press RUN, or take the board's power away for a moment"}
	default:
		return false
	}
	return true
}

// picoProbe is the product of a Pico that is a probe.
const picoProbe = "Debugprobe on Pico (CMSIS-DAP)"

// explainChip explains what the chip is or does not allow.
func explainChip(f *faults.Fault, err error) bool {
	var ce *chipError
	var pe *powerError
	var mixed *mixedError
	switch {
	case errors.As(err, &ce):
		f.Code, f.Err = faults.CodeWrongChip, nil
		f.Summary, f.Seen, f.Wanted = "the chip behind the probe is no RP2350", ce.Error(), "an RP2350"
		f.Try = []string{"connect the probe to a board with an RP2350"}
		if ce.dpidr == dpidrRP2040 {
			f.Summary = "the chip behind the probe is an RP2040"
			f.Wanted = "an RP2350, as on a Pico 2"
			f.Try = []string{"use OpenOCD for an RP2040, or connect a Pico 2"}
		}
	case errors.As(err, &pe):
		f.Code = faults.CodeNoPower
		f.Summary = "the chip's debug domain gets no power"
		f.Try = []string{"stem-hw reset --rescue", "take the board's power away for a moment"}
		if pe.known {
			f.Details = []string{fmt.Sprintf("power states 0x%x, 0x%x, 0x%x, 0x%x; healthy ones are 0x95e and 0x15e",
				pe.states[0], pe.states[1], pe.states[2], pe.states[3])}
		}
	case errors.Is(err, errLocked), errors.Is(err, errSecureLocked):
		f.Code, f.Seen, f.Err = faults.CodeLocked, err.Error(), nil
		f.Summary = "the chip does not allow debugging"
		f.Wanted = "a chip whose fuses allow it, or its debug key"
		f.Try = []string{"load it over USB: stem-hw flash --via bootsel"}
	case errors.As(err, &mixed):
		f.Code, f.Seen, f.Err = faults.CodeCoreStuck, mixed.Error(), nil
		f.Summary, f.Wanted = "the cores have different architectures", "two of one"
		f.Try = []string{"stem-hw reset --rescue"}
	case errors.Is(err, errNoArch):
		f.Code = faults.CodeCoreStuck
		f.Summary = "no core can be debugged"
		f.Try = []string{"stem-hw reset --rescue"}
	default:
		return false
	}
	return true
}

// explainCore explains what a core or its memory refuses.
func explainCore(f *faults.Fault, err error) bool {
	var me *mem.Error
	var arm *cortexm.StuckError
	var riscv *riscvdm.StuckError
	var stopped *loader.StoppedError
	switch {
	case errors.As(err, &arm), errors.As(err, &riscv):
		f.Code = faults.CodeCoreStuck
		f.Summary = "a core does not obey the debugger"
		f.Try = []string{"stem-hw reset --rescue", "press RUN, or take the board's power away for a moment"}
		if arm != nil && arm.Status.LockedUp {
			f.Summary = "a core is locked up"
			f.Try = append([]string{"stem-hw reset"}, f.Try...)
		}
	case errors.Is(err, riscvdm.ErrStalled):
		f.Code = faults.CodeCoreStuck
		f.Summary = "memory cannot be reached while the program runs"
		f.Try = []string{"halt the cores first"}
	case errors.As(err, &stopped), errors.Is(err, loader.ErrSlow):
		f.Code, f.Status = faults.CodeWriteFailed, faults.StatusWrite
		f.Summary = "the chip cannot change its flash"
		f.Try = []string{"the same command again", "stem-hw reset --rescue"}
	case errors.As(err, &me):
		f.Summary = "the chip refuses an access of its memory"
		f.Seen, f.Err = fmt.Sprintf("an access at 0x%08x", me.Addr), me.Err
		f.Try = []string{"stem-hw reset --rescue", "the same again with --log dap"}
	default:
		return false
	}
	return true
}

// lostFault is the fault of a probe that is gone, with the state of the board as
// far as it is known.
func (t *Target) lostFault(err error) error {
	e := t.explained(err)
	f := faults.Of(e)
	if f == nil {
		return e
	}
	c := *f
	switch {
	case t.flash != nil && t.flashChanged:
		c.Details = append(c.Details, "the flash was being written: what it holds will not start until it is flashed again")
	case t.flash != nil:
		c.Details = append(c.Details, "the flash is unchanged; the cores are halted until the board is reset")
	case t.attached && t.run == 0:
		c.Details = append(c.Details, "the cores are halted, with breakpoints set; a reset lets the program run")
	case t.touched:
		c.Details = append(c.Details, "the program runs; breakpoints that were set may stop it until a reset")
	default:
		c.Details = append(c.Details, "the program runs on, undisturbed")
	}
	return &c
}
