package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/profile"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/vcd"
	"github.com/stem-hw/stem-hw/sim/wiring"
)

// insideFlags are the options of run that connect things to the board and look
// inside it.
type insideFlags struct {
	wiring   string
	words    wiring.Words
	vcd      string
	coverage string
	pprof    string
	gpio     bool
	snapshot string
	restore  string
}

func (f *insideFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.wiring, "wiring", "", "connect what this `FILE` describes to the board")
	fl.StringArrayVar(&f.words.LED, "led", nil, "connect a LED to a `PIN`, or PIN:low; may be repeated")
	fl.StringArrayVar(&f.words.Button, "button", nil, "connect a button to ground and press it: `PIN@TIME+TIME`, as in 14@100ms+50ms; may be repeated")
	fl.StringArrayVar(&f.words.Analog, "adc", nil, "put volts or a waveform at an ADC pin: `PIN=VOLTS` or PIN=FILE.csv; may be repeated")
	fl.StringArrayVar(&f.words.Wire, "wire", nil, "connect pins with each other: `PIN-PIN`; may be repeated")
	fl.StringVar(&f.vcd, "vcd", "", "write what pins, PIO and DMA do to `FILE`, for GTKWave")
	fl.StringVar(&f.coverage, "coverage", "", "write how often each line was executed to `FILE`, for lcov")
	fl.StringVar(&f.pprof, "pprof", "", "write where the cycles went to `FILE`, for go tool pprof")
	fl.BoolVar(&f.gpio, "gpio", false, "show the pins on the outline of the board")
	fl.StringVar(&f.snapshot, "snapshot", "", "keep the whole board in `FILE` when the run ends")
	fl.StringVar(&f.restore, "restore", "", "go on from the board that --snapshot kept in `FILE`")
}

// connects reports whether something is connected to the board.
func (f *insideFlags) connects() bool {
	w := &f.words
	return f.wiring != "" || len(w.LED)+len(w.Button)+len(w.Analog)+len(w.Wire) > 0
}

// chip reports whether an option needs the RP2350, and names it.
func (f *insideFlags) chip() string {
	switch {
	case f.connects():
		return "--wiring, --led, --button, --adc and --wire"
	case f.vcd != "":
		return "--vcd"
	case f.gpio:
		return "--gpio"
	case f.snapshot != "":
		return "--snapshot"
	case f.restore != "":
		return "--restore"
	}
	return ""
}

// inside is what a run connects and records.
type inside struct {
	a     *app
	f     *insideFlags
	p     *program
	s     *runSink
	parts []wiring.Part
	state []byte // of --restore
	chip  *rp2350.Chip
	m     machine.Machine

	counts  *profile.Collector
	dump    *vcd.Recorder
	dumpOut *wholeFile
	kept    bytes.Buffer
	keepErr error
	lines   partLines
}

// openInside checks the options and reads their files.
func (a *app) openInside(f *insideFlags, p *program, s *runSink) (*inside, error) {
	in := &inside{a: a, f: f, p: p, s: s}
	if name := f.chip(); name != "" && p.machine != sim.MachineRP2350 {
		u := faults.Usage("%s: the machine %s has no such thing", name, p.machine)
		u.Wanted = "a program for the rp2350"
		return nil, u
	}
	if f.coverage != "" && p.symbols == nil {
		u := faults.Usage("--coverage: %s has no symbols", p.path)
		u.Wanted = "an ELF file with debug information (-g)"
		return nil, u
	}
	if f.wiring != "" {
		text, err := os.ReadFile(f.wiring)
		if err != nil {
			return nil, unreadable("the wiring cannot be read", err)
		}
		dir := filepath.Dir(f.wiring)
		in.parts, err = wiring.Parse(f.wiring, text, func(name string) ([]byte, error) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			return os.ReadFile(name)
		})
		if err != nil {
			return nil, err
		}
	}
	more, err := wiring.ParseWords(f.words, os.ReadFile)
	if err != nil {
		return nil, err
	}
	in.parts = append(in.parts, more...)
	if f.restore != "" {
		if p.board != nil && p.board.Selector() != "sim" {
			u := faults.Usage("--restore: %s is a board of its own", p.board.Selector())
			u.Wanted = "no board: the one in the snapshot is thrown away afterwards"
			return nil, u
		}
		if p.board != nil {
			a.ui.Note("the snapshot is a board of its own; %s stays as it is", p.board.Selector())
		}
		if in.state, err = os.ReadFile(f.restore); err != nil {
			return nil, unreadable("the snapshot cannot be read", err)
		}
		if _, err := rp2350.ReadHeader(bytes.NewReader(in.state)); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func unreadable(summary string, err error) error {
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusUsage,
		Summary: summary, Seen: err.Error(), Wanted: "a file that can be read",
	}
}

// options lets the target call back.
func (in *inside) options(opt *sim.Options) {
	opt.Attach = in.attach
	if in.state != nil {
		opt.Build = func() (machine.Machine, error) {
			o, err := rp2350.ReadHeader(bytes.NewReader(in.state))
			return rp2350.New(o), err
		}
	}
	if in.f.coverage != "" || in.f.pprof != "" {
		opt.Step = func(core int, pc uint32) { in.counts.Step(core, pc) }
	}
	if in.f.snapshot != "" {
		opt.Stopping = in.keep
	}
}

// attach connects things to the machine before anything runs.
func (in *inside) attach(m machine.Machine) error {
	in.m = m
	in.chip, _ = m.(*rp2350.Chip)
	if len(in.parts) > 0 {
		if _, err := wiring.Plug(in.chip, in.parts, in.report); err != nil {
			return err
		}
	}
	return nil
}

// load puts the program, or the snapshot, into the machine.
func (in *inside) load(ctx context.Context, t *sim.Target, img *image.Image) error {
	if err := in.fill(ctx, t, img); err != nil {
		return err
	}
	var failed error
	err := t.Do(ctx, func(machine.Machine) { failed = in.record() })
	return errors.Join(err, failed)
}

func (in *inside) fill(ctx context.Context, t *sim.Target, img *image.Image) error {
	if in.state == nil {
		return t.Load(ctx, img)
	}
	return t.Restore(ctx, func(m machine.Machine) error {
		if err := in.chip.LoadState(bytes.NewReader(in.state), in.others()...); err != nil {
			return err
		}
		return in.sameProgram(img)
	})
}

// sameProgram checks that the snapshot is of the program that was named.
func (in *inside) sameProgram(img *image.Image) error {
	for _, s := range img.Segments {
		if s.Addr>>24 != 0x10 {
			continue // RAM changes
		}
		have := make([]byte, len(s.Data))
		n := in.m.Peek(0, s.Addr, have)
		if n != len(have) || !bytes.Equal(have, s.Data) {
			return &faults.Fault{
				Code: faults.CodeBadSnapshot, Status: faults.StatusImage,
				Summary: "the snapshot is of another program than " + in.p.path,
				Seen:    "flash that differs from the file", Wanted: "the file that ran when the snapshot was made",
			}
		}
	}
	return nil
}

// record begins what records the run. The machine stands still.
func (in *inside) record() error {
	if in.f.coverage != "" || in.f.pprof != "" {
		in.counts = profile.New(in.m, in.p.symbols, in.m.Describe().Arch == image.ArchARM)
	}
	if in.f.vcd != "" {
		out, err := createWhole(in.f.vcd)
		if err != nil {
			return err
		}
		in.dumpOut = out
		in.dump = vcd.Record(out, in.chip)
	}
	return nil
}

// others are the things at the board that have a state of their own.
func (in *inside) others() []any {
	var o []any
	for _, p := range in.parts {
		o = append(o, p)
	}
	return o
}

// keep makes the snapshot at the moment at which the run ends.
func (in *inside) keep(machine.Machine) {
	in.kept.Reset()
	in.keepErr = in.chip.SaveState(&in.kept, in.others()...)
}

// abandon removes what was not finished.
func (in *inside) abandon() {
	if in.dumpOut != nil {
		in.dumpOut.Abandon()
	}
}

// finish writes the files.
func (in *inside) finish(ctx context.Context, t *sim.Target) error {
	// The run may have been interrupted; what it has recorded is worth keeping.
	ctx = context.WithoutCancel(ctx)
	var errs []error
	if in.dump != nil {
		err := t.Do(ctx, func(machine.Machine) { errs = append(errs, in.dump.Close()) })
		errs = append(errs, err, in.dumpOut.Close())
		in.dumpOut = nil
	}
	if in.counts != nil {
		errs = append(errs, t.Do(ctx, func(machine.Machine) { in.counts.Close() }))
	}
	if in.f.coverage != "" {
		errs = append(errs, image.WriteFile(in.f.coverage, func(w io.Writer) error {
			lines, err := in.counts.Coverage(w)
			if err == nil && !lines {
				return &faults.Fault{
					Code: faults.CodeFileAccess, Status: faults.StatusImage,
					Summary: "--coverage: " + in.p.path + " has no line table", Wanted: "a program built with -g",
				}
			}
			return err
		}))
	}
	if in.f.pprof != "" {
		errs = append(errs, image.WriteFile(in.f.pprof, func(w io.Writer) error {
			return in.counts.Pprof(w, in.p.path, int64(t.Stats().Seconds*1e9))
		}))
	}
	if in.f.snapshot != "" {
		errs = append(errs, in.writeSnapshot())
	}
	return errors.Join(errs...)
}

func (in *inside) writeSnapshot() error {
	if in.keepErr != nil || in.kept.Len() == 0 {
		f := &faults.Fault{
			Code: faults.CodeBadSnapshot, Status: faults.StatusTarget,
			Summary: "no snapshot could be made", Err: in.keepErr,
		}
		if in.keepErr != nil {
			f.Seen = in.keepErr.Error()
		}
		return f
	}
	return image.WriteFile(in.f.snapshot, func(w io.Writer) error {
		_, err := w.Write(in.kept.Bytes())
		return err
	})
}

// partLines keeps the last thing that each part said, for the view.
type partLines struct {
	mu    sync.Mutex
	last  map[string]string
	order []string
}

func (l *partLines) put(part, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[string]string{}
	}
	if _, ok := l.last[part]; !ok {
		l.order = append(l.order, part)
	}
	l.last[part] = text
}

func (l *partLines) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, p := range l.order {
		out = append(out, p+": "+l.last[p])
	}
	return out
}
