package wiring

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// i2cDevice is what an I2C target does with bytes.
type i2cDevice interface {
	// Begin is an address that is this device's; false does not acknowledge.
	Begin(address uint8, read bool) bool
	// Put takes a byte; false does not acknowledge.
	Put(v uint8) bool
	// Get gives the next byte.
	Get() uint8
	// End is a stop, or a start that begins something else.
	End()
}

// i2cBus follows the two lines of a bus for one target (NXP UM10204): data is
// valid while SCL is high; SDA falling then is a start, rising a stop; after
// eight bits the receiver holds SDA low for a ninth.
type i2cBus struct {
	SDA, SCL int
	// mine says which addresses are the device's.
	mine func(address uint8) bool
	dev  i2cDevice

	b        *Board
	line     *Line
	sda, scl bool
	active   bool // between a start and a stop, and meant
	sending  bool // the target sends
	bits     int
	shift    uint8
	first    bool // the byte is the address
	ack      bool // the ninth bit is going on
}

func (t *i2cBus) plug(p Part, b *Board, pullUps bool) error {
	if err := b.has(p, t.SDA, t.SCL); err != nil {
		return err
	}
	t.b, t.line = b, b.Line(t.SDA)
	if pullUps {
		b.Line(t.SDA).Drive(periph.DriveWeakHigh)
		b.Line(t.SCL).Drive(periph.DriveWeakHigh)
	}
	b.OnPowerUp(func() {
		t.line.Drive(periph.DriveNone)
		t.sda, t.scl = b.High(t.SDA), b.High(t.SCL)
		t.active = false
	})
	b.Watch(t.changed, t.SDA, t.SCL)
	return nil
}

// pull holds SDA low or lets it go.
func (t *i2cBus) pull(low bool) {
	if low {
		t.line.Drive(periph.DriveLow)
	} else {
		t.line.Drive(periph.DriveNone)
	}
}

func (t *i2cBus) changed() {
	sda, scl := t.b.High(t.SDA), t.b.High(t.SCL)
	oldSDA, oldSCL := t.sda, t.scl
	t.sda, t.scl = sda, scl
	switch {
	case scl && oldSCL && oldSDA && !sda:
		t.end()
		t.active, t.first, t.sending, t.ack = true, true, false, false
		t.bits, t.shift = 0, 0
	case scl && oldSCL && !oldSDA && sda:
		t.end()
	case scl && !oldSCL:
		t.rise(sda)
	case !scl && oldSCL:
		t.fall()
	}
}

func (t *i2cBus) end() {
	if t.active && !t.first {
		t.dev.End()
	}
	t.active = false
	t.pull(false)
}

// rise is a bit being read, by whoever receives.
func (t *i2cBus) rise(sda bool) {
	switch {
	case !t.active:
	case t.ack && t.sending:
		if sda { // the controller wants no more
			t.active = false
			t.dev.End()
		}
	case t.ack:
	case t.sending:
		t.bits++
	default:
		t.shift = t.shift<<1 | b2u(sda)
		t.bits++
	}
}

// fall is when SDA may change.
func (t *i2cBus) fall() {
	if !t.active {
		t.pull(false)
		return
	}
	switch {
	case t.ack:
		t.ack = false
		t.bits = 0
		t.pull(false)
		if t.sending {
			t.shift = t.dev.Get()
			t.pull(t.shift&0x80 == 0)
		}
	case t.bits < 8 && t.sending:
		t.pull(t.shift<<t.bits&0x80 == 0)
	case t.bits == 8 && t.sending:
		t.pull(false)
		t.ack = true
	case t.bits == 8:
		t.received()
	}
}

// received takes a whole byte, with SCL low before the ninth bit.
func (t *i2cBus) received() {
	if t.first {
		address, read := t.shift>>1, t.shift&1 != 0
		if !t.mine(address) || !t.dev.Begin(address, read) {
			t.active = false
			return
		}
		t.first, t.sending = false, read
		t.ack = true
		t.pull(true)
		return
	}
	t.ack = true
	t.pull(t.dev.Put(t.shift))
	t.shift = 0
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// I2CRegisters is a device of registers: a written byte chooses one, further
// bytes are written to it and those behind it, and reading goes on from there.
type I2CRegisters struct {
	named
	SDA, SCL  int
	Address   uint8
	PullUps   bool
	Registers map[uint8]uint8
	// Report says that writes are reported.
	Report bool

	bus    i2cBus
	values [256]uint8
	at     uint8
	chosen bool
}

// Plug implements Part.
func (d *I2CRegisters) Plug(b *Board) error {
	d.bus = i2cBus{SDA: d.SDA, SCL: d.SCL, dev: d, mine: func(a uint8) bool { return a == d.Address }}
	b.OnPowerUp(func() {
		d.values, d.at = [256]uint8{}, 0
		for r, v := range d.Registers {
			d.values[r] = v
		}
	})
	return d.bus.plug(d, b, d.PullUps)
}

// Begin implements i2cDevice.
func (d *I2CRegisters) Begin(_ uint8, read bool) bool {
	d.chosen = read
	return true
}

// Put implements i2cDevice.
func (d *I2CRegisters) Put(v uint8) bool {
	if !d.chosen {
		d.at, d.chosen = v, true
		return true
	}
	d.values[d.at] = v
	if d.Report {
		d.bus.b.Say(d, "register %#02x = %#02x", d.at, v)
	}
	d.at++
	return true
}

// Get implements i2cDevice.
func (d *I2CRegisters) Get() uint8 {
	v := d.values[d.at]
	d.at++
	return v
}

// End implements i2cDevice.
func (d *I2CRegisters) End() {}

// String describes the device for error messages.
func (d *I2CRegisters) String() string { return fmt.Sprintf("%s at %#02x", d.Name(), d.Address) }
