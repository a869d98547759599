package virtual

import (
	"context"
	"time"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// Board plugs into a port what a chip is just now: BOOTSEL mode while the boot
// ROM waits in it, the program's own device while the program has its pull-up
// on, nothing else. The chip has to be made with a Bootsel function.
type Board struct {
	// Clock counts the time of all devices.
	Clock Clock
	// Power, if set, hears that the board's power goes or comes: the cable is
	// what feeds it.
	Power func(on bool)

	chip *rp2350.Chip
	port *Port

	rom       *rp2350.BootselMode
	gadget    *Gadget // of rom
	firmware  *Firmware
	device    Device // what was made of either, with its faults
	attached  int    // how often the pull-up was switched on
	seen      int
	listening bool
	readyAt   time.Duration // when a device that was made is on the bus

	before   time.Duration // time of the chip's earlier power-ups
	faults   *troubles
	stuck    []Fault       // that are to come
	cut      bool          // a flash operation was cut off
	offUntil time.Duration // without power after that
	flashOps map[string]int
}

// NewBoard returns a board whose devices appear at port.
func NewBoard(chip *rp2350.Chip, port *Port) *Board {
	b := &Board{chip: chip, port: port, flashOps: map[string]int{}}
	b.faults = newTroubles(b.Now)
	return b
}

// Now is the simulated time since the board was first powered.
func (b *Board) Now() time.Duration {
	return b.before + time.Duration(b.chip.Seconds()*float64(time.Second))
}

// RealTime makes USB, flash and restarts take their time: devices wait until
// simulated time has come that far.
func (b *Board) RealTime() { b.Clock.Pace = b.Now }

// Inject makes faults happen. It comes before the first Poll.
func (b *Board) Inject(faults ...Fault) {
	b.faults.faults = append(b.faults.faults, faults...)
	for _, f := range faults {
		switch f.Kind {
		case FaultStuckBit:
			b.stuck = append(b.stuck, f)
		case FaultPowerLoss:
			b.chip.Flash().Cut(b.flashOp)
		case FaultUnplug, FaultStall, FaultSlowHost, FaultFullFIFO, FaultSerial:
		}
	}
}

// flashOp counts an operation of the flash and says whether power is lost in it.
func (b *Board) flashOp(erase bool, _, _ uint32) bool {
	op := CutProgram
	if erase {
		op = CutErase
	}
	b.flashOps[op]++
	for _, f := range b.faults.faults {
		if f.Kind == FaultPowerLoss && f.Operation == op && f.Count == b.flashOps[op] {
			b.cut, b.offUntil = true, b.Now()+f.For
			if b.gadget != nil {
				b.gadget.Lose()
			}
			b.chip.PowerOff()
			return true
		}
	}
	return false
}

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
	if !b.power() {
		return
	}
	if rom := b.chip.BootselMode(); rom != b.rom {
		b.drop()
		if b.rom = rom; rom != nil {
			b.gadget = NewBootsel(rom, &b.Clock)
			b.enter(b.gadget)
		}
	}
	if b.rom != nil {
		b.show()
		return
	}
	switch attached := host.Attached(); {
	case b.firmware != nil && (!attached || b.seen != b.attached):
		b.drop()
	case b.firmware == nil && attached:
		b.seen = b.attached
		b.firmware = NewFirmware(host, b.chip.Seconds, &b.Clock, func(f *Firmware) { b.enter(f) })
	case b.firmware != nil && b.device == nil:
		b.firmware.Poll() // it is being enumerated
	}
	b.show()
}

// power keeps the chip's power as the cable and the faults want it.
func (b *Board) power() bool {
	for len(b.stuck) > 0 && b.Now() >= b.stuck[0].At {
		f := b.stuck[0]
		b.stuck = b.stuck[1:]
		b.chip.Flash().Stick(f.Addr-boot.FlashBase, f.Bit, f.Level)
	}
	off := b.faults.unplugged() || b.Now() < b.offUntil
	switch {
	case off && (b.chip.Powered() || b.cut):
		b.cut = false
		b.drop()
		b.rom = nil
		b.chip.PowerOff()
		if b.Power != nil {
			b.Power(false)
		}
	case !off && !b.chip.Powered():
		b.drop()
		b.rom = nil
		b.before, b.cut = b.Now(), false
		b.chip.PowerOn()
		b.chip.Peripherals().USB.Host().Power(true)
		if b.Power != nil {
			b.Power(true)
		}
	}
	return !off
}

// enter makes ready what is to be plugged in.
func (b *Board) enter(d Device) {
	again := b.Clock.Enumerations > 0
	b.Clock.enumerated(again)
	if again {
		b.faults.returns++
	}
	b.device, b.readyAt = b.faults.wrap(d), b.Now()
	if again && b.Clock.Pace != nil {
		b.readyAt += offBus
	}
}

// offBus is the part of a restart in which the board is not on the bus; the host
// takes the rest of its time itself.
const offBus = 700 * time.Millisecond

// show plugs in what is ready.
func (b *Board) show() {
	if b.device != nil && b.port.Device() != b.device && b.Now() >= b.readyAt {
		b.port.Plug(b.device)
	}
}

// drop takes what is plugged in away.
func (b *Board) drop() {
	if b.firmware != nil {
		b.firmware.Detach()
	}
	b.firmware, b.gadget, b.device = nil, nil, nil
	b.port.Unplug()
}

// Follow polls each millisecond of real time until ctx ends. do runs a function
// while the chip stands still.
func (b *Board) Follow(ctx context.Context, do func(f func())) { follow(ctx, do, b.Poll) }

func follow(ctx context.Context, do func(f func()), poll func()) {
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			do(poll)
		}
	}
}
