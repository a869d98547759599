package wiring

import "github.com/stem-hw/stem-hw/sim/rp2350"

// EEPROM is a serial EEPROM of the 24C series (Microchip 24LC256 and its
// smaller sisters): one or two address bytes, pages that wrap, and a write that
// takes its time, during which it does not answer.
type EEPROM struct {
	named
	SDA, SCL int
	Address  uint8
	PullUps  bool
	// Size and Page in bytes are powers of two.
	Size, Page int
	// Contents are what it holds at first; the rest is erased.
	Contents []byte
	// WriteTime is how long a write takes, in picoseconds.
	WriteTime uint64

	bus    i2cBus
	mem    []byte
	at     int
	got    int // address bytes that came
	dirty  bool
	busy   rp2350.Alarm
	buffer map[int]byte
}

// Plug implements Part.
func (e *EEPROM) Plug(b *Board) error {
	e.mem = make([]byte, e.Size)
	e.bus = i2cBus{SDA: e.SDA, SCL: e.SCL, dev: e, mine: e.mine}
	e.busy.Fire = func() {}
	for i := range e.mem {
		e.mem[i] = 0xff
	}
	copy(e.mem, e.Contents)
	b.OnPowerUp(func() { e.at, e.got, e.dirty = 0, 0, false })
	return e.bus.plug(e, b, e.PullUps)
}

// wide reports whether addresses have two bytes.
func (e *EEPROM) wide() bool { return e.Size > 2048 }

// mine: parts of 512 to 2048 bytes take the upper address bits from the device
// address.
func (e *EEPROM) mine(a uint8) bool {
	if e.wide() || e.Size <= 256 {
		return a == e.Address
	}
	return a&^uint8(e.Size/256-1) == e.Address
}

// Begin implements i2cDevice.
func (e *EEPROM) Begin(address uint8, read bool) bool {
	if e.busy.Set() {
		return false
	}
	e.got, e.dirty = 0, false
	e.buffer = map[int]byte{}
	if !e.wide() {
		e.at = e.at&0xff | int(address-e.Address)<<8
	}
	return true
}

// Put implements i2cDevice.
func (e *EEPROM) Put(v uint8) bool {
	switch {
	case e.got == 0 && e.wide():
		e.at = int(v) << 8
	case e.got == 0:
		e.at, e.got = e.at&^0xff|int(v), 1
		e.at %= e.Size
	case e.got == 1 && e.wide():
		e.at = (e.at | int(v)) % e.Size
	default:
		e.buffer[e.at] = v
		e.dirty = true
		e.at = e.at&^(e.Page-1) | (e.at+1)&(e.Page-1)
	}
	if e.got < 2 {
		e.got++
	}
	return true
}

// Get implements i2cDevice.
func (e *EEPROM) Get() uint8 {
	v := e.mem[e.at]
	e.at = (e.at + 1) % e.Size
	return v
}

// End implements i2cDevice: a write begins at the stop.
func (e *EEPROM) End() {
	if !e.dirty {
		return
	}
	for a, v := range e.buffer {
		e.mem[a] = v
	}
	e.dirty = false
	e.bus.b.Say(e, "%d bytes written", len(e.buffer))
	e.bus.b.At(&e.busy, e.bus.b.Picos()+e.WriteTime)
}

// Bytes are what the EEPROM holds.
func (e *EEPROM) Bytes() []byte { return e.mem }
