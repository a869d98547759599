package swd

import (
	"context"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/probe/dap"
)

// Access is one access to a register of an access port.
type Access struct {
	// Addr is the register in the space of access ports.
	Addr  uint32
	Write bool
	Value uint32
	// Apart makes it the first of a packet.
	Apart bool
}

// run performs requests of the debug port and turns failures into *Error.
func (p *Port) run(ctx context.Context, reqs []dap.Request) ([]uint32, error) {
	v, err := p.probe.Run(ctx, reqs)
	var te *dap.TransferError
	if !errors.As(err, &te) {
		return v, err
	}
	return v, p.failed(ctx, te)
}

// failed finds out about a failed access and clears its traces.
func (p *Port) failed(ctx context.Context, te *dap.TransferError) error {
	p.selKnown = false
	e := &Error{Done: te.Done}
	switch {
	case te.Ack == dap.AckFault:
		e.Kind = Fault
	case te.Ack == dap.AckWait:
		e.Kind = Wait
	case te.Ack&dap.AckProtocol != 0:
		e.Kind = Parity
	default:
		e.Kind = Silent
	}
	if e.Kind == Silent {
		return e
	}
	value := clearAll
	if e.Kind == Wait {
		value = abort
	}
	// CTRL/STAT is in bank 0, which the failed run may have left.
	v, err := p.probe.Run(ctx, []dap.Request{{Bits: reqSelect}, {Bits: reqCtrlRead}, {Bits: reqAbort, Value: value}})
	var again *dap.TransferError
	switch {
	case errors.As(err, &again):
		if again.Ack != dap.AckFault && again.Ack != dap.AckWait && again.Ack&dap.AckProtocol == 0 {
			e.Kind = Silent
		}
		_ = p.probe.Abort(ctx, value)
	case err != nil:
		return err
	default:
		e.Stat = v[0]
		if e.Kind == Fault && e.Stat&StickyError == 0 {
			// The port itself objected: a word that it got spoilt, or an overrun.
			e.Kind = Parity
		}
	}
	return e
}

// ReadDP reads register a (0, 4, 8 or 12) of a bank of the debug port.
func (p *Port) ReadDP(ctx context.Context, bank, a uint32) (uint32, error) {
	v, err := p.run(ctx, []dap.Request{{Bits: reqSelect, Value: bank}, {Bits: uint8(a&0xc) | dap.BitRead}, {Bits: reqSelect}})
	if err != nil {
		return 0, err
	}
	p.sel, p.selKnown = 0, true
	return v[0], nil
}

// Do performs accesses in order and returns what the reads read. The error is an
// *Error if one of them failed.
func (p *Port) Do(ctx context.Context, accesses []Access) ([]uint32, error) {
	reqs := make([]dap.Request, 0, len(accesses)+8)
	var at []int // index of the access of each request, once a SELECT came between
	sel, known := p.sel, p.selKnown
	for i, a := range accesses {
		apart := a.Apart
		if want := a.Addr &^ 0xf; !known || want != sel {
			if at == nil {
				at = make([]int, len(reqs), len(accesses)+16)
				for k := range at {
					at[k] = k
				}
			}
			at = append(at, i)
			reqs = append(reqs, dap.Request{Bits: reqSelect, Value: want, Apart: apart})
			apart = false
			sel, known = want, true
		}
		bits := dap.BitAP | uint8(a.Addr&0xc)
		if !a.Write {
			bits |= dap.BitRead
		}
		reqs = append(reqs, dap.Request{Bits: bits, Value: a.Value, Apart: apart})
		if at != nil {
			at = append(at, i)
		}
	}
	v, err := p.run(ctx, reqs)
	if err == nil {
		p.sel, p.selKnown = sel, known
		return v, nil
	}
	p.selKnown = false
	var e *Error
	if errors.As(err, &e) && len(accesses) > 0 {
		i, all := min(e.Done, len(reqs)-1), e.Done >= len(reqs)
		if at != nil {
			i = at[i]
		}
		e.Done, e.Addr, e.Write = i, accesses[i].Addr, accesses[i].Write
		if all {
			e.Done = len(accesses)
		}
	}
	return v, err
}

// ReadAP reads one register of an access port.
func (p *Port) ReadAP(ctx context.Context, addr uint32) (v uint32, err error) {
	err = p.Retry(ctx, func() error {
		got, err := p.Do(ctx, []Access{{Addr: addr}})
		if err == nil {
			v = got[0]
		}
		return err
	})
	return v, err
}

// tries is how often something is tried in all, and triesPerClock how often
// before the clock is halved.
const (
	tries         = 9
	triesPerClock = 3
)

// Retry does f, and again if it failed in a way that may go away. f has to be
// something that may be done twice.
func (p *Port) Retry(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		var e *Error
		if err == nil || !errors.As(err, &e) || !e.Transient() || try == tries || ctx.Err() != nil {
			return err
		}
		if e.Kind == Wait && try >= 2 {
			return err // it waited long enough twice
		}
		if try%triesPerClock == 0 {
			if err := p.slower(ctx); err != nil {
				return err
			}
		}
		if e.Kind == Silent {
			if err := p.again(ctx); err != nil {
				return err
			}
		}
	}
}

// slower halves the clock, if there is room.
func (p *Port) slower(ctx context.Context) error {
	if p.clock <= slowest {
		return nil
	}
	was := p.clock
	p.clock = max(p.clock/2, slowest)
	p.o.Notice(fmt.Sprintf("the SWD clock is %d kHz now: at %d kHz there were errors on the wires", p.clock/1000, was/1000))
	return p.probe.SetClock(ctx, p.clock)
}

// again opens a port that fell silent: the chip may have lost power meanwhile.
func (p *Port) again(ctx context.Context) error {
	was := p.dpidr
	ok, garbled, err := p.wake(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return p.noAnswer(ctx, garbled)
	}
	if p.dpidr != was {
		return fmt.Errorf("another debug port answers now: DPIDR 0x%08x, it was 0x%08x", p.dpidr, was)
	}
	if !p.powered {
		return p.clear(ctx)
	}
	p.powered = false // PowerUp calls Retry, which must not come back here
	if err := p.PowerUp(ctx); err != nil {
		return err
	}
	return nil
}
