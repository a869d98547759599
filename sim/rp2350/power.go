package rp2350

// PowerOff takes the chip's power away: cores, RAM and peripherals are gone, time
// goes on. It may be called while the chip runs. What was loaded into RAM is
// lost.
func (c *Chip) PowerOff() {
	if c.off {
		return
	}
	c.off, c.bootsel, c.ramImage = true, nil, nil
	c.parts.USB.Reset()
	c.shorten(0)
}

// PowerOn is power-up after PowerOff; its clock begins at 0.
func (c *Chip) PowerOn() {
	if !c.off {
		return
	}
	c.off = false
	c.Reset()
}

// Powered reports whether the chip has power.
func (c *Chip) Powered() bool { return !c.off }
