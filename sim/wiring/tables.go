package wiring

import (
	"fmt"
	"sort"
	"strconv"
	"time"
)

// parts makes the parts that a description names.
func (d *description) parts(p *parser) []Part {
	var all []Part
	for i, t := range d.LED {
		n := p.part("led", i, t.Name)
		all = append(all, &LED{named: n, Pin: p.pin(n, "pin", t.Pin), Low: p.choice(n, "active", t.Active, "high", "low")})
	}
	for i, t := range d.Button {
		all = append(all, t.part(p, i))
	}
	for i, t := range d.Pot {
		all = append(all, t.part(p, i))
	}
	for i, t := range d.Waveform {
		n := p.part("waveform", i, t.Name)
		all = append(all, &Voltage{named: n, Pin: p.pin(n, "pin", t.Pin), Points: p.csv(n, t.File), Linear: !t.Step, Repeat: t.Repeat})
	}
	for i, t := range d.Wire {
		n := p.part("wire", i, t.Name)
		if len(t.Pins) < 2 {
			p.fail(string(n), fmt.Sprintf("%d pins", len(t.Pins)), "pins = [2, 3]")
		}
		for _, v := range t.Pins {
			p.pin(n, "pins", &v)
		}
		p.apart(n, t.Pins...)
		all = append(all, &Wire{named: n, Pins: t.Pins})
	}
	for i, t := range d.Pull {
		n := p.part("pull", i, t.Name)
		all = append(all, &Pull{named: n, Pin: p.pin(n, "pin", t.Pin), Up: !p.choice(n, "to", t.To, "3v3", "ground")})
	}
	for i, t := range d.EEPROM {
		all = append(all, t.part(p, i))
	}
	for i, t := range d.I2C {
		n := p.part("i2c-registers", i, t.Name)
		r := &I2CRegisters{
			named: n, SDA: p.pin(n, "sda", t.SDA), SCL: p.pin(n, "scl", t.SCL),
			Address: p.address(n, t.Address), PullUps: t.PullUps == nil || *t.PullUps,
			Registers: p.registers(n, t.Registers), Report: t.Report,
		}
		p.apart(n, r.SDA, r.SCL)
		all = append(all, r)
	}
	for i, t := range d.SPI {
		n := p.part("spi-registers", i, t.Name)
		s := &SPIRegisters{
			named: n, SCK: p.pin(n, "sck", t.SCK), MOSI: p.pin(n, "mosi", t.MOSI),
			MISO: p.pin(n, "miso", t.MISO), CS: p.pin(n, "cs", t.CS),
			Mode: p.within(n, "mode", &t.Mode, 0, 0, 3), Registers: p.registers(n, t.Registers),
			ReadBit: uint8(p.within(n, "read-bit", t.ReadBit, 0x80, 1, 0x80)), Report: t.Report,
		}
		p.apart(n, s.SCK, s.MOSI, s.MISO, s.CS)
		all = append(all, s)
	}
	for i, t := range d.Loopback {
		n := p.part("uart-loopback", i, t.Name)
		l := &Loopback{named: n, TX: p.pin(n, "tx", t.TX), RX: p.pin(n, "rx", t.RX)}
		p.apart(n, l.TX, l.RX)
		all = append(all, l)
	}
	return all
}

// maxSteps bounds what a script may contain.
const maxSteps = 100_000

func (t *buttonTable) part(p *parser, i int) *Button {
	n := p.part("button", i, t.Name)
	k := &Button{
		named: n, Pin: p.pin(n, "pin", t.Pin), High: p.choice(n, "to", t.To, "ground", "3v3"),
		Bounce: time.Duration(t.Bounce),
	}
	if k.Bounce > 100*time.Millisecond {
		p.fail(string(n), fmt.Sprintf("bounce = %v", k.Bounce), "at most 100ms")
	}
	if len(t.Press) > maxSteps {
		p.fail(string(n), fmt.Sprintf("%d presses", len(t.Press)), fmt.Sprintf("at most %d", maxSteps))
		return k
	}
	for _, s := range t.Press {
		if s.At == nil || s.For == nil || *s.For == 0 {
			p.fail(string(n), "a press without at or for", `press = [{at = "1s", for = "50ms"}]`)
			break
		}
		k.Presses = append(k.Presses, Press{At: time.Duration(*s.At), For: time.Duration(*s.For)})
	}
	p.ordered(k)
	return k
}

// ordered checks that the presses follow each other.
func (p *parser) ordered(k *Button) {
	sort.SliceStable(k.Presses, func(i, j int) bool { return k.Presses[i].At < k.Presses[j].At })
	for i, s := range k.Presses {
		if s.For <= k.Bounce {
			p.fail(k.Name(), fmt.Sprintf("pressed for %v and bouncing for %v", s.For, k.Bounce), "a press longer than its bounces")
		}
		if i > 0 && k.Presses[i-1].At+k.Presses[i-1].For+k.Bounce >= s.At {
			p.fail(k.Name(), fmt.Sprintf("pressed at %v while it still is", s.At), "presses one after the other")
		}
	}
}

func (t *potTable) part(p *parser, i int) *Voltage {
	n := p.part("potentiometer", i, t.Name)
	v := &Voltage{named: n, Pin: p.pin(n, "pin", t.Pin)}
	at := func(when time.Duration, position *float64) {
		switch {
		case position == nil:
			v.Points = append(v.Points, Point{when, reference / 2})
		case !(*position >= 0 && *position <= 1):
			p.fail(string(n), fmt.Sprintf("position %v", *position), "0 to 1")
		default:
			v.Points = append(v.Points, Point{when, reference * *position})
		}
	}
	at(0, t.Position)
	for k, s := range t.Turn {
		if s.At == nil || s.To == nil || k >= maxSteps {
			p.fail(string(n), "a turn without at or to", `turn = [{at = "1s", to = 0.8}]`)
			break
		}
		at(time.Duration(*s.At), s.To)
	}
	sort.SliceStable(v.Points, func(i, j int) bool { return v.Points[i].At < v.Points[j].At })
	return v
}

func (t *eepromTable) part(p *parser, i int) *EEPROM {
	n := p.part("i2c-eeprom", i, t.Name)
	size := p.within(n, "size", t.Size, 4096, 128, 65536)
	page := p.within(n, "page", t.Page, min(32, size), 1, 256)
	if size&(size-1) != 0 || page&(page-1) != 0 || page > size {
		p.fail(string(n), fmt.Sprintf("size = %d, page = %d", size, page), "powers of two")
	}
	e := &EEPROM{
		named: n, SDA: p.pin(n, "sda", t.SDA), SCL: p.pin(n, "scl", t.SCL), Size: size, Page: page,
		PullUps: t.PullUps == nil || *t.PullUps, WriteTime: 5_000_000_000,
	}
	p.apart(n, e.SDA, e.SCL)
	def := 0x50
	if t.Address == nil {
		t.Address = &def
	}
	e.Address = p.address(n, t.Address)
	if size > 256 && size <= 2048 && int(e.Address)&(size/256-1) != 0 {
		p.fail(string(n), fmt.Sprintf("address = %#02x", e.Address), fmt.Sprintf("a multiple of %d: this size takes several addresses", size/256))
	}
	if t.WriteTime != nil {
		e.WriteTime = uint64(*t.WriteTime) * picosPerNano
	}
	if t.File != "" {
		e.Contents = p.file(n, t.File)
		if len(e.Contents) > size {
			p.fail(string(n), fmt.Sprintf("%s has %d bytes", t.File, len(e.Contents)), fmt.Sprintf("at most %d", size))
		}
	}
	return e
}

// address checks a 7-bit I2C address that a device may have (UM10204, 3.1.12).
func (p *parser) address(n named, v *int) uint8 {
	if v == nil {
		p.fail(string(n), "no address", "address = 0x08 to 0x77")
		return 0
	}
	return uint8(p.within(n, "address", v, 8, 0x08, 0x77))
}

// registers reads a table of numbers.
func (p *parser) registers(n named, t map[string]int) map[uint8]uint8 {
	r := map[uint8]uint8{}
	for k, v := range t {
		a, err := strconv.ParseUint(k, 0, 8)
		if err != nil || v < 0 || v > 255 {
			p.fail(string(n), fmt.Sprintf("register %s = %d", k, v), "numbers of 8 bits, as in 0x75 = 0x68")
			continue
		}
		r[uint8(a)] = uint8(v)
	}
	return r
}

// file reads a file that the description names.
func (p *parser) file(n named, name string) []byte {
	if p.open == nil {
		p.fail(string(n), name, "a description without files")
		return nil
	}
	b, err := p.open(name)
	switch {
	case err != nil:
		p.fail(string(n), err.Error(), "a file that can be read")
	case len(b) > maxDescription:
		p.fail(string(n), fmt.Sprintf("%s has %d bytes", name, len(b)), "at most 1 MiB")
	default:
		return b
	}
	return nil
}
