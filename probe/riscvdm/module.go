package riscvdm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/probe/mem"
)

// Registers of the module.
const (
	dmData0        = 0x04
	dmControl      = 0x10
	dmStatus       = 0x11
	dmHAWindow     = 0x15
	dmAbstractCS   = 0x16
	dmCommand      = 0x17
	dmAbstractAuto = 0x18
	dmProgBuf0     = 0x20
	dmProgBuf1     = 0x21
	dmSBCS         = 0x38
	dmSBAddress0   = 0x39
	dmSBData0      = 0x3c
	dmHaltSum0     = 0x40
)

// Bits of dmcontrol.
const (
	ctlActive       uint32 = 1 << 0
	ctlNDMReset     uint32 = 1 << 1
	ctlClrResetHalt uint32 = 1 << 2
	ctlSetResetHalt uint32 = 1 << 3
	ctlBoth         uint32 = 1 << 26 // hasel: the window, which is both harts
	ctlAckReset     uint32 = 1 << 28
	ctlHartReset    uint32 = 1 << 29
	ctlResume       uint32 = 1 << 30
	ctlHalt         uint32 = 1 << 31
	ctlHartShift           = 16
)

// Bits of dmstatus.
const (
	stAllHalted     uint32 = 1 << 9
	stAnyUnavail    uint32 = 1 << 12
	stAllUnavail    uint32 = 1 << 13
	stAllResumeAck  uint32 = 1 << 17
	stAnyHaveReset  uint32 = 1 << 18
	stAuthenticated uint32 = 1 << 7
)

// Harts is the number of harts of the module.
const Harts = 2

// Module is the debug module.
type Module struct {
	ap    *mem.AP
	bus   mem.Chunks
	regs  mem.Chunks
	harts [Harts]Hart
	// ResetSeen: a hart was reset since it was set to false.
	ResetSeen bool
}

// Status is what the harts do.
type Status struct {
	// Halted is a mask of the harts that are in Debug Mode.
	Halted uint32
	// Unavailable: at least one hart is held in reset or has no power.
	Unavailable bool
	// Reset: a hart was reset since it was acknowledged last.
	Reset bool
}

// put adds a write of a module register to a batch, get a read.
func put(b *mem.Batch, reg, v uint32) { b.Write(4*reg, v) }
func get(b *mem.Batch, reg uint32)    { b.Read(4 * reg) }

// Open looks at the module behind an access port and turns it on. The harts go on
// with what they do.
func Open(ctx context.Context, ap *mem.AP) (*Module, error) {
	m := &Module{ap: ap, bus: mem.Chunks{Port: ap.Port()}, regs: mem.Chunks{Port: ap.Port()}}
	for i := range m.harts {
		m.harts[i] = Hart{m: m, id: uint32(i)}
	}
	v, err := ap.Do(ctx, func(b *mem.Batch) {
		put(b, dmControl, ctlActive)
		get(b, dmControl)
		get(b, dmStatus)
		put(b, dmHAWindow, 1<<Harts-1)
		put(b, dmAbstractAuto, 0)
	})
	if err != nil {
		return nil, err
	}
	switch {
	case v[0]&ctlActive == 0:
		return nil, errors.New("the debug module does not become active")
	case v[1]&0xf != 2:
		return nil, fmt.Errorf("the debug module has version %d of its specification, not 0.13", v[1]&0xf)
	case v[1]&stAuthenticated == 0:
		return nil, errors.New("the debug module wants an authentication")
	}
	return m, m.acknowledge(ctx)
}

// acknowledge forgets resets that are told of.
func (m *Module) acknowledge(ctx context.Context) error {
	_, err := m.ap.Do(ctx, func(b *mem.Batch) {
		put(b, dmControl, ctlActive|ctlBoth|ctlAckReset)
		put(b, dmControl, ctlActive|ctlBoth)
	})
	return err
}

// Hart returns a hart.
func (m *Module) Hart(i int) *Hart { return &m.harts[i&1] }

// Port is the access port of the module.
func (m *Module) Port() *mem.AP { return m.ap }

// Status asks what the harts do.
func (m *Module) Status(ctx context.Context) (Status, error) {
	v, err := m.ap.Do(ctx, func(b *mem.Batch) {
		get(b, dmHaltSum0)
		get(b, dmStatus)
	})
	if err != nil {
		return Status{}, err
	}
	m.ResetSeen = m.ResetSeen || v[1]&stAnyHaveReset != 0
	return Status{Halted: v[0] & (1<<Harts - 1), Unavailable: v[1]&stAnyUnavail != 0, Reset: m.ResetSeen}, nil
}

// TakeReset forgets that harts were reset.
func (m *Module) TakeReset(ctx context.Context) error {
	m.ResetSeen = false
	return m.acknowledge(ctx)
}

// selection is what dmcontrol takes to mean the harts of a mask.
func selection(mask uint32) uint32 {
	switch mask {
	case 1:
		return ctlActive
	case 2:
		return ctlActive | 1<<ctlHartShift
	}
	return ctlActive | ctlBoth
}

// haltTime bounds the wait for harts to halt.
const haltTime = 200 * time.Millisecond

// StuckError is harts that do not do what they are told.
type StuckError struct {
	What   string
	Status uint32 // dmstatus
}

// Error describes it.
func (e *StuckError) Error() string {
	how := "they are there and go on"
	if e.Status&stAnyUnavail != 0 {
		how = "at least one is held in reset"
	}
	return fmt.Sprintf("the harts do not %s: %s (dmstatus 0x%08x)", e.What, how, e.Status)
}

// Halt stops the harts of a mask at the same moment and waits for it.
func (m *Module) Halt(ctx context.Context, mask uint32) error {
	return m.command(ctx, "halt", mask, ctlHalt, stAllHalted)
}

// Resume lets the harts of a mask go on at the same moment.
func (m *Module) Resume(ctx context.Context, mask uint32) error {
	for i := range m.harts {
		if mask>>i&1 != 0 {
			if err := m.harts[i].restore(ctx); err != nil {
				return err
			}
		}
	}
	return m.command(ctx, "resume", mask, ctlResume, stAllResumeAck)
}

// command asks something of harts and waits until all say that it is done.
func (m *Module) command(ctx context.Context, what string, mask, bit, done uint32) error {
	sel := selection(mask)
	v, err := m.ap.Do(ctx, func(b *mem.Batch) {
		put(b, dmControl, sel|bit)
		get(b, dmStatus)
		put(b, dmControl, ctlActive|ctlBoth)
	})
	if err != nil {
		return err
	}
	end := time.Now().Add(haltTime)
	for try := 0; v[0]&done == 0; try++ {
		if try > 3 && time.Now().After(end) {
			return &StuckError{what, v[0]}
		}
		if try > 3 {
			if err := pause(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		v, err = m.ap.Do(ctx, func(b *mem.Batch) {
			put(b, dmControl, sel|bit&ctlHalt)
			get(b, dmStatus)
			put(b, dmControl, ctlActive|ctlBoth)
		})
		if err != nil {
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

// HaltOnReset makes both harts stop before their first instruction after each
// reset.
func (m *Module) HaltOnReset(ctx context.Context, on bool) error {
	bit := ctlClrResetHalt
	if on {
		bit = ctlSetResetHalt
	}
	_, err := m.ap.Do(ctx, func(b *mem.Batch) {
		put(b, dmControl, ctlActive|ctlBoth|bit)
		put(b, dmControl, ctlActive|ctlBoth)
	})
	return err
}

// ResetHarts resets both harts, and on this chip nothing else.
func (m *Module) ResetHarts(ctx context.Context) error {
	m.Forget()
	_, err := m.ap.Do(ctx, func(b *mem.Batch) {
		put(b, dmControl, ctlActive|ctlBoth|ctlNDMReset)
		put(b, dmControl, ctlActive|ctlBoth)
	})
	return err
}

// WaitHalted waits until both harts are in Debug Mode.
func (m *Module) WaitHalted(ctx context.Context, limit time.Duration) error {
	end := time.Now().Add(limit)
	for try := 0; ; try++ {
		s, err := m.Status(ctx)
		if err != nil {
			return err
		}
		if s.Halted == 1<<Harts-1 {
			m.Forget()
			return nil
		}
		if try > 3 && time.Now().After(end) {
			v, err := m.ap.ReadWord(ctx, 4*dmStatus)
			if err != nil {
				return err
			}
			return &StuckError{"stop behind the reset", v}
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// Forget makes what is known of the harts' registers unknown: they were reset.
func (m *Module) Forget() {
	for i := range m.harts {
		m.harts[i].forget()
	}
}

// Release turns everything off that a debugger turned on and lets the harts run.
func (m *Module) Release(ctx context.Context) error {
	if err := m.HaltOnReset(ctx, false); err != nil {
		return err
	}
	if err := m.Halt(ctx, 3); err != nil {
		return err
	}
	for i := range m.harts {
		if err := m.harts[i].release(ctx); err != nil {
			return err
		}
	}
	if err := m.Resume(ctx, 3); err != nil {
		return err
	}
	_, err := m.ap.Do(ctx, func(b *mem.Batch) { put(b, dmControl, 0) })
	return err
}
