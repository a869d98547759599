package virtual

import (
	"context"
	"time"

	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// Board plugs into a port what a chip is just now: BOOTSEL mode while the boot
// ROM waits in it, the program's own device while the program has its pull-up
// on, nothing else. The chip has to be made with a Bootsel function.
type Board struct {
	// Clock counts the time of all devices.
	Clock Clock

	chip *rp2350.Chip
	port *Port

	rom       *rp2350.BootselMode
	firmware  *Firmware
	attached  int // how often the pull-up was switched on
	seen      int
	listening bool
}

// NewBoard returns a board whose devices appear at port.
func NewBoard(chip *rp2350.Chip, port *Port) *Board { return &Board{chip: chip, port: port} }

// Poll follows the chip. It is for the chip's goroutine, between runs.
func (b *Board) Poll() {
	host := b.chip.Peripherals().USB.Host()
	if !b.listening {
		b.listening = true
		host.OnChange(func(on bool) {
			if on {
				b.attached++
			}
		})
		host.Power(true)
		if host.Attached() {
			b.attached++
		}
	}
	if rom := b.chip.BootselMode(); rom != b.rom {
		b.drop()
		if b.rom = rom; rom != nil {
			b.port.Plug(NewBootsel(rom, &b.Clock))
		}
	}
	if b.rom != nil {
		return
	}
	switch attached := host.Attached(); {
	case b.firmware != nil && (!attached || b.seen != b.attached):
		b.drop()
	case b.firmware == nil && attached:
		b.seen = b.attached
		b.firmware = NewFirmware(host, b.chip.Seconds, &b.Clock, func(f *Firmware) { b.port.Plug(f) })
	case b.firmware != nil && b.port.Device() == nil:
		b.firmware.Poll() // it is being enumerated
	}
}

// drop takes what is plugged in away.
func (b *Board) drop() {
	b.firmware = nil
	b.port.Unplug()
}

// Follow polls each millisecond of real time until ctx ends. do runs a function
// while the chip stands still.
func (b *Board) Follow(ctx context.Context, do func(f func())) {
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			do(b.Poll)
		}
	}
}
