package sim

import (
	"context"
	"errors"
	"time"

	"github.com/stem-hw/stem-hw/target"
)

// End is how a run ended.
type End string

const (
	EndExit        End = "exit"        // the program ended by itself: Stop.Code
	EndCrash       End = "crash"       // it cannot go on: Stop.Crash
	EndAsleep      End = "asleep"      // every core sleeps for ever
	EndCycles      End = "cycles"      // the cycles were spent
	EndTimeout     End = "timeout"     // the time was up
	EndExpected    End = "expected"    // the last expected text came
	EndFailText    End = "fail-text"   // a failing text came: Text
	EndInterrupted End = "interrupted" // the context was cancelled
)

// RunOptions say when a run is over.
type RunOptions struct {
	// Expect are texts that have to be printed, in this order; the run ends
	// with the line of the last one. Fail are texts that end it at once.
	Expect, Fail []string
	// AnyOrder lets the expected texts come in any order.
	AnyOrder bool
	// Timeout is wall-clock time, Cycles simulated time; 0 is no limit.
	Timeout time.Duration
	Cycles  uint64
}

// Outcome is how a run ended.
type Outcome struct {
	End End
	// Stop is the state in which the cores stopped.
	Stop target.Stop
	// Text is the failing text that came.
	Text string
	// Pending are the expected texts that did not come.
	Pending []string
}

// lineTime is how long a line may take to end once its text decided the run,
// in seconds of simulated time: a hundred characters at 115200 baud.
const lineTime = 0.01

// decision is what the output has decided.
type decision struct {
	match *matcher
	made  bool
	// by is the simulated time at which the line has to be over.
	by float64
}

// Run starts the loaded program and waits until it is over.
func (t *Target) Run(ctx context.Context, o RunOptions) (Outcome, error) {
	m := newMatcher(o.Expect, o.Fail, o.AnyOrder)
	err := t.do(ctx, func() error {
		t.decision = decision{match: m}
		t.cycles = o.Cycles
		return nil
	})
	if err == nil {
		err = t.Start(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return Outcome{End: EndInterrupted, Pending: m.pending()}, nil
		}
		return Outcome{}, err
	}
	wait, cancel := ctx, func() {}
	if o.Timeout > 0 {
		wait, cancel = context.WithTimeout(ctx, o.Timeout)
	}
	defer cancel()
	out := Outcome{}
	out.Stop, err = t.Wait(wait)
	if errors.Is(err, target.ErrRunning) {
		out.End = EndTimeout
		if ctx.Err() != nil {
			out.End = EndInterrupted
		}
		// The outer context may be over; stopping is short.
		if err := t.Halt(context.WithoutCancel(ctx)); err != nil {
			return out, err
		}
		out.Stop, err = t.Wait(context.WithoutCancel(ctx))
	}
	if err != nil {
		return out, err
	}
	out.Pending, out.Text = m.pending(), m.failed
	// What the output decided came before whatever stopped the cores.
	switch {
	case m.failed != "":
		out.End = EndFailText
	case out.End == EndInterrupted:
	case len(o.Expect) > 0 && len(out.Pending) == 0:
		out.End = EndExpected
	}
	if out.End != "" {
		return out, nil
	}
	switch out.Stop.Reason {
	case target.StopExit:
		out.End = EndExit
	case target.StopCrash:
		out.End = EndCrash
	case target.StopAsleep:
		out.End = EndAsleep
	case target.StopCycles:
		out.End = EndCycles
	default:
		// Somebody else halted it.
		out.End = EndInterrupted
	}
	return out, nil
}

// decide looks at what was printed on a stream and returns how much of it is
// still to be shown.
func (t *Target) decide(stream string, p []byte) int {
	d := &t.decision
	if d.match == nil || t.halting {
		return len(p)
	}
	from := 0
	if !d.made {
		n, decided := d.match.put(stream, p)
		if !decided {
			return len(p)
		}
		d.made, d.by, from = true, t.m.Seconds()+lineTime, n
		t.decidedOn = stream
	}
	if stream != t.decidedOn {
		return 0
	}
	for i := max(from-1, 0); i < len(p); i++ {
		if p[i] == '\n' {
			t.halting = true
			return i + 1
		}
	}
	return len(p)
}
