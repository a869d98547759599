package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/symbols"
)

// runFlags are the options of run.
type runFlags struct {
	chooseFlags
	machine     string
	harts       int
	chip        string
	expect      []string
	fail        []string
	timeout     time.Duration
	cycles      uint64
	speed       string
	raw         bool
	exitStatus  bool
	semihosting string
	trace       string
	console     string
	inside      insideFlags
}

func (a *app) runCmd() *cobra.Command {
	var f runFlags
	var wf whatFlags
	cmd := &cobra.Command{
		Use:     "run FILE|FOLDER|CARD",
		Short:   "run a program on a board and show what it prints",
		GroupID: groupPrograms,
		Long: `Run loads a program (ELF, UF2, BIN or Intel HEX), starts it, shows what it prints
and feeds it what is typed, until it ends. A card or a folder is built first; a
program of this computer runs on it.

With -b sim or -b sim:NAME, or with such a board pinned for this project, it runs
on that board: what is in its flash and fuses is there, and what the program
changes is kept. Nobody else can use the board meanwhile. Without a board it runs
on a new one that is thrown away.

With a board on the USB, named or pinned, the program is flashed, or loaded into
its RAM, and started, and its serial port is shown: until a text decides, the time
is up, or ctrl-c.

It ends when the program exits (semihosting, the testbench's exit register,
tohost, or exit() of the C library), when it crashes, when every core sleeps and
nothing can wake one, when the last --expect-text or a --fail-text was printed,
when --timeout or --cycles are spent, or with ctrl-c.

Exit status: 0 ok, 7 the file is no usable program, 20 the program failed (it
exited with another status than 0, crashed, printed a --fail-text, or ended
before every --expect-text had come), 124 time or cycles were spent with a text
still to come, 130 interrupted.`,
		Example: `  stem-hw run hello.uf2
  stem-hw run inf bss 4
  stem-hw run test.elf --expect-text "all tests passed" --fail-text FAILED --timeout 30s
  stem-hw run bench.elf --exit-status -v`,
		Args: atLeastOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runWhat(cmd.Context(), args, &f, &wf)
		},
	}
	fl := cmd.Flags()
	f.add(cmd, a)
	wf.add(cmd)
	choiceFlag(cmd, &f.machine, "machine", sim.MachineAuto, "the simulated `MACHINE`: "+strings.Join(sim.Machines(), ", "), sim.Machines()...)
	chipFlag(cmd, &f.chip)
	fl.IntVar(&f.harts, "harts", 1, "`NUMBER` of harts of the machine hazard3-tb: 1 or 2")
	fl.StringArrayVar(&f.expect, "expect-text", nil, "succeed once this `TEXT` was printed; may be repeated, the order counts")
	fl.StringArrayVar(&f.fail, "fail-text", nil, "fail once this `TEXT` was printed; may be repeated")
	fl.DurationVar(&f.timeout, "timeout", 0, "stop after this `TIME` of the clock on the wall")
	fl.Uint64Var(&f.cycles, "cycles", 0, "stop after this `NUMBER` of cycles of the system clock")
	choiceFlag(cmd, &f.speed, "speed", "", "`SPEED` of simulated time: real or max (default: real on a terminal)", string(sim.SpeedReal), string(sim.SpeedMax))
	fl.BoolVar(&f.raw, "raw", false, "let every terminal control sequence through, not only colours")
	fl.BoolVar(&f.exitStatus, "exit-status", false, "exit with the status of the program")
	fl.StringVar(&f.semihosting, "semihosting-dir", "", "let the program use files in this `FOLDER`")
	fl.StringVar(&f.console, "console", "", "on a board on the USB: show the serial port of this `BOARD`, a probe that its UART is wired to")
	fl.StringVar(&f.trace, "trace", "", "write one line for each instruction to `FILE`")
	f.inside.add(fl)
	return cmd
}

// run is the verb.
func (a *app) run(ctx context.Context, path string, f *runFlags) (err error) {
	if a.probe != nil {
		return a.probeRun(ctx, path, f)
	}
	p, err := openProgram(path, f.machine)
	if err != nil {
		return err
	}
	b, err := a.boardFor(ctx, &f.chooseFlags, "run", p)
	if err != nil {
		return err
	}
	p.board = b
	if b != nil && b.Sim == "" {
		return a.runUSB(ctx, p, b, f)
	}
	if f.harts != 1 && (p.machine != sim.MachineHazard3TB || f.harts < 1 || f.harts > 2) {
		u := faults.Usage("the machine %s cannot have %d harts", p.machine, f.harts)
		u.Wanted = "1, or 2 on hazard3-tb"
		return u
	}
	rev, err := revision(f.chip, p.machine, b != nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := a.newRunSink(p, f, cancel)
	opt := sim.Options{
		Machine: p.machine, Revision: rev, Harts: f.harts, Speed: a.runSpeed(f), Input: a.streams.In != nil,
		Output: s.output, Notice: s.notice, Restarted: s.restarted, Symbols: p.symbols,
		Semihosting: &semihost.Options{Dir: f.semihosting, CommandLine: path, Start: time.Now()},
	}
	if f.trace != "" {
		tr, err := newTrace(f.trace, p.symbols)
		if err != nil {
			return err
		}
		defer func() { a.closeTrace(tr) }()
		opt.Trace = tr.instruction
	}
	in, err := a.openInside(&f.inside, p, s)
	if err != nil {
		return err
	}
	defer in.abandon()
	used, err := a.borrow(ctx, p, &f.chooseFlags, "run", &opt)
	if err != nil {
		return err
	}
	in.options(&opt)
	made, err := sim.New(opt)
	if err != nil {
		return errors.Join(err, used.Return())
	}
	defer made.Close()
	defer func() {
		// The chip stands still before what it holds is kept.
		_ = made.Close()
		if rerr := used.Return(); err == nil {
			err = rerr
		}
	}()
	t := sim.Base(made)
	if err := in.load(ctx, t, p.image); err != nil {
		used.Forget()
		return err
	}
	s.begin(opt.Speed)
	restore, err := a.ui.CharacterInput()
	if err != nil {
		return err
	}
	defer restore()
	stopView := in.view(ctx, t)
	defer stopView()
	if a.streams.In != nil {
		go feed(t, a.streams.In)
	}
	out, err := t.Run(ctx, sim.RunOptions{
		Expect: f.expect, Fail: f.fail, Timeout: f.timeout, Cycles: f.cycles,
	})
	restore()
	stopView()
	if err != nil {
		return err
	}
	if err := in.finish(ctx, t); err != nil {
		return err
	}
	return s.end(out, t.Stats(), f)
}

func (a *app) runSpeed(f *runFlags) sim.Speed {
	switch {
	case f.speed != "":
		return sim.Speed(f.speed)
	case a.ui.Terminal():
		return sim.SpeedReal
	}
	return sim.SpeedMax
}

// feed copies standard input to the program until it ends.
func feed(t *sim.Target, in io.Reader) {
	// Whatever ends the reading, there is no more input.
	_, _ = io.Copy(t.Console(), in)
	t.CloseInput()
}

// program is a file that is to run.
type program struct {
	path    string
	image   *image.Image
	symbols *symbols.Table
	machine string
	why     string
	// board is the lasting board that was named or pinned; nil is none.
	board *chosen
	// fallback says that no board was named or pinned.
	fallback bool
	// doubts are what a board would not forgive.
	doubts []string
}

// openProgram reads the file and chooses the machine.
func openProgram(path, machine string) (*program, error) {
	img, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	p := &program{path: path, image: img}
	if len(img.ELF) > 0 {
		// A program without readable symbols runs as well.
		p.symbols, _ = symbols.Load(img.ELF)
	}
	p.machine, p.why, err = sim.Choose(machine, img, p.symbols)
	if err != nil {
		return nil, err
	}
	if p.machine == sim.MachineRP2350 {
		return p, p.fitsBoard()
	}
	if img.Format == image.FormatBIN {
		// A raw image for the testbench begins at 0.
		if p.image, err = image.OpenWith(path, image.Options{HasBase: true}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// fitsBoard checks a program as a board would. A UF2 file that a board ignores
// is refused. Other files are loaded as a debugger loads them, and what would be
// missing on a board that was flashed is a doubt.
func (p *program) fitsBoard() error {
	_, err := p.image.Place(&image.RP2350)
	f := faults.Of(err)
	switch {
	case err == nil:
	case p.image.Format == image.FormatUF2 || f == nil:
		return err
	case f.Code == faults.CodeBadImage:
		p.doubts = append(p.doubts, f.Summary)
	}
	p.doubts = append(p.doubts, p.image.Contradictions()...)
	return nil
}

// closeTrace ends a trace; a trace that could not be written is worth a warning
// only, since the program did run.
func (a *app) closeTrace(tr *trace) {
	if err := tr.close(); err != nil {
		var f *faults.Fault
		if errors.As(err, &f) {
			a.ui.Warn("%s: %s", f.Summary, f.Seen)
			return
		}
		a.ui.Warn("%v", err)
	}
}
