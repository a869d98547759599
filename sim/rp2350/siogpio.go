package rp2350

// GPIO registers come in pairs, GPIO0..31 and GPIO_HI, in the order OUT and OE,
// each as value, SET, CLR and XOR (datasheet 3.1.3).

// loadGPIO reads an input or an output register; SET, CLR and XOR read 0.
func (s *sio) loadGPIO(off uint32) uint32 {
	switch off {
	case sioGPIOIn:
		return uint32(s.pads.Inputs())
	case sioGPIOHiIn:
		return uint32(s.pads.Inputs() >> 32)
	case sioGPIOOut:
		return uint32(s.out)
	case sioGPIOOut + 4:
		return uint32(s.out >> 32)
	case sioGPIOOut + 0x20:
		return uint32(s.oe)
	case sioGPIOOut + 0x24:
		return uint32(s.oe >> 32)
	}
	return 0
}

// hiMask are the GPIO_HI bits that exist: GPIO32..47, USB DP and DM, QSPI.
const hiMask = 0xff00ffff

func (s *sio) storeGPIO(off, v uint32) {
	r := off - sioGPIOOut
	reg := &s.out
	if r >= 0x20 {
		reg = &s.oe
	}
	w := uint64(v)
	mask := uint64(0xffffffff)
	if r&4 != 0 {
		w, mask = w<<32, uint64(hiMask)<<32
	}
	w &= mask
	switch r >> 3 & 3 {
	case 0:
		*reg = *reg&^mask | w
	case 1:
		*reg |= w
	case 2:
		*reg &^= w
	case 3:
		*reg ^= w
	}
	s.drive()
}

func (s *sio) drive() {
	if s.pads != nil {
		s.pads.DriveSIO(s.out, s.oe)
	}
}
