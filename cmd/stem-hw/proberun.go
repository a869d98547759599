package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/symbols"
	"github.com/stem-hw/stem-hw/target"
)

// probeRun is run on the chip behind a probe: what it prints comes over RTT and
// semihosting.
func (a *app) probeRun(ctx context.Context, path string, f *runFlags) (err error) {
	p, err := a.probeProgramFile(path)
	if err != nil {
		return err
	}
	p.why = "behind the probe " + a.probe.name()
	for name, on := range map[string]bool{"--cycles": f.cycles > 0, "--trace": f.trace != "", "--speed": f.speed != ""} {
		if on {
			u := faults.Usage("%s is for simulated boards", name)
			u.Try = []string{"stem-hw run -b sim " + shellQuote(path)}
			return u
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := a.newRunSink(p, f, cancel)
	w := newTextWatch(f.expect, f.fail, s.output)
	t, done, err := a.openProbe(ctx, a.probe, "run", probe.Options{
		Semihosting: &semihost.Options{Dir: f.semihosting, CommandLine: path, Start: time.Now()},
		Output:      w.put, CatchFaults: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	t.StartRTT(0, 0)
	if err := t.Load(ctx, p.image); err != nil {
		return err
	}
	a.ui.Say("running on the RP2350 behind the probe %s", a.probe.name())
	restore, err := a.ui.CharacterInput()
	if err != nil {
		return err
	}
	defer restore()
	if a.streams.In != nil {
		go func() {
			_, _ = io.Copy(t.Console(), a.streams.In)
			t.CloseInput()
		}()
	}
	started := time.Now()
	out, err := w.run(ctx, t, f.timeout)
	restore()
	if err != nil {
		return err
	}
	if c := out.Stop.Crash; c != nil && t.Chip().Arch[c.Core] == image.ArchRISCV {
		c.Frames = probeFrames(ctx, t, p.symbols, c)
	}
	return s.endReal(out, time.Since(started), f)
}

// probeFrames is the call chain of a crash on the chip.
func probeFrames(ctx context.Context, t *probe.Target, known *symbols.Table, c *target.Crash) []uint32 {
	byName := map[string]uint32{}
	for _, r := range c.Registers {
		byName[r.Name] = r.Value
	}
	byNumber := map[int]uint32{}
	for _, r := range t.Describe().Registers {
		if v, ok := byName[r.Name]; ok {
			byNumber[r.Num] = v
		}
	}
	reg := func(n int) (uint32, bool) { v, ok := byNumber[n]; return v, ok }
	read := func(addr uint32, p []byte) bool { return t.ReadMemory(ctx, c.Core, addr, p) == nil }
	return known.Unwind(c.PC, reg, read)
}

// endReal reports the end of a run on a real chip, which counts nothing.
func (s *runSink) endReal(out sim.Outcome, took time.Duration, f *runFlags) error {
	s.flush()
	crash := s.crash(out.Stop.Crash)
	if s.a.ui.JSON() {
		e := runEnd{
			End: out.End, How: out.Stop.How, Match: out.Text, Pending: out.Pending,
			Core: out.Stop.Core, PC: out.Stop.PC, Crash: crash, Seconds: took.Seconds(), Instructions: []uint64{},
		}
		if out.End == sim.EndExit {
			e.Status = &out.Stop.Code
		}
		s.event(e)
	}
	return s.verdict(out, crash, f)
}

// textWatch looks for texts in what a program prints.
type textWatch struct {
	show func(stream string, p []byte)

	mu      sync.Mutex
	texts   *sim.Texts
	decided time.Time
}

func newTextWatch(expect, fail []string, show func(stream string, p []byte)) *textWatch {
	return &textWatch{show: show, texts: sim.NewTexts(expect, fail)}
}

func (w *textWatch) put(stream string, p []byte) {
	w.show(stream, p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.decided.IsZero() {
		if _, done := w.texts.Put(stream, p); done {
			w.decided = time.Now()
		}
	}
}

// over reports whether a text decided the run, and its line had time to end.
func (w *textWatch) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.decided.IsZero() && time.Since(w.decided) > lastLine
}

// lookPause is how long a stop is waited for before the texts are looked at.
const lookPause = 50 * time.Millisecond

// run starts a loaded program and waits until it is over.
func (w *textWatch) run(ctx context.Context, t *probe.Target, limit time.Duration) (sim.Outcome, error) {
	if err := t.Start(ctx); err != nil {
		return sim.Outcome{}, err
	}
	var up <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		up = timer.C
	}
	outcome := func(end sim.End, s target.Stop) (sim.Outcome, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		out := sim.Outcome{End: end, Stop: s, Pending: w.texts.Pending(), Text: w.texts.Failed()}
		if out.Text != "" {
			out.End = sim.EndFailText
		}
		return out, nil
	}
	for {
		look, cancel := context.WithTimeout(ctx, lookPause)
		s, err := t.Wait(look)
		cancel()
		switch {
		case err == nil && s.Reason == target.StopExit:
			return outcome(sim.EndExit, s)
		case err == nil && s.Reason == target.StopCrash:
			return outcome(sim.EndCrash, s)
		case err == nil:
			// A reset of the program's own, or somebody else's halt: it goes on.
			if err := t.Start(ctx); err != nil {
				return sim.Outcome{}, err
			}
		case ctx.Err() != nil:
			return outcome(sim.EndInterrupted, s)
		case !errors.Is(err, target.ErrRunning):
			return sim.Outcome{}, err
		}
		if w.over() {
			return outcome(sim.EndExpected, s)
		}
		select {
		case <-up:
			return outcome(sim.EndTimeout, s)
		default:
		}
	}
}

// probeConsole is console --rtt: the program's channel 0, or another one, for as
// long as it is watched. The program is not stopped.
func (a *app) probeConsole(ctx context.Context, cmd *cobra.Command, _ []string, w *probeWay) (err error) {
	if !flag(cmd, "rtt") {
		u := faults.Usage("through a probe a console needs --rtt")
		u.Try = []string{"stem-hw console --rtt --probe " + w.name(), "stem-hw console -b PORT      (the serial port of the probe)"}
		return u
	}
	f := consoleFlagsOf(cmd)
	view, err := a.newConsoleView(w.name(), f)
	if err != nil {
		return err
	}
	defer view.close()
	var shown error
	watch := newTextWatch(f.expect, f.fail, func(stream string, p []byte) { shown = errors.Join(shown, view.output(stream, p)) })
	t, done, err := a.openProbe(ctx, w, "console", probe.Options{Output: watch.put})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	channel, _ := cmd.Flags().GetInt("channel")
	t.StartRTT(0, channel)
	if f.reset {
		if err := t.Reset(ctx, target.ResetRun); err != nil {
			return err
		}
	}
	restore, err := a.ui.ConsoleInput()
	if err != nil {
		return err
	}
	defer restore()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &consoleRun{a: a, f: f, view: view, texts: watch.texts, keys: make(chan keyPress), stop: cancel}
	if a.streams.InTTY {
		a.ui.Say("[attached to %s; ctrl-t ? for help, ctrl-t q to quit]", w.name())
	}
	go r.readInput(ctx)
	err = r.probeLoop(ctx, t, watch)
	view.close()
	restore()
	r.decided = !watch.decided.IsZero() && watch.texts.Failed() == ""
	return errors.Join(shown, r.verdict(ctx, err))
}

// rttPause is how long to wait between two looks at a channel that was empty.
const rttPause = 10 * time.Millisecond

// probeLoop shows a channel until something ends it.
func (r *consoleRun) probeLoop(ctx context.Context, t *probe.Target, watch *textWatch) error {
	var up <-chan time.Time
	if r.f.timeout > 0 {
		timer := time.NewTimer(r.f.timeout)
		defer timer.Stop()
		up = timer.C
	}
	told := false
	for {
		n, err := t.PollRTT(ctx)
		if err != nil {
			return err
		}
		if found, _ := t.RTTFound(); found && !told {
			told = true
			r.a.ui.Verbose(1, "the program has an RTT control block")
		}
		if watch.over() {
			return errDecided
		}
		pause := rttPause
		if n > 0 || !told {
			pause = time.Millisecond
		}
		select {
		case <-up:
			if !told {
				r.a.ui.Note("the program has no RTT control block in its RAM")
			}
			return errTimeUp
		case <-ctx.Done():
			return context.Cause(ctx)
		case k := <-r.keys:
			switch {
			case k.quit:
				return errQuit
			case k.reset:
				err = t.Reset(ctx, target.ResetRun)
			case k.toggle != 0:
				r.view.toggle(k.toggle)
			default:
				_, err = t.Console().Write(k.data)
			}
			if err != nil {
				return err
			}
		case <-time.After(pause):
		}
	}
}

// consoleFlagsOf reads the flags of console.
func consoleFlagsOf(cmd *cobra.Command) *consoleFlags {
	f := &consoleFlags{}
	fl := cmd.Flags()
	f.expect, _ = fl.GetStringArray("expect-text")
	f.fail, _ = fl.GetStringArray("fail-text")
	f.timeout, _ = fl.GetDuration("timeout")
	f.timestamps, _ = fl.GetBool("timestamps")
	f.hex, _ = fl.GetBool("hex")
	f.raw, _ = fl.GetBool("raw")
	f.reset, _ = fl.GetBool("reset")
	f.log, _ = fl.GetString("log")
	return f
}
