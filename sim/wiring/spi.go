package wiring

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

// SPIRegisters is a device of registers on SPI: after its select falls, the
// first byte says which register, with the top bit set (or ReadBit) to read;
// the bytes behind it are written or read, one register after the other.
type SPIRegisters struct {
	named
	SCK, MOSI, MISO, CS int
	// Mode is CPOL·2 + CPHA.
	Mode      int
	Registers map[uint8]uint8
	ReadBit   uint8
	Report    bool

	b       *Board
	out     *Line
	values  [256]uint8
	on      bool // selected
	clock   bool
	bits    int
	in      uint8
	shift   uint8
	at      uint8
	command bool // the next byte is the first one
	read    bool
}

// Plug implements Part.
func (d *SPIRegisters) Plug(b *Board) error {
	if err := b.has(d, d.SCK, d.MOSI, d.MISO, d.CS); err != nil {
		return err
	}
	d.b, d.out = b, b.Line(d.MISO)
	b.Line(d.CS).Drive(periph.DriveWeakHigh)
	b.OnPowerUp(func() {
		d.values = [256]uint8{}
		for r, v := range d.Registers {
			d.values[r] = v
		}
		d.out.Drive(periph.DriveNone)
		d.on, d.clock = false, b.High(d.SCK)
	})
	b.Watch(d.changed, d.CS, d.SCK)
	return nil
}

func (d *SPIRegisters) changed() {
	if on := !d.b.High(d.CS); on != d.on {
		d.on = on
		d.clock = d.b.High(d.SCK)
		d.bits, d.in, d.shift, d.command, d.read = 0, 0, 0, true, false
		if !on {
			d.out.Drive(periph.DriveNone)
			return
		}
		if d.Mode&1 == 0 {
			d.send()
		}
		return
	}
	clock := d.b.High(d.SCK)
	if !d.on || clock == d.clock {
		return
	}
	d.clock = clock
	leading := clock == (d.Mode&2 == 0)
	if leading == (d.Mode&1 == 0) {
		d.sample()
	} else {
		d.send()
	}
}

// send puts the next bit on MISO.
func (d *SPIRegisters) send() {
	if d.shift<<d.bits&0x80 != 0 {
		d.out.Drive(periph.DriveHigh)
	} else {
		d.out.Drive(periph.DriveLow)
	}
}

// sample takes a bit from MOSI.
func (d *SPIRegisters) sample() {
	d.in = d.in<<1 | b2u(d.b.High(d.MOSI))
	if d.bits++; d.bits < 8 {
		return
	}
	v := d.in
	d.bits, d.in, d.shift = 0, 0, 0
	switch {
	case d.command:
		d.command = false
		d.read = v&d.ReadBit != 0
		d.at = v &^ d.ReadBit
		if d.read {
			d.shift = d.values[d.at]
		}
	case d.read:
		d.at = (d.at + 1) &^ d.ReadBit
		d.shift = d.values[d.at]
	default:
		d.values[d.at] = v
		if d.Report {
			d.b.Say(d, "register %#02x = %#02x", d.at, v)
		}
		d.at = (d.at + 1) &^ d.ReadBit
	}
}
