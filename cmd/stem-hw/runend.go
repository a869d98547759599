package main

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/symbols"
	"github.com/stem-hw/stem-hw/target"
)

// runEnd is the last event: how the run ended and what it took.
type runEnd struct {
	runEvent
	End          sim.End   `json:"end"`
	Status       *int      `json:"exit_status,omitempty"`
	How          string    `json:"how,omitempty"`
	Match        string    `json:"text,omitempty"`
	Pending      []string  `json:"pending,omitempty"`
	Core         int       `json:"core"`
	PC           uint32    `json:"pc"`
	Crash        *runCrash `json:"crash,omitempty"`
	Cycles       uint64    `json:"cycles"`
	Seconds      float64   `json:"seconds"`
	Instructions []uint64  `json:"instructions"`
	Simulated    bool      `json:"simulated"`
}

// Kind is "run-end".
func (runEnd) Kind() string { return "run-end" }

// runCrash describes a crash.
type runCrash struct {
	Cause     string              `json:"cause,omitempty"`
	Core      int                 `json:"core"`
	PC        uint32              `json:"pc"`
	Registers []target.NamedValue `json:"registers"`
	Frames    []symbols.Frame     `json:"frames"`
}

// end reports the end and returns the fault it amounts to, if any.
func (s *runSink) end(out sim.Outcome, st target.Stats, f *runFlags) error {
	s.flush()
	crash := s.crash(out.Stop.Crash)
	if s.a.ui.JSON() {
		e := runEnd{
			End: out.End, How: out.Stop.How, Match: out.Text, Pending: out.Pending,
			Core: out.Stop.Core, PC: out.Stop.PC, Crash: crash,
			Cycles: st.Cycles, Seconds: st.Seconds, Instructions: st.Instructions, Simulated: true,
		}
		if out.End == sim.EndExit {
			e.Status = &out.Stop.Code
		}
		s.event(e)
	}
	err := s.verdict(out, crash, f)
	s.counts(st)
	if s.broken != nil {
		return &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusInternal,
			Summary: "standard output cannot be written", Err: s.broken,
		}
	}
	return err
}

// counts ends with instructions and cycles, with -v.
func (s *runSink) counts(st target.Stats) {
	for i, n := range st.Instructions {
		s.a.ui.Verbose(1, "core %d: %d instructions", i, n)
	}
	s.a.ui.Verbose(1, "%d cycles, %.6f s of simulated time", st.Cycles, st.Seconds)
}

// verdict says how the run ended and what that means for the exit status.
func (s *runSink) verdict(out sim.Outcome, crash *runCrash, f *runFlags) error {
	say := s.a.ui.Say
	pending := len(out.Pending) > 0
	switch out.End {
	case sim.EndExit:
		if out.Stop.Code != 0 {
			return exitFault(out, crash, f)
		}
		if pending {
			return pendingFault("the program ended before it printed what was expected", faults.StatusFirmware, out)
		}
		say("the program ended: %s, status 0", out.Stop.How)
	case sim.EndCrash:
		return crashFault(crash)
	case sim.EndFailText:
		return &faults.Fault{
			Code: faults.CodeFirmwareFail, Status: faults.StatusFirmware,
			Summary: "the program printed a text that means failure",
			Seen:    fmt.Sprintf("%q", out.Text),
		}
	case sim.EndAsleep:
		if pending {
			return pendingFault("every core sleeps for ever, and an expected text did not come", faults.StatusFirmware, out)
		}
		if out.Stop.How != "" {
			say("the program ended: %s", out.Stop.How)
		} else {
			say("the program ended: every core sleeps and nothing will wake one")
		}
	case sim.EndCycles:
		if pending {
			return pendingFault("the cycles are spent, and an expected text did not come", faults.StatusTimeout, out)
		}
		say("stopped: the cycles are spent")
	case sim.EndTimeout:
		if pending {
			return pendingFault("the time is up, and an expected text did not come", faults.StatusTimeout, out)
		}
		say("stopped: the time is up")
	case sim.EndInterrupted:
		return &faults.Fault{Code: faults.CodeInterrupted, Status: faults.StatusInterrupted, Summary: "interrupted"}
	case sim.EndExpected:
		say("the expected text came")
	}
	return nil
}

func pendingFault(summary string, status faults.Status, out sim.Outcome) error {
	code := faults.CodeTextPending
	f := &faults.Fault{
		Code: code, Status: status, Summary: summary,
		Wanted: fmt.Sprintf("%q", out.Pending[0]),
	}
	if n := len(out.Pending) - 1; n > 0 {
		f.Wanted += fmt.Sprintf(" and %d more", n)
	}
	return f
}

// exitFault is a program that ended with a status of its own.
func exitFault(out sim.Outcome, crash *runCrash, f *runFlags) error {
	fault := &faults.Fault{
		Code: faults.CodeFirmwareFail, Status: faults.StatusFirmware,
		Summary: fmt.Sprintf("the program ended with status %d", out.Stop.Code),
		Seen:    out.Stop.How,
	}
	if f.exitStatus {
		fault.Status = faults.Status(out.Stop.Code & 0xff)
		if fault.Status == 0 {
			fault.Status = 255
		}
	}
	if crash != nil {
		fault.Details = backtrace(crash.Frames)
	}
	return fault
}

// crashFault is the report of a crash: cause, place, registers, callers.
func crashFault(c *runCrash) error {
	f := &faults.Fault{
		Code: faults.CodeTargetCrashed, Status: faults.StatusFirmware,
		Summary: "the program crashed: " + c.Cause,
	}
	at := fmt.Sprintf("core %d at %#08x", c.Core, c.PC)
	if len(c.Frames) > 0 {
		if fn := c.Frames[0]; fn.Function != "" {
			at += " in " + fn.Function
			if p := fn.Place(); p != "" {
				at += ", " + p
			}
		}
	}
	f.Details = append(f.Details, at)
	const perRow = 4
	for i := 0; i < len(c.Registers); i += perRow {
		var b strings.Builder
		for _, r := range c.Registers[i:min(i+perRow, len(c.Registers))] {
			fmt.Fprintf(&b, "  %-4s %08x", r.Name, r.Value)
		}
		f.Details = append(f.Details, strings.TrimPrefix(b.String(), "  "))
	}
	f.Details = append(f.Details, backtrace(c.Frames)...)
	return f
}

func backtrace(frames []symbols.Frame) []string {
	if len(frames) == 0 {
		return nil
	}
	rows := []string{"called from, innermost first:"}
	for i, fr := range frames {
		rows = append(rows, fmt.Sprintf("#%-2d %s", i, fr))
	}
	return rows
}

// crash turns the addresses of a crash into places in the source.
func (s *runSink) crash(c *target.Crash) *runCrash {
	if c == nil {
		return nil
	}
	r := &runCrash{Cause: c.Cause, Core: c.Core, PC: c.PC, Registers: c.Registers, Frames: []symbols.Frame{}}
	for i, pc := range c.Frames {
		look := pc
		if i > 0 {
			look-- // a return address belongs to the call before it
		}
		for _, fr := range s.p.symbols.Frames(look) {
			if i > 0 {
				fr.PC = pc
				if !fr.Inlined && fr.Function != "" {
					fr.Offset++
				}
			}
			r.Frames = append(r.Frames, fr)
		}
	}
	return r
}
