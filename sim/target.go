package sim

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// errClosed is what calls return after Close.
var errClosed = errors.New("the simulated target is closed")

// Target is a simulated machine as a target.Target with the capabilities
// Halter, Memory and Runner. A machine with flash gets Flasher besides: see New.
type Target struct {
	opt   Options
	m     machine.Machine
	cores []machine.Core
	host  *semihost.Host
	in    *pipe
	out   *ring

	reqs chan func() // executed by the worker
	quit chan struct{}
	done chan struct{}
	once sync.Once

	// State that only the worker touches.
	active    bool // the machine is to be advanced
	debug     bool
	ended     bool // the program is over until it is loaded or reset again
	halting   bool // what was printed has decided the run
	decision  decision
	decidedOn string
	fresh     bool   // nothing was executed since the machine was reset
	again     bool   // a semihosting call of core againCore at againPC waits for input
	sleeping  bool   // the machine said that every core sleeps
	semiInput bool   // input goes to semihosting calls
	passing   []bool // cores that take the exception of a breakpoint instruction
	cycles    uint64
	points    []target.Point
	ranges    map[int]target.Action // cores that step through a range
	pace      pace
	slice     uint64         // cycles of the last slice
	pending   []byte         // input offered to the machine and not yet taken
	over      []*target.Stop // how the program on a core ended, which loops since
	fed       bool           // the machine took input before this slice
	againPC   uint32
	againCore int
	printed   []byte
	stream    string
	desc      target.Description // of the machine, since the last reset
	startSec  float64            // simulated seconds at the last start
	parked    bool               // nothing happens until a debug port changes something
	crashed   string             // the last crash told of, under a debug port

	// State for others.
	mu      sync.Mutex
	running bool
	stop    target.Stop
	changed chan struct{}
}

// FlashTarget is a Target whose machine has flash.
type FlashTarget struct{ *Target }

// New builds the machine and starts the worker. The result is a *FlashTarget if
// the machine has flash, else a *Target.
func New(opt Options) (target.Target, error) {
	build := opt.Build
	if build == nil {
		b, err := builder(opt)
		if err != nil {
			return nil, err
		}
		build = b
	}
	m, err := build()
	if err != nil {
		return nil, err
	}
	if opt.Attach != nil {
		if err := opt.Attach(m); err != nil {
			return nil, err
		}
	}
	if opt.Clock == nil {
		opt.Clock = wallClock{}
	}
	if opt.Speed == "" {
		opt.Speed = SpeedMax
	}
	t := &Target{
		opt: opt, m: m, cores: m.Cores(), debug: opt.Debug, cycles: opt.Cycles,
		in: newPipe(opt.Input), out: newRing(),
		reqs: make(chan func()), quit: make(chan struct{}), done: make(chan struct{}),
		changed: make(chan struct{}),
		stop:    target.Stop{Reason: target.StopHalt}, desc: m.Describe(),
		passing: make([]bool, len(m.Cores())), over: make([]*target.Stop, len(m.Cores())),
	}
	if opt.Semihosting != nil {
		so := *opt.Semihosting
		so.Console = semihostConsole{t}
		so.Elapsed = t.elapsed
		so.Notice = func(text string) { t.notice(machine.Notice{Text: text, Core: -1}) }
		if t.host, err = semihost.New(so); err != nil {
			return nil, err
		}
	}
	t.setHooks()
	go t.work()
	if _, ok := m.(machine.Flasher); ok {
		return &FlashTarget{t}, nil
	}
	return t, nil
}

func (t *Target) setHooks() {
	h := machine.Hooks{Output: t.output, Notice: t.notice}
	switch step := t.opt.Step; {
	case t.opt.Trace != nil && step != nil:
		h.Trace = func(core int, pc uint32) {
			step(core, pc)
			t.trace(core, pc)
		}
	case t.opt.Trace != nil:
		h.Trace = t.trace
	case step != nil:
		h.Trace = step
	}
	if t.host != nil {
		h.Semihost = t.semihost
	}
	t.m.SetHooks(h)
}

// do executes f on the worker.
func (t *Target) do(ctx context.Context, f func() error) error {
	err := errClosed
	finished := make(chan struct{})
	req := func() {
		err = f()
		close(finished)
	}
	select {
	case t.reqs <- req:
	case <-t.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	// Requests are short; the worker has this one now and will finish it.
	<-finished
	return err
}

// Describe implements target.Target.
func (t *Target) Describe() target.Description {
	var d target.Description
	_ = t.do(context.Background(), func() error {
		t.desc = t.m.Describe()
		d = t.desc
		return nil
	})
	d.Simulated = true
	return d
}

// Load implements target.Target: the machine keeps what it needs of the image.
func (t *Target) Load(ctx context.Context, img *image.Image) error {
	return t.do(ctx, func() error {
		if err := t.m.Load(img); err != nil {
			return err
		}
		t.fresh = true
		t.afterReset()
		t.halted(target.Stop{Reason: target.StopHalt, PC: t.cores[0].PC()})
		return nil
	})
}

// Restore lets f set the state of the machine, from which Start goes on.
func (t *Target) Restore(ctx context.Context, f func(m machine.Machine) error) error {
	return t.do(ctx, func() error {
		if err := f(t.m); err != nil {
			return err
		}
		t.fresh = true
		t.afterReset()
		return nil
	})
}

// Start implements target.Target.
func (t *Target) Start(ctx context.Context) error {
	return t.do(ctx, func() error {
		if !t.fresh {
			t.m.Reset()
		}
		t.afterReset()
		t.debug = t.opt.Debug || len(t.points) > 0
		t.arm()
		for _, c := range t.cores {
			c.Step(false)
			c.Resume()
		}
		t.goOn()
		return nil
	})
}

// Reset implements target.Target.
func (t *Target) Reset(ctx context.Context, mode target.ResetMode) error {
	if mode == target.ResetRun {
		return t.Start(ctx)
	}
	return t.do(ctx, func() error {
		t.m.Reset()
		t.fresh = true
		t.afterReset()
		t.debug = true
		t.halted(target.Stop{Reason: target.StopHalt, PC: t.cores[0].PC()})
		t.arm()
		return nil
	})
}

// afterReset forgets what belonged to the program that ran before.
func (t *Target) afterReset() {
	t.ended, t.again, t.sleeping, t.halting, t.semiInput = false, false, false, false, false
	t.ranges = nil
	t.slice = 0
	clear(t.passing)
	clear(t.over)
	t.startSec = t.m.Seconds()
	t.desc = t.m.Describe()
	if t.host != nil {
		t.host.Reset()
	}
}

// Console implements target.Target: reading gives what the program prints,
// writing is its standard input.
func (t *Target) Console() io.ReadWriter { return console{t} }

// CloseInput says that standard input has ended.
func (t *Target) CloseInput() { t.in.close() }

// Stats implements target.Runner.
func (t *Target) Stats() target.Stats {
	var s target.Stats
	_ = t.do(context.Background(), func() error {
		s.Cycles, s.Seconds = t.m.Now(), t.m.Seconds()
		for _, c := range t.cores {
			s.Instructions = append(s.Instructions, c.Instret())
		}
		return nil
	})
	return s
}

// SetCycles sets the cycle at which the target stops with StopCycles; 0 is no
// limit.
func (t *Target) SetCycles(ctx context.Context, n uint64) error {
	return t.do(ctx, func() error {
		t.cycles = n
		return nil
	})
}

// Close implements target.Target.
func (t *Target) Close() error {
	t.once.Do(func() { close(t.quit) })
	<-t.done
	t.in.close()
	t.out.close()
	if t.host != nil {
		return t.host.Close()
	}
	return nil
}

// elapsed is the simulated time since the last start.
func (t *Target) elapsed() time.Duration {
	return time.Duration((t.m.Seconds() - t.startSec) * float64(time.Second))
}

// Base returns the simulated target inside what New returned.
func Base(t target.Target) *Target {
	switch t := t.(type) {
	case *Target:
		return t
	case *FlashTarget:
		return t.Target
	}
	return nil
}
