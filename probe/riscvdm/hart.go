package riscvdm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/swd"
)

// Numbers of CSRs.
const (
	csrMstatus = 0x300
	csrTselect = 0x7a0
	csrTdata1  = 0x7a1
	csrTdata2  = 0x7a2
	csrDCSR    = 0x7b0
	csrDPC     = 0x7b1
	csrData0   = 0xbff // data0 of the module, as the hart sees it
	csrMaxPlus = 0x1000
)

// Bits of dcsr.
const (
	dcsrEbreakM uint32 = 1 << 15
	dcsrEbreakU uint32 = 1 << 12
	dcsrStep    uint32 = 1 << 2
	dcsrPrv     uint32 = 3
)

// Abstract commands.
const (
	cmdRead  uint32 = 0x00220000 | regGPR
	cmdWrite uint32 = 0x00230000 | regGPR
	cmdExec  uint32 = 0x00240000 | regGPR
	cmdPost  uint32 = 0x00040000
	regGPR   uint32 = 0x1000
)

// Hart is one hart. Its general registers are read together and kept until it
// runs.
type Hart struct {
	m     *Module
	id    uint32
	x     [32]uint32
	known bool
	// scratch says which of s0 and s1 hold something else in the hart.
	scratch [2]bool
	// dpc is where the halted hart stands, if it is known.
	dpc      uint32
	dpcKnown bool
}

// Scratch registers of the program buffer.
const (
	s0 = 8
	s1 = 9
)

func (h *Hart) forget() { h.known, h.dpcKnown, h.scratch = false, false, [2]bool{} }

// CommandError is an abstract command that failed.
type CommandError struct{ Code uint32 }

// Error describes it.
func (e *CommandError) Error() string {
	why := map[uint32]string{
		1: "it came while another one was under way", 2: "the module does not know it", 3: "an exception",
		4: "the hart is not halted", 5: "a bus error",
	}[e.Code]
	if why == "" {
		why = fmt.Sprintf("error %d", e.Code)
	}
	return "a command of the debug module failed: " + why
}

// commands does a batch for this hart and looks whether its commands succeeded.
func (h *Hart) commands(ctx context.Context, fill func(b *mem.Batch)) ([]uint32, error) {
	v, err := h.m.ap.Do(ctx, func(b *mem.Batch) {
		put(b, dmControl, ctlActive|h.id<<ctlHartShift)
		fill(b)
		get(b, dmAbstractCS)
		put(b, dmControl, ctlActive|ctlBoth)
	})
	if err != nil {
		return nil, err
	}
	return v[:len(v)-1], h.check(ctx, v[len(v)-1])
}

// check looks at abstractcs behind commands.
func (h *Hart) check(ctx context.Context, cs uint32) (err error) {
	for try := 0; cs&(1<<12) != 0; try++ {
		if try == 100 {
			return &CommandError{1}
		}
		if cs, err = h.m.ap.ReadWord(ctx, 4*dmAbstractCS); err != nil {
			return err
		}
	}
	if code := cs >> 8 & 7; code != 0 {
		if err := h.m.ap.WriteWord(ctx, 4*dmAbstractCS, 7<<8); err != nil {
			return err
		}
		return &CommandError{code}
	}
	return nil
}

// load reads all general registers, once per stop.
func (h *Hart) load(ctx context.Context) error {
	if h.known {
		return nil
	}
	err := h.m.regs.Do(ctx, 31, func(off, k int) error {
		b := h.m.ap.Batch()
		put(b, dmControl, ctlActive|h.id<<ctlHartShift)
		for n := off + 1; n <= off+k; n++ {
			put(b, dmCommand, cmdRead|uint32(n))
			get(b, dmData0)
		}
		get(b, dmAbstractCS)
		put(b, dmControl, ctlActive|ctlBoth)
		v, err := b.Run(ctx)
		if err != nil {
			return err
		}
		copy(h.x[off+1:], v[:k])
		return h.check(ctx, v[k])
	})
	h.known = err == nil
	return err
}

// GPR reads a general register of the halted hart.
func (h *Hart) GPR(ctx context.Context, n int) (uint32, error) {
	if err := h.load(ctx); err != nil {
		return 0, err
	}
	return h.x[n&31], nil
}

// SetGPR writes one.
func (h *Hart) SetGPR(ctx context.Context, n int, v uint32) error {
	if n&31 == 0 {
		return nil
	}
	if err := h.load(ctx); err != nil {
		return err
	}
	h.x[n&31] = v
	if n == s0 || n == s1 {
		h.scratch[n-s0] = true // it gets there before the hart runs
		return nil
	}
	_, err := h.commands(ctx, func(b *mem.Batch) {
		put(b, dmData0, v)
		put(b, dmCommand, cmdWrite|uint32(n&31))
	})
	return err
}

// restore gives the hart back the registers that the program buffer used.
func (h *Hart) restore(ctx context.Context) error {
	if h.scratch == [2]bool{} {
		h.forget()
		return nil
	}
	_, err := h.commands(ctx, func(b *mem.Batch) {
		for i, dirty := range h.scratch {
			if dirty {
				put(b, dmData0, h.x[s0+i])
				put(b, dmCommand, cmdWrite|uint32(s0+i))
			}
		}
	})
	if err == nil {
		h.forget()
	}
	return err
}

// Instructions of the program buffer.
func csrRead(csr uint32) uint32 { return csr<<20 | 2<<12 | s0<<7 | 0x73 }  // csrr s0, csr
func csrSet(csr uint32) uint32  { return csr<<20 | s0<<15 | 1<<12 | 0x73 } // csrw csr, s0

// CSR reads a control register of the halted hart.
func (h *Hart) CSR(ctx context.Context, n int) (uint32, error) {
	v, err := h.CSRs(ctx, n)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// CSRs reads several in one run.
func (h *Hart) CSRs(ctx context.Context, ns ...int) ([]uint32, error) {
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	h.scratch[0] = true
	return h.commands(ctx, func(b *mem.Batch) {
		put(b, dmProgBuf1, csrSet(csrData0))
		for _, n := range ns {
			put(b, dmProgBuf0, csrRead(uint32(n)))
			put(b, dmCommand, cmdExec)
			get(b, dmData0)
		}
	})
}

// csrValue is a CSR and what is written there.
type csrValue struct{ csr, v uint32 }

// SetCSR writes a control register of the halted hart.
func (h *Hart) SetCSR(ctx context.Context, n int, v uint32) error {
	return h.setCSRs(ctx, csrValue{uint32(n), v})
}

func (h *Hart) setCSRs(ctx context.Context, values ...csrValue) error {
	if err := h.load(ctx); err != nil {
		return err
	}
	h.scratch[0], h.dpcKnown = true, false
	_, err := h.commands(ctx, func(b *mem.Batch) {
		put(b, dmProgBuf0, csrRead(csrData0))
		for _, c := range values {
			put(b, dmData0, c.v)
			put(b, dmProgBuf1, csrSet(c.csr))
			put(b, dmCommand, cmdExec)
		}
	})
	return err
}

// PC is the address of the next instruction.
func (h *Hart) PC(ctx context.Context) (uint32, error) {
	if h.dpcKnown {
		return h.dpc, nil
	}
	v, err := h.CSR(ctx, csrDPC)
	h.dpc, h.dpcKnown = v, err == nil
	return v, err
}

// SetPC lets the hart go on at another address.
func (h *Hart) SetPC(ctx context.Context, pc uint32) error { return h.SetCSR(ctx, csrDPC, pc) }

// Cause is why a hart is in Debug Mode (dcsr.cause).
type Cause uint32

// The causes of 0.13.2, table 4.1.
const (
	CauseEbreak    Cause = 1
	CauseTrigger   Cause = 2
	CauseHalt      Cause = 3
	CauseStep      Cause = 4
	CauseResetHalt Cause = 5
)

// Stopped reads why and where the hart stopped.
func (h *Hart) Stopped(ctx context.Context) (Cause, uint32, error) {
	v, err := h.CSRs(ctx, csrDCSR, csrDPC)
	if err != nil {
		return 0, 0, err
	}
	h.dpc, h.dpcKnown = v[1], true
	return Cause(v[0] >> 6 & 7), v[1], nil
}

// Enable makes breakpoint instructions enter Debug Mode.
func (h *Hart) Enable(ctx context.Context) error { return h.modes(ctx, dcsrEbreakM|dcsrEbreakU, 0) }

// modes changes bits of dcsr.
func (h *Hart) modes(ctx context.Context, set, clear uint32) error {
	v, err := h.CSR(ctx, csrDCSR)
	if err != nil {
		return err
	}
	if want := v&^clear | set; want != v {
		return h.SetCSR(ctx, csrDCSR, want)
	}
	return nil
}

// Privilege is the mode the hart executes in: 3 machine, 0 user.
func (h *Hart) Privilege(ctx context.Context) (uint32, error) {
	v, err := h.CSR(ctx, csrDCSR)
	return v & dcsrPrv, err
}

// SetPrivilege changes it.
func (h *Hart) SetPrivilege(ctx context.Context, prv uint32) error {
	if prv&2 != 0 {
		prv = 3
	} else {
		prv = 0
	}
	return h.modes(ctx, prv, dcsrPrv)
}

// Instructions that set and clear dcsr.step and need no register.
const (
	setStep   uint32 = csrDCSR<<20 | 4<<15 | 6<<12 | 0x73 // csrsi dcsr, 4
	clearStep uint32 = csrDCSR<<20 | 4<<15 | 7<<12 | 0x73 // csrci dcsr, 4
	ebreak    uint32 = 0x00100073
)

// Step executes one instruction with interrupts off and reads the registers
// behind it, all in one run. Triggers have to be off where the hart stands.
func (h *Hart) Step(ctx context.Context) error {
	sel := ctlActive | h.id<<ctlHartShift
	// Not twice: a retry could step again.
	b := h.m.ap.Batch()
	put(b, dmControl, sel)
	put(b, dmProgBuf0, setStep)
	put(b, dmProgBuf1, ebreak)
	put(b, dmCommand, cmdExec)
	for i, dirty := range h.scratch {
		if dirty {
			put(b, dmData0, h.x[s0+i])
			put(b, dmCommand, cmdWrite|uint32(s0+i))
		}
	}
	put(b, dmControl, sel|ctlResume)
	asked := b.Len()
	b.Apart()
	put(b, dmControl, sel)
	for n := range uint32(31) {
		put(b, dmCommand, cmdRead|(n+1))
		get(b, dmData0)
	}
	put(b, dmProgBuf0, csrRead(csrDPC))
	put(b, dmProgBuf1, csrSet(csrData0))
	put(b, dmCommand, cmdExec)
	get(b, dmData0)
	put(b, dmProgBuf0, clearStep)
	put(b, dmProgBuf1, ebreak)
	put(b, dmCommand, cmdExec)
	get(b, dmAbstractCS)
	put(b, dmControl, ctlActive|ctlBoth)
	v, err := b.Run(ctx)
	h.forget()
	var e *swd.Error
	switch {
	case err == nil:
		if err = h.check(ctx, v[32]); err == nil {
			copy(h.x[1:], v[:31])
			h.known, h.scratch[0] = true, true
			h.dpc, h.dpcKnown = v[31], true
			return nil
		}
		var ce *CommandError
		if !errors.As(err, &ce) || ce.Code != 4 {
			return err
		}
		// The instruction takes its time.
	case errors.As(err, &e) && e.Kind == swd.Parity && e.Done >= asked:
		// What was read behind the step was spoilt. The step was done.
		if _, err := h.m.ap.Do(ctx, func(b *mem.Batch) {
			put(b, dmAbstractCS, 7<<8)
			put(b, dmControl, ctlActive|ctlBoth)
		}); err != nil {
			return err
		}
	default:
		return err
	}
	return h.slowStep(ctx)
}

// slowStep waits for a step that was begun. An instruction that waits is left
// after a while, as if it were done.
func (h *Hart) slowStep(ctx context.Context) error {
	end := time.Now().Add(stepTime)
	for try := 0; ; try++ {
		s, err := h.m.Status(ctx)
		if err != nil {
			return err
		}
		if s.Halted>>h.id&1 != 0 {
			break
		}
		if try > 3 && time.Now().After(end) {
			if err := h.m.Halt(ctx, 1<<h.id); err != nil {
				return err
			}
			break
		}
		if try > 3 {
			if err := pause(ctx, time.Millisecond); err != nil {
				return err
			}
		}
	}
	return h.modes(ctx, 0, dcsrStep)
}

// stepTime bounds a step: one instruction, which may be a wait for an interrupt.
const stepTime = 20 * time.Millisecond

// release turns off what a debugger turned on.
func (h *Hart) release(ctx context.Context) error {
	if err := h.SetTriggers(ctx, nil); err != nil {
		return err
	}
	return h.modes(ctx, 0, dcsrEbreakM|dcsrEbreakU|dcsrStep)
}

// Enter prepares the hart to execute code at pc in machine mode with interrupts
// off; args go into a0 and up.
func (h *Hart) Enter(ctx context.Context, pc, sp uint32, args ...uint32) error {
	if err := h.SetGPR(ctx, 2, sp); err != nil {
		return err
	}
	for i, a := range args {
		if err := h.SetGPR(ctx, 10+i, a); err != nil {
			return err
		}
	}
	v, err := h.CSRs(ctx, csrMstatus, csrDCSR)
	if err != nil {
		return err
	}
	const mie = 1 << 3
	return h.setCSRs(ctx, csrValue{csrMstatus, v[0] &^ mie},
		csrValue{csrDCSR, v[1]&^dcsrStep | dcsrEbreakM | dcsrPrv}, csrValue{csrDPC, pc})
}
