package cortexm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/swd"
)

// Registers of the private peripheral bus.
const (
	regCPUID  = 0xe000ed00
	regAIRCR  = 0xe000ed0c
	regCFSR   = 0xe000ed28
	regHFSR   = 0xe000ed2c
	regDFSR   = 0xe000ed30
	regMMFAR  = 0xe000ed34
	regBFAR   = 0xe000ed38
	regCPACR  = 0xe000ed88
	regSFSR   = 0xe000ede4
	regSFAR   = 0xe000ede8
	regDHCSR  = 0xe000edf0
	regDCRSR  = 0xe000edf4
	regDCRDR  = 0xe000edf8
	regDEMCR  = 0xe000edfc
	regFPCtrl = 0xe0002000
	regFPComp = 0xe0002008
	regDWTCtl = 0xe0001000
	regDWT    = 0xe0001020
)

// Bits of DHCSR. Writes need the key.
const (
	dhcsrKey = 0xa05f0000
	cDebugEn = 1 << 0
	cHalt    = 1 << 1
	cStep    = 1 << 2
	cMask    = 1 << 3
	sRegRdy  = 1 << 16
	sHalt    = 1 << 17
	sSleep   = 1 << 18
	sLockup  = 1 << 19
	sSecure  = 1 << 20
	sReset   = 1 << 25
)

// Bits of DEMCR and AIRCR.
const (
	trcEna       = 1 << 24
	vcCoreReset  = 1 << 0
	vcHardErr    = 1 << 10
	resetRequest = 0x05fa0004
)

// Part is what CPUID says of a Cortex-M33 without its revision.
const Part = 0x410fd210

// Core is one Cortex-M33.
type Core struct {
	ap    *mem.AP
	cpuid uint32
	// comparators of FPB and DWT.
	fpb, dwt int

	// resetSeen: DHCSR told of a reset since TakeReset was asked.
	resetSeen bool
	chunks    mem.Chunks
	catch     uint32 // vector catch bits of DEMCR that stay set
	regs      map[int]uint32
}

// Status is what a core does.
type Status struct {
	Halted, Sleeping, LockedUp, Secure bool
	// Reset says that the core was reset since it was asked last.
	Reset bool
}

// Open looks at the core behind an access port. It does not change what the core
// does.
func Open(ctx context.Context, ap *mem.AP) (*Core, error) {
	c := &Core{ap: ap, chunks: mem.Chunks{Port: ap.Port()}}
	v, err := ap.Do(ctx, func(b *mem.Batch) {
		b.Read(regCPUID)
		b.Read(regFPCtrl)
		b.Read(regDWTCtl)
	})
	if err != nil {
		return nil, err
	}
	c.cpuid = v[0]
	c.fpb = int(v[1]>>4&0xf | v[1]>>8&0x70)
	c.dwt = int(v[2] >> 28)
	if c.cpuid&0xff0ffff0 != Part&0xff0ffff0 {
		return nil, fmt.Errorf("CPUID 0x%08x is no Cortex-M33", c.cpuid)
	}
	return c, nil
}

// CPUID is the core's identification.
func (c *Core) CPUID() uint32 { return c.cpuid }

// Breakpoints and Watchpoints are the numbers of comparators.
func (c *Core) Breakpoints() int { return c.fpb }

// Watchpoints is the number of data comparators.
func (c *Core) Watchpoints() int { return c.dwt }

// Memory is the bus as the core sees it.
func (c *Core) Memory() *mem.AP { return c.ap }

// window does a batch on DHCSR, DCRSR, DCRDR and DEMCR.
func (c *Core) window(ctx context.Context, fill func(b *mem.Batch)) ([]uint32, error) {
	return c.ap.Do(ctx, func(b *mem.Batch) {
		b.Window(regDHCSR)
		fill(b)
	})
}

// note keeps what a value of DHCSR says and the next one will not.
func (c *Core) note(v uint32) Status {
	c.resetSeen = c.resetSeen || v&sReset != 0
	return Status{
		Halted: v&sHalt != 0, Sleeping: v&sSleep != 0, LockedUp: v&sLockup != 0, Secure: v&sSecure != 0, Reset: c.resetSeen,
	}
}

// Status asks what the core does.
func (c *Core) Status(ctx context.Context) (Status, error) {
	v, err := c.window(ctx, func(b *mem.Batch) { b.Read(regDHCSR) })
	if err != nil {
		return Status{}, err
	}
	return c.note(v[0]), nil
}

// TakeReset forgets that the core was reset.
func (c *Core) TakeReset() { c.resetSeen = false }

// haltTime bounds the wait for a core to halt: an access of a slow peripheral may
// stall it, up to 65536 cycles of a slow clock.
const haltTime = 200 * time.Millisecond

// StuckError is a core that does not do what it is told.
type StuckError struct {
	What   string
	Status Status
}

// Error describes it.
func (e *StuckError) Error() string {
	how := "it neither sleeps nor is locked up"
	switch {
	case e.Status.LockedUp:
		how = "it is locked up"
	case e.Status.Sleeping:
		how = "it sleeps"
	}
	return fmt.Sprintf("the core does not %s: %s", e.What, how)
}

// Halt stops the core and waits for it.
func (c *Core) Halt(ctx context.Context) error {
	v, err := c.window(ctx, func(b *mem.Batch) {
		b.Write(regDHCSR, dhcsrKey|cDebugEn|cHalt)
		b.Read(regDHCSR)
	})
	if err != nil {
		return err
	}
	return c.wait(ctx, "halt", c.note(v[0]), haltTime)
}

// wait waits until the core is halted.
func (c *Core) wait(ctx context.Context, what string, s Status, limit time.Duration) (err error) {
	end := time.Now().Add(limit)
	for try := 0; !s.Halted; try++ {
		if try > 3 && time.Now().After(end) {
			return &StuckError{what, s}
		}
		if try > 3 {
			if err := pause(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		if s, err = c.Status(ctx); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Resume lets the core run. It must not stand on a breakpoint that is on.
func (c *Core) Resume(ctx context.Context) error {
	c.regs = nil
	_, err := c.ap.Do(ctx, func(b *mem.Batch) {
		b.Write(regFPCtrl, 3)
		b.Write(regDFSR, 0x1f)
		b.Window(regDHCSR)
		b.Write(regDHCSR, dhcsrKey|cDebugEn|cHalt)
		b.Write(regDHCSR, dhcsrKey|cDebugEn)
	})
	return err
}

// stepTime bounds a step: one instruction, which may be a wait for an event.
const stepTime = 20 * time.Millisecond

// Step executes one instruction with breakpoints off and interrupts masked, and
// reads the general registers behind it, all in one run. An instruction that waits
// is left after a while, as if it were done. The masks stay until Resume.
func (c *Core) Step(ctx context.Context) error {
	c.regs = nil
	// Not twice: a retry could step again.
	b := c.ap.Batch()
	b.Write(regFPCtrl, 2)
	b.Write(regDFSR, 0x1f)
	b.Window(regDHCSR)
	b.Write(regDHCSR, dhcsrKey|cDebugEn|cHalt|cMask)
	b.Write(regDHCSR, dhcsrKey|cDebugEn|cStep|cMask)
	asked := b.Len()
	b.Apart()
	b.Read(regDHCSR)
	for _, s := range general {
		b.Write(regDCRSR, uint32(s))
		b.Read(regDHCSR)
		b.Read(regDCRDR)
	}
	var s Status
	v, err := b.Run(ctx)
	var e *swd.Error
	switch {
	case err == nil:
		if s = c.note(v[0]); s.Halted {
			c.keep(v[1:])
			return nil
		}
	case errors.As(err, &e) && e.Kind == swd.Parity && e.Done >= asked:
		// An answer was spoilt; what was written before it was done.
	default:
		return err
	}
	err = c.wait(ctx, "step", s, stepTime)
	var stuck *StuckError
	if errors.As(err, &stuck) && !stuck.Status.LockedUp {
		return c.Halt(ctx)
	}
	return err
}

// keep takes the general registers as they were read; one that was not ready is
// left out of all.
func (c *Core) keep(v []uint32) {
	regs := map[int]uint32{}
	for i, s := range general {
		if c.note(v[2*i]); v[2*i]&sRegRdy == 0 {
			return
		}
		regs[s] = v[2*i+1]
	}
	c.regs = regs
}

// Cause is why a core stopped.
type Cause uint8

const (
	// CauseHalt: it was asked to.
	CauseHalt Cause = iota
	// CauseBreakpoint: a comparator, or a BKPT instruction.
	CauseBreakpoint
	// CauseWatch: a data comparator.
	CauseWatch
	// CauseCatch: an exception or a reset that is caught.
	CauseCatch
)

// Cause reads why the core stopped. For a watchpoint matched says which
// comparators.
func (c *Core) Cause(ctx context.Context) (cause Cause, matched []int, err error) {
	v, err := c.ap.Do(ctx, func(b *mem.Batch) {
		b.Read(regDFSR)
		for i := range c.dwt {
			b.Read(regDWT + 8 + 16*uint32(i))
		}
	})
	if err != nil {
		return 0, nil, err
	}
	switch dfsr := v[0]; {
	case dfsr&(1<<3) != 0:
		cause = CauseCatch
	case dfsr&(1<<2) != 0:
		cause = CauseWatch
	case dfsr&(1<<1) != 0:
		cause = CauseBreakpoint
	}
	for i, fn := range v[1:] {
		if fn&(1<<24) != 0 {
			matched = append(matched, i)
		}
	}
	return cause, matched, nil
}

// CatchFaults makes the core stop where a fault would end in HardFault.
func (c *Core) CatchFaults(ctx context.Context, on bool) error {
	c.catch = 0
	if on {
		c.catch = vcHardErr
	}
	_, err := c.window(ctx, func(b *mem.Batch) { b.Write(regDEMCR, trcEna|c.catch) })
	return err
}

// CatchReset makes the core stop at its reset vector. The core is halted for it:
// turning debug on alone would let a halted one run.
func (c *Core) CatchReset(ctx context.Context, on bool) error {
	v := trcEna | c.catch
	if on {
		v |= vcCoreReset
	}
	_, err := c.window(ctx, func(b *mem.Batch) {
		if on {
			b.Write(regDHCSR, dhcsrKey|cDebugEn|cHalt)
		}
		b.Write(regDEMCR, v)
	})
	return err
}

// RequestReset resets the core, and on this chip nothing else.
func (c *Core) RequestReset(ctx context.Context) error {
	c.regs = nil
	b := c.ap.Batch()
	b.Write(regAIRCR, resetRequest)
	_, err := b.Run(ctx)
	return err
}

// Forget makes what is known of the core unknown: it was reset.
func (c *Core) Forget() {
	c.regs = nil
	c.ap.Forget()
}

// Release turns everything off that a debugger turned on. The core runs on.
func (c *Core) Release(ctx context.Context) error {
	c.regs = nil
	_, err := c.ap.Do(ctx, func(b *mem.Batch) {
		for i := range c.fpb {
			b.Write(regFPComp+4*uint32(i), 0)
		}
		b.Write(regFPCtrl, 2)
		for i := range c.dwt {
			b.Write(regDWT+8+16*uint32(i), 0)
		}
		b.Write(regDFSR, 0x1f)
		b.Window(regDHCSR)
		b.Write(regDEMCR, 0)
		b.Write(regDHCSR, dhcsrKey|cDebugEn)
		b.Write(regDHCSR, dhcsrKey)
	})
	return err
}
