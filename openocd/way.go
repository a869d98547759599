package openocd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
)

// errUnavailable is a Debug Module that says that its harts are not there.
var errUnavailable = errors.New("the harts are not there: the chip executes Arm code")

// Options say how a chip is reached through OpenOCD.
type Options struct {
	// All are the OpenOCDs there are, by Ask.
	All     []Abilities
	Adapter Adapter
	// Clock of the wires in kHz; 0 is 5000.
	Clock uint32
	// CatchFaults stops an Arm core where a fault would end in HardFault.
	CatchFaults bool
	// Group makes the cores one group, which OpenOCD watches by itself: for its own
	// commands. A target wants them apart.
	Group bool
	// Transport opens the probe for DTM: for an OpenOCD that cannot reach Hazard3
	// through SWD. nil refuses that.
	Transport func(ctx context.Context) (dap.Transport, error)
	// Folder is where DTM's socket is: of mode 0700.
	Folder string
	// Log hears of each line that OpenOCD says, Notice of what the person should
	// know; nil is nobody.
	Log, Notice func(text string)
}

// Way is a chip behind OpenOCD. It implements probe.Way.
type Way struct {
	o    Options
	sup  *child.Supervisor
	p    *Process
	with Abilities
	arch image.Arch
	// jtag: the process reaches the harts through a JTAG transport.
	jtag  bool
	dtm   *DTM
	dpidr uint32
	cores probe.Cores
}

var _ probe.Way = (*Way)(nil)

// Connect chooses an OpenOCD for what the chip executes, and starts it.
func Connect(ctx context.Context, o Options) (*Way, error) {
	if o.Clock == 0 {
		o.Clock = 5000
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	sup, err := child.New()
	if err != nil {
		return nil, err
	}
	w := &Way{o: o, sup: sup, arch: image.ArchARM}
	if o.Adapter.Kind == JTAGBitbang {
		w.arch = image.ArchRISCV
	}
	err = w.start(ctx)
	if errors.Is(err, errNoChoice) && o.Transport != nil && w.arch == image.ArchARM {
		err = w.startBridged(ctx, err)
	}
	if err != nil {
		return nil, errors.Join(w.Explain(err), w.Close())
	}
	return w, nil
}

// errNoChoice is in the chain of the fault that there is no OpenOCD for this way.
var errNoChoice = errors.New("no OpenOCD")

// startBridged is for a way that no OpenOCD knows, behind which may be harts that
// can be presented as JTAG. why says why there is nothing else.
func (w *Way) startBridged(ctx context.Context, why error) error {
	w.arch = image.ArchRISCV
	if err := w.start(ctx); err != nil {
		return err
	}
	a, err := w.dtm.Present(ctx)
	if err == nil && a[0] == image.ArchARM {
		err = why
	}
	return err
}

// With is the OpenOCD that is used.
func (w *Way) With() Abilities { return w.with }

// Process is the OpenOCD that runs now.
func (w *Way) Process() *Process { return w.p }

// Bridged reports whether OpenOCD reaches the harts through DTM.
func (w *Way) Bridged() bool { return w.dtm != nil }

// start starts an OpenOCD for w.arch.
func (w *Way) start(ctx context.Context) error {
	if err := w.stop(); err != nil {
		return err
	}
	ad := w.o.Adapter
	with, err := Choose(w.o.All, w.arch, ad)
	if err != nil && w.arch == image.ArchRISCV && ad.Kind != JTAGBitbang && w.o.Transport != nil {
		with, ad, err = w.bridge(ctx, err)
	}
	if err != nil {
		return errors.Join(err, errNoChoice)
	}
	w.with, w.jtag = with, ad.Kind == JTAGBitbang
	w.p, err = Run(ctx, w.sup, Start{Program: with.Path, Log: w.o.Log})
	if err != nil {
		return err
	}
	log, err := w.p.Configure(ctx, Config(Setup{With: with, Adapter: ad, Arch: w.arch, Clock: w.o.Clock, Apart: !w.o.Group}), w.o.Group)
	if err != nil {
		return err
	}
	for _, n := range notices {
		for _, l := range log {
			if n.re.MatchString(l) {
				w.o.Notice(n.text)
			}
		}
	}
	w.dpidr = dpidrOf(log, w.dpidr)
	return w.chip(log)
}

// bridge opens the probe for DTM. why is the fault that says why OpenOCD cannot do
// without.
func (w *Way) bridge(ctx context.Context, why error) (Abilities, Adapter, error) {
	ad := Adapter{Kind: JTAGBitbang}
	with, err := Choose(w.o.All, image.ArchRISCV, ad)
	if err != nil {
		return with, ad, why
	}
	t, err := w.o.Transport(ctx)
	if err != nil {
		return with, ad, err
	}
	d, err := OpenDTM(ctx, t, w.o.Clock*1000, w.o.Folder)
	if err != nil {
		return with, ad, probe.Explain(err)
	}
	w.dtm = d
	w.o.Notice(fmt.Sprintf("%s cannot reach Hazard3 through SWD: stem-hw presents its Debug Module to it as JTAG", with.Path))
	ad.Host = d.Socket()
	return with, ad, nil
}

// stop ends the process and DTM.
func (w *Way) stop() error {
	var errs []error
	if w.p != nil {
		errs = append(errs, w.p.Close())
		w.p = nil
	}
	if w.dtm != nil {
		errs = append(errs, w.dtm.Close())
		w.dtm = nil
	}
	w.cores = nil
	return errors.Join(errs...)
}

const dpidrLine = "SWD DPIDR 0x"

// dpidrOf is the identification that a log tells of.
func dpidrOf(log []string, old uint32) uint32 {
	for _, l := range log {
		if _, hex, ok := strings.Cut(l, dpidrLine); ok && len(hex) >= 8 {
			if v, err := strconv.ParseUint(hex[:8], 16, 32); err == nil {
				return uint32(v)
			}
		}
	}
	return old
}

// dpidrRP2350 is the chip's (tcl/target/rp2350.cfg of raspberrypi/openocd).
const dpidrRP2350 = 0x4c013477

// chip refuses what is no RP2350 before anything is done to it.
func (w *Way) chip(log []string) error {
	if w.jtag || w.dpidr == dpidrRP2350 {
		return nil
	}
	if f := Explain(log); f != nil {
		return f
	}
	return &faults.Fault{
		Code: faults.CodeWrongChip, Status: faults.StatusTarget, Summary: "the chip behind the probe is no RP2350",
		Seen: fmt.Sprintf("DPIDR 0x%08x", w.dpidr), Wanted: fmt.Sprintf("DPIDR 0x%08x", uint32(dpidrRP2350)),
		Try: []string{"connect the probe to a board with an RP2350"},
	}
}

// present asks the chip's ROM table which cores are Arm, which needs no core.
func (w *Way) present(ctx context.Context) (a [probe.Count]image.Arch, err error) {
	if w.jtag {
		if w.dtm == nil {
			return [probe.Count]image.Arch{image.ArchRISCV, image.ArchRISCV}, nil
		}
		return w.dtm.Present(ctx)
	}
	for core := range a {
		text, err := w.p.Do(ctx, fmt.Sprintf("%s.dap apreg 0 %d", chip, 4*core))
		if err != nil {
			return a, err
		}
		v, err := strconv.ParseUint(strings.TrimSpace(text), 0, 32)
		if err != nil {
			return a, fmt.Errorf("OpenOCD reads %q in the ROM table", text)
		}
		a[core] = image.ArchRISCV
		if v&1 != 0 {
			a[core] = image.ArchARM
		}
	}
	return a, nil
}

// Examine implements probe.Way.
func (w *Way) Examine(ctx context.Context) (probe.Cores, [probe.Count]image.Arch, error) {
	a, err := w.present(ctx)
	if err != nil {
		return nil, a, w.unexamined(err)
	}
	if a[0] != a[1] {
		return nil, a, fmt.Errorf("core 0 is %s, core 1 is %s", a[0], a[1])
	}
	if a[0] != w.arch {
		was := w.arch
		w.arch = a[0]
		if err := w.start(ctx); err != nil {
			if w.p == nil {
				w.arch = was
			}
			return nil, a, err
		}
	}
	if w.cores == nil {
		if w.cores, err = w.open(ctx); err != nil {
			w.cores = nil
			return nil, a, err
		}
	}
	return w.cores, a, nil
}

// open makes sure that both cores were examined: OpenOCD goes on without.
func (w *Way) open(ctx context.Context) (probe.Cores, error) {
	for _, t := range names(w.arch) {
		ok, err := w.p.Do(ctx, t+" was_examined")
		if err != nil {
			return nil, err
		}
		if ok != "1" {
			if _, err := w.p.Do(ctx, t+" arp_examine"); err != nil {
				return nil, w.unexamined(err)
			}
		}
	}
	if w.arch == image.ArchRISCV {
		return openRISCV(ctx, w.p, w.with.Kind == KindStock)
	}
	return openArm(ctx, w.p, w.o.CatchFaults)
}

// unexamined adds what OpenOCD said when it started, which tells more.
func (w *Way) unexamined(err error) error {
	var ce *CommandError
	if !errors.As(err, &ce) || w.p == nil {
		return err
	}
	c := *ce
	c.Log = append(w.p.log.since(0, ""), ce.Log...)
	return &c
}

// Rescue implements probe.Way, through the RP-AP (RP2350 datasheet 3.5.8).
func (w *Way) Rescue(ctx context.Context) error {
	if w.jtag && w.dtm == nil {
		return &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget, Summary: "a JTAG transport does not reach what rescues the chip",
			Try: []string{"stem-hw reset --rescue --via probe"},
		}
	}
	if w.dtm != nil {
		if err := w.dtm.Rescue(ctx); err != nil {
			return err
		}
	} else {
		ap := chip + ".dap apreg 0x80000 0 "
		if _, err := w.p.Do(ctx, ap+"0x80000000; "+ap+"0"); err != nil {
			return err
		}
	}
	if err := pause(ctx, 20*time.Millisecond); err != nil {
		return err
	}
	w.arch = image.ArchARM // as after power-up
	return w.start(ctx)
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

// DPIDR implements probe.Way.
func (w *Way) DPIDR() uint32 { return w.dpidr }

// Clock implements probe.Way.
func (w *Way) Clock() uint32 { return w.o.Clock * 1000 }

// Info implements probe.Way.
func (w *Way) Info() dap.Info {
	return dap.Info{Product: "OpenOCD " + w.with.Version + ", " + w.o.Adapter.text(), Serial: w.o.Adapter.Serial}
}

// Lost implements probe.Way.
func (w *Way) Lost(err error) bool { return gone(err) }

// Explain implements probe.Way.
func (w *Way) Explain(err error) error {
	if faults.Of(err) != nil {
		return err
	}
	var ce *CommandError
	if errors.As(err, &ce) {
		if f := ce.Fault(); f != nil {
			f.Err = nil
			return f
		}
	}
	switch {
	case errors.Is(err, errGone):
		return &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost, Summary: "OpenOCD ended in the middle", Err: err,
			Try: []string{"the same command again with -vv, to see what OpenOCD says", tryOwn},
		}
	case errors.Is(err, errMute):
		return &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost, Summary: "OpenOCD does not answer", Err: err,
			Try: []string{"unplug the probe and plug it in again", tryOwn},
		}
	case errors.Is(err, errUnavailable):
		return &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "the harts are not there: the chip executes Arm code",
			Try: []string{"stem-hw reset --arch riscv --halt --via probe", tryOwn},
		}
	case ce != nil:
		return &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "OpenOCD cannot do what was asked", Seen: plainLine(ce.Error()),
			Details: lastLines(ce.Log), Try: []string{"the same command again with -vv, to see what OpenOCD says", tryOwn},
		}
	}
	return err
}

// lastLines are the last few lines of a log.
func lastLines(log []string) (out []string) {
	for _, l := range log[max(0, len(log)-4):] {
		out = append(out, plainLine(l))
	}
	return out
}

// Close implements probe.Way.
func (w *Way) Close() error { return errors.Join(w.stop(), w.sup.Close()) }
