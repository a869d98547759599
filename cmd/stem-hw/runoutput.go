package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/symbols"
	"github.com/stem-hw/stem-hw/ui"
)

// runSink is where a run's events go: text to the terminal, or one line of JSON
// each. Its callbacks run on the simulation's goroutine.
type runSink struct {
	a      *app
	p      *program
	filter *ui.Filter // nil with --json
	text   io.Writer
	lines  *lineBuffer // makes events of the output, with --json
	stop   func()      // ends the run

	mu     sync.Mutex
	broken error // standard output failed
}

func (a *app) newRunSink(p *program, f *runFlags, stop func()) *runSink {
	s := &runSink{a: a, p: p, text: a.ui.Data(), stop: stop}
	s.lines = newLineBuffer(s.outputEvent)
	if !a.ui.JSON() && !f.raw {
		s.filter = ui.NewFilter(a.ui.Data())
		s.text = s.filter
	}
	return s
}

// runEvent is a line of the stream that has nothing to say as text.
type runEvent struct{}

// Text writes nothing: as text, events are talk.
func (runEvent) Text(*ui.Text) {}

// runStart is the first event.
type runStart struct {
	runEvent
	File    string `json:"file"`
	Machine string `json:"machine"`
	Why     string `json:"why"`
	// Board is the lasting board it runs on; empty is one that is thrown away.
	Board     string    `json:"board,omitempty"`
	Simulated bool      `json:"simulated"`
	Speed     sim.Speed `json:"speed"`
}

// Kind is "run-start".
func (runStart) Kind() string { return "run-start" }

// runOutput is what the program printed: whole lines where they come quickly.
type runOutput struct {
	runEvent
	Stream  string `json:"stream"`
	Printed string `json:"text"`
	// Base64 has the bytes when they are no UTF-8.
	Base64 string `json:"base64,omitempty"`
}

// Kind is "run-output".
func (runOutput) Kind() string { return "run-output" }

// runNotice is a remark of the simulator.
type runNotice struct {
	runEvent
	Remark   string `json:"text"`
	Core     int    `json:"core"`
	Address  uint32 `json:"address,omitempty"`
	PC       uint32 `json:"pc,omitempty"`
	Function string `json:"function,omitempty"`
	Place    string `json:"place,omitempty"`
}

// Kind is "run-notice".
func (runNotice) Kind() string { return "run-notice" }

// runRestart says that the program reset the chip.
type runRestart struct {
	runEvent
	Core int `json:"core"`
}

// Kind is "run-restart".
func (runRestart) Kind() string { return "run-restart" }

func (s *runSink) begin(speed sim.Speed) {
	a := s.a
	if a.ui.JSON() {
		start := runStart{File: s.p.path, Machine: s.p.machine, Why: s.p.why, Simulated: true, Speed: speed}
		if s.p.board != nil {
			start.Board = s.p.board.Selector()
		}
		s.event(start)
		for _, d := range s.p.doubts {
			s.event(runNotice{Remark: d, Core: -1})
		}
		if why := needsRadio(s.p); why != "" {
			s.event(runNotice{Remark: why, Core: -1})
		}
		return
	}
	on := "a simulated " + s.p.machine
	switch {
	case s.p.board == nil && s.p.fallback:
		on = "a simulated " + s.p.machine + " that is thrown away, since no board is named or pinned"
	case s.p.board != nil && s.p.board.Selector() != "sim":
		on = "the simulated board " + s.p.board.Selector()
	}
	if s.p.why != "named" {
		on += ": " + s.p.why
	}
	a.ui.Say("running on %s", on)
	for _, w := range s.p.image.Warnings {
		a.ui.Verbose(1, "%s", w)
	}
	for _, d := range s.p.doubts {
		a.ui.Warn("%s", d)
	}
	if why := needsRadio(s.p); why != "" {
		a.ui.Note("%s", why)
	}
}

func (s *runSink) event(r ui.Result) {
	s.failed(s.a.ui.Event(r))
}

// failed ends the run when standard output cannot be written.
func (s *runSink) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.broken == nil {
		s.broken = err
		s.stop()
	}
}

// output shows what the program printed.
func (s *runSink) output(stream string, p []byte) {
	if !s.a.ui.JSON() {
		_, err := s.text.Write(p)
		s.failed(err)
		return
	}
	s.lines.put(stream, p)
}

func (s *runSink) outputEvent(stream string, p []byte) {
	o := runOutput{Stream: stream, Printed: string(p)}
	if !utf8.Valid(p) {
		o.Printed = strings.ToValidUTF8(o.Printed, "\ufffd")
		o.Base64 = base64.StdEncoding.EncodeToString(p)
	}
	s.event(o)
}

// flush shows what was held back.
func (s *runSink) flush() {
	s.lines.flush(true)
	if s.filter != nil {
		s.failed(s.filter.Close())
	}
}

// notice tells a remark of the simulator with the place it is about.
func (s *runSink) notice(n machine.Notice) {
	e := runNotice{Remark: n.Text, Core: n.Core, Address: n.Addr, PC: n.PC}
	if n.PC != 0 {
		fr := s.p.frame(n.PC)
		e.Function, e.Place = fr.Function, fr.Place()
	}
	if s.a.ui.JSON() {
		s.lines.flush(false)
		s.event(e)
		return
	}
	where := ""
	if n.PC != 0 {
		where = fmt.Sprintf(" (core %d at %#08x", n.Core, n.PC)
		if e.Function != "" {
			where += " in " + e.Function
		}
		if e.Place != "" {
			where += ", " + e.Place
		}
		where += ")"
	}
	s.a.ui.Note("%s%s", n.Text, where)
}

func (s *runSink) restarted(core int) {
	if s.a.ui.JSON() {
		s.lines.flush(false)
		s.event(runRestart{Core: core})
		return
	}
	s.a.ui.Note("the program reset the chip")
}

// frame is the place of an address in the program.
func (p *program) frame(pc uint32) symbols.Frame {
	fs := p.symbols.Frames(pc)
	return fs[len(fs)-1]
}
