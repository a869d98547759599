package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/openocd"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/usb"
	usbdap "github.com/stem-hw/stem-hw/usb/dap"
)

// viaOpenOCD is the word of --via for a debug probe that OpenOCD drives.
const viaOpenOCD = "openocd"

// throughCables reports whether a word of --via means the chip behind a probe.
func throughCables(via string) bool { return via == viaProbe || via == viaOpenOCD }

// wires are the ways to a chip that --probe names by an address.
var wires = []struct {
	prefix string
	kind   openocd.AdapterKind
}{{"tcp:", openocd.TCP}, {"swd:", openocd.SWDBitbang}, {"jtag:", openocd.JTAGBitbang}}

// addressed takes an address of --probe apart; ok is false for a probe by its
// name.
func addressed(probe, via string) (kind openocd.AdapterKind, address string, ok bool, err error) {
	for _, w := range wires {
		rest, found := strings.CutPrefix(probe, w.prefix)
		if !found {
			continue
		}
		if w.kind != openocd.TCP && via != viaOpenOCD {
			u := faults.Usage("--probe %s is for OpenOCD", w.prefix)
			u.Wanted = "--via openocd, or --probe tcp:HOST:PORT"
			return "", "", true, u
		}
		address, err := tcpAddress(rest)
		if err != nil {
			u := faults.Usage("--probe %s needs an address", w.prefix)
			u.Seen, u.Wanted = "\""+probe+"\"", w.prefix+"127.0.0.1:4441"
			return "", "", true, u
		}
		return w.kind, address, true, nil
	}
	return "", "", false, nil
}

// askOpenOCDs finds every OpenOCD and what it can do. What is no OpenOCD is told,
// and left out.
func (a *app) askOpenOCDs(ctx context.Context) ([]openocd.Abilities, error) {
	sup, err := child.New()
	if err != nil {
		return nil, err
	}
	defer sup.Close()
	all := []openocd.Abilities{}
	for _, f := range openocd.Find(openocd.PlacesOf(a.getenv)) {
		can, err := openocd.Ask(ctx, sup, f)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			a.ui.Warn("%s cannot be asked: %v", f.Path, err)
			continue
		}
		all = append(all, can)
	}
	return all, nil
}

// adapter is what OpenOCD reaches the chip through.
func (w *probeWay) adapter() (openocd.Adapter, error) {
	if w.address == "" {
		return openocd.Adapter{Kind: openocd.USB, Serial: w.chosen.Serial}, nil
	}
	host, port, err := net.SplitHostPort(w.address)
	return openocd.Adapter{Kind: w.kind, Host: host, Port: port}, err
}

// connectOpenOCD starts the OpenOCD for the chip that a verb means. undo gets what
// is to be given back.
func (a *app) connectOpenOCD(ctx context.Context, w *probeWay, verb string, o openocd.Options, undo *[]func() error) (*openocd.Way, error) {
	if w.f.record != "" || slices.Contains(w.f.log, "dap") {
		u := faults.Usage("what passes between OpenOCD and the probe is not seen here")
		u.Wanted, u.Try = "--via probe with --dap-record or --log dap", []string{"--log openocd shows what OpenOCD says"}
		return nil, u
	}
	var err error
	if o.Adapter, err = w.adapter(); err != nil {
		return nil, err
	}
	if w.address == "" {
		l, err := a.lease(ctx, &w.chosen, verb, w.f.wait)
		if err != nil {
			return nil, err
		}
		*undo = append(*undo, l.Release)
		w.device = l.Device()
	}
	dir, err := a.newRunDir()
	if err != nil {
		return nil, err
	}
	*undo = append(*undo, dir.Close)
	if o.All, err = a.askOpenOCDs(ctx); err != nil {
		return nil, err
	}
	o.Folder, o.Clock = dir.path, w.f.clock
	o.Notice = func(text string) { a.ui.Note("%s", text) }
	if slices.Contains(w.f.log, viaOpenOCD) {
		o.Log = func(line string) { a.ui.Say("openocd: %s", line) }
	} else if o.Log == nil {
		o.Log = func(line string) { a.ui.Verbose(2, "openocd: %s", line) }
	}
	if w.address == "" || w.kind == openocd.TCP {
		o.Transport = func(ctx context.Context) (dap.Transport, error) { return a.bridged(ctx, w) }
	}
	return openocd.Connect(ctx, o)
}

// bridged opens the probe for an OpenOCD that reaches the cores through us. The
// lease on it is held already.
func (a *app) bridged(ctx context.Context, w *probeWay) (dap.Transport, error) {
	if w.address != "" {
		return a.transport(ctx, w, "", nil)
	}
	return usbdap.Open(ctx, w.device, usb.Machine(a.getenv).Dir)
}

// openOpenOCD is openProbe through OpenOCD.
func (a *app) openOpenOCD(ctx context.Context, w *probeWay, verb string, o probe.Options) (t *probe.Target, done func() error, err error) {
	var undo []func() error
	done = func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		undo = nil
		return errors.Join(errs...)
	}
	fail := func(err error) (*probe.Target, func() error, error) { return nil, nil, errors.Join(err, done()) }
	way, err := a.connectOpenOCD(ctx, w, verb, openocd.Options{CatchFaults: o.CatchFaults}, &undo)
	if err != nil {
		return fail(err)
	}
	o.Notice = func(text string) { a.ui.Note("%s", text) }
	if t, err = probe.OpenWay(ctx, way, o); err != nil {
		return fail(err)
	}
	undo = append(undo, t.Close)
	a.ui.Verbose(1, "probe %s, %s, through %s: RP2350 %s, %s", w.name(), w.how, way.With().Path, t.Chip().Revision, t.Chip().Arch[0])
	if err := a.checkPinned(w, t.Chip().ID); err != nil {
		return fail(err)
	}
	return t, done, nil
}

// openocdArch is what --arch says; auto is Arm, which a new chip executes.
func openocdArch(word string) image.Arch {
	if word == "riscv" {
		return image.ArchRISCV
	}
	return image.ArchARM
}
