package main

import (
	"context"
	"errors"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/console"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/usb"
)

// runUSB brings a program onto a board on the USB, starts it and shows its
// console: the board's own serial port, or that of a probe.
func (a *app) runUSB(ctx context.Context, p *program, c *chosen, f *runFlags) error {
	if err := f.onlySimulated(); err != nil {
		return err
	}
	kind, err := checkFlashable(p.image, false)
	if err != nil {
		return err
	}
	cf := &consoleFlags{
		expect: f.expect, fail: f.fail, timeout: f.timeout, raw: f.raw, settings: console.Default, port: 1,
		enter: string(console.Keep), newline: string(console.Keep),
	}
	if len(p.image.ELF) > 0 {
		cf.elf = p.path
	}
	shown := *c
	if f.console != "" {
		if shown, _, err = a.named(ctx, f.console, "stem-hw run --console %s"); err != nil {
			return err
		}
	}
	r, err := a.newConsoleRun(&shown, cf)
	if err != nil {
		return err
	}
	defer r.view.close()
	restore, err := a.ui.CharacterInput()
	if err != nil {
		return err
	}
	defer restore()
	return r.until(ctx, func(ctx context.Context) error {
		t, err := a.loadUSB(ctx, p.image, kind, c, f)
		if err != nil {
			return err
		}
		return r.startOn(ctx, t, c, f.console != "")
	})
}

// onlySimulated refuses options that a real board cannot follow.
func (f *runFlags) onlySimulated() error {
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"--machine", f.machine != sim.MachineAuto && f.machine != sim.MachineRP2350}, {"--harts", f.harts != 1}, {"--chip", f.chip != defaultChip},
		{"--cycles", f.cycles != 0}, {"--speed", f.speed != ""}, {"--exit-status", f.exitStatus},
		{"--semihosting-dir", f.semihosting != ""}, {"--trace", f.trace != ""},
	} {
		if o.set {
			u := faults.Usage("%s is for simulated boards", o.name)
			u.Try = []string{"the same command with -b sim"}
			return u
		}
	}
	return nil
}

// loadUSB brings the program onto the board.
func (a *app) loadUSB(ctx context.Context, im *image.Image, kind image.Kind, c *chosen, f *runFlags) (*bootsel.Target, error) {
	t, err := a.openUSB(ctx, c, access{verb: "run", wait: f.wait, force: true, command: "stem-hw run -b %s " + shellQuote(im.Path)})
	if err != nil {
		return nil, err
	}
	row := flashed{Board: c.Selector(), File: im.Path, Memory: kind}
	tell, end := a.progress()
	err = a.putUSB(ctx, t, im, &flashFlags{}, &row, tell)
	end()
	if err != nil {
		return nil, errors.Join(a.leftAs(ctx, t, err, row.Touched), t.Close())
	}
	a.ui.Say("%s: %s", row.Board, row.text())
	return t, nil
}

// startOn starts the program. The port of a probe is open before it does; its own
// comes with it.
func (r *consoleRun) startOn(ctx context.Context, t *bootsel.Target, c *chosen, probe bool) error {
	if probe {
		line := console.New(ctx, console.Options{Find: r.a.portFinder(&r.c, r.f.port), Settings: r.f.settings})
		defer line.Close()
		_, e, err := line.Next() // attached
		if err == nil && e != nil {
			err = r.view.event(portEvent(r.c.Selector(), e))
		}
		if err == nil {
			err = t.Start(ctx)
		}
		if err = errors.Join(err, t.Close()); err != nil {
			return err
		}
		return r.onPort(ctx, line, nil)
	}
	err := t.Start(ctx)
	if err != nil {
		return errors.Join(err, t.Close())
	}
	d, ok, err := t.Appeared(ctx)
	if err = errors.Join(err, t.Close()); err != nil {
		return err
	}
	switch {
	case ok && d.Mode == board.ModeBootsel:
		return &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
			Summary: "the board came back in BOOTSEL mode: the program did not start, or ended there", Seen: d.String(),
			Try: []string{"stem-hw info -b " + c.Selector()},
		}
	case !ok || len(d.TTYs) == 0 && !comesWithPort(d):
		if len(r.texts.Pending()) > 0 {
			return &faults.Fault{
				Code: faults.CodeNotSupported, Status: faults.StatusTarget,
				Summary: "the program was started, but shows no serial port on the USB", Wanted: "a port for its text",
				Try: []string{"build it with pico_enable_stdio_usb", "name the probe that its UART is wired to: --console PROBE"},
			}
		}
		r.a.ui.Say("started; the program shows no serial port on the USB")
		return errQuit
	}
	r.c.Identity = board.Identity{Serial: d.Serial, Port: d.Port, Role: d.Role}
	r.c.pin = nil
	if d.Serial != c.Serial {
		if err := r.a.learn(c.Identity, t.ChipID(), d.Serial); err != nil {
			return err
		}
	}
	return r.portLoop(ctx)
}

// comesWithPort says that a device has a serial interface whose node is on its
// way.
func comesWithPort(d usb.Device) bool {
	_, ok := d.Find(usb.InterfaceSerial)
	return ok
}
