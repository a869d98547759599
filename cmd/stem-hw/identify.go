package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel/light"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/binaryinfo"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
	"github.com/stem-hw/stem-hw/usb"
	usbdap "github.com/stem-hw/stem-hw/usb/dap"
)

// identifyFlags are the options of list --identify.
type identifyFlags struct {
	chooseFlags
	on bool
}

func (f *identifyFlags) add(cmd *cobra.Command, a *app) {
	f.chooseFlags.add(cmd, a)
	cmd.Flags().BoolVar(&f.on, "identify", false, "blink the board or probe of -b, or say where it is")
}

// identified says how a board was shown.
type identified struct {
	Board     string `json:"board"`
	Serial    string `json:"serial"`
	Port      string `json:"port,omitempty"`
	Simulated bool   `json:"simulated"`
	// Blinked is what blinked, empty if nothing can.
	Blinked string `json:"blinked,omitempty"`
	// Why says why nothing blinked.
	Why string `json:"why,omitempty"`
}

func (identified) Kind() string { return "identify" }

func (r identified) Text(t *ui.Text) {
	switch {
	case r.Blinked != "":
		t.Linef("%s: %s blinked; it is at usb %s", r.Board, r.Blinked, r.Port)
	case r.Simulated:
		t.Linef("%s: a simulated board, to be seen nowhere", r.Board)
	default:
		t.Linef("%s: at usb %s (nothing blinks: %s)", r.Board, r.Port, r.Why)
	}
}

func (a *app) identify(ctx context.Context, f *identifyFlags) error {
	if f.board == "" {
		u := faults.Usage("--identify needs a board")
		u.Try = []string{"stem-hw list --identify -b E660"}
		return u
	}
	c, _, err := a.named(ctx, f.board, "stem-hw list --identify -b %s")
	if err != nil {
		return err
	}
	r := identified{Board: c.Selector(), Serial: c.Serial, Port: c.Port, Simulated: c.Simulated}
	if !c.Simulated {
		if r.Blinked, r.Why, err = a.blink(ctx, &c, f); err != nil {
			return err
		}
	}
	return a.ui.Result(r)
}

// blinks is how often a probe's lights go on and off, and how long each lasts.
const (
	blinks    = 6
	blinkTime = 250 * time.Millisecond
)

// blink lets a light of the board blink if there is one that may be touched.
func (a *app) blink(ctx context.Context, c *chosen, f *identifyFlags) (what, why string, err error) {
	switch {
	case c.Role == board.RoleProbe:
		return a.blinkProbe(ctx, c, f.wait)
	case c.Mode != board.ModeBootsel:
		return "", "its light belongs to the program that runs", nil
	case c.Chip != "rp2350":
		return "", "stem-hw has no light for this chip", nil
	}
	return a.blinkBoard(ctx, c, f.wait)
}

// blinkProbe switches the lights that every CMSIS-DAP probe is asked to have.
func (a *app) blinkProbe(ctx context.Context, c *chosen, wait time.Duration) (what, why string, err error) {
	l, err := a.lease(ctx, c, "list --identify", wait)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	t, err := usbdap.Open(ctx, c.device, usb.Machine(a.getenv).Dir)
	if err != nil {
		return "", "", err
	}
	p, err := dap.Open(ctx, t, dap.Options{})
	if err != nil {
		return "", "", err
	}
	defer p.Close()
	for i := range 2 * blinks {
		if err := p.Lights(ctx, i%2 == 0); err != nil {
			// Probes without lights say so, and may not know the command.
			return "", "the probe has no lights that can be switched", nil
		}
		select {
		case <-time.After(blinkTime):
		case <-ctx.Done():
			off, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			return "", "", errors.Join(ctx.Err(), p.Lights(off, false))
		}
	}
	return "its light", "", nil
}

// blinkBoard lets the light of a plain Pico 2 blink.
func (a *app) blinkBoard(ctx context.Context, c *chosen, wait time.Duration) (what, why string, err error) {
	t, err := a.openUSB(ctx, c, access{verb: "list --identify", wait: wait, command: "stem-hw list --identify -b %s"})
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	const words = 256
	if why := light.Why(binaryinfo.Find(sectorReader(ctx, t), image.RP2350.FlashBase, words)); why != "" {
		return "", why, ctx.Err()
	}
	if t.System().ArmOff() {
		return "", "its Arm cores are switched off by fuses, and the light's program is for them", nil
	}
	if err := t.LoadRAM(ctx, light.Image()); err != nil {
		return "", "", err
	}
	if err := t.Start(ctx); err != nil {
		return "", "", err
	}
	if err := t.Left(ctx); err != nil {
		return "", "", err
	}
	d, ok, err := t.Appeared(ctx)
	if err == nil && (!ok || d.Mode != board.ModeBootsel) {
		err = &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost,
			Summary: "the board did not come back into BOOTSEL mode after it blinked", Seen: "usb " + c.Port,
			Try: []string{"unplug the board and plug it in again; its flash was not touched"},
		}
	}
	return "its light", "", err
}

// sectorReader reads flash by whole sectors and keeps them: what is looked for is
// spread over few of them.
func sectorReader(ctx context.Context, d flashing.Device) binaryinfo.ReadFunc {
	kept := map[uint32][]byte{}
	return func(p []byte, addr uint32) bool {
		if addr < image.RP2350.FlashBase || addr > math.MaxUint32-uint32(len(p)) {
			return false
		}
		for n := 0; n < len(p); {
			at := (addr + uint32(n)) &^ (flashing.SectorSize - 1)
			s, ok := kept[at]
			if !ok {
				s = make([]byte, flashing.SectorSize)
				if d.ReadFlash(ctx, at, s) != nil {
					return false
				}
				kept[at] = s
			}
			n += copy(p[n:], s[addr+uint32(n)-at:])
		}
		return true
	}
}
