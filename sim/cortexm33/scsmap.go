package cortexm33

// scsRead reads the system control space at 0xe000e000 + off as security state
// ns sees it.
func (c *Core) scsRead(off uint32, ns, peek bool) uint32 {
	s := b2i(ns)
	switch {
	case off >= 0x100 && off < 0x600:
		return c.nvicRead(off, ns)
	case off >= 0x010 && off < 0x020:
		return c.tickFor(s).read(c, off, peek)
	case off >= 0xd18 && off < 0xd24:
		return c.readSHPR(s, off-0xd18)
	case off >= 0xd40 && off < 0xd80:
		return idRegister(off)
	case off >= 0xd90 && off < 0xdc8:
		return c.mpu[s].read(c, off-0xd90)
	case off >= 0xdd0 && off < 0xdec:
		if ns {
			return 0
		}
		return c.sau.read(c, off-0xdd0)
	case off >= 0xdf0 && off < 0xe10:
		return c.dbg.read(c, off, peek)
	}
	switch off {
	case 0x004:
		return uint32(c.cfg.NumIRQs-1) / 32
	case 0x008:
		return c.scs.actlr[s]
	case 0x00c:
		return c.scs.cppwr
	case 0xd00:
		return c.cfg.CPUID
	case 0xd04:
		return c.readICSR(s)
	case 0xd08:
		return c.scs.vtor[s]
	case 0xd0c:
		return c.readAIRCR(s)
	case 0xd10:
		return c.scs.scr[s]
	case 0xd14:
		if s == 1 {
			return c.scs.ccr[1] | c.scs.ccr[0]&ccrBFHFNMIGN
		}
		return c.scs.ccr[0]
	case 0xd24:
		return c.readSHCSR(s)
	case 0xd28:
		return c.readCFSR(s)
	case 0xd2c:
		if ns && !c.scs.bfns {
			return 0
		}
		return c.scs.hfsr
	case 0xd30:
		return c.scs.dfsr
	case 0xd34:
		return c.scs.mmfar[s]
	case 0xd38:
		if ns && !c.scs.bfns {
			return 0
		}
		return c.scs.bfar
	case 0xd84:
		return c.scs.csselr
	case 0xd88:
		return c.scs.cpacr[s]
	case 0xd8c:
		if ns {
			return 0
		}
		return c.scs.nsacr
	case 0xf34:
		return c.fp.readFPCCR(c, s)
	case 0xf38:
		return c.fp.fpcar[s]
	case 0xf3c:
		return c.fp.fpdscr[s]
	case 0xf40:
		return 0x10110021
	case 0xf44:
		return 0x11000011
	case 0xf48:
		return 0x00000040
	case 0xfb8:
		return c.dauthstatus()
	}
	return component(off, 9, 0xd21, 0x47702a04)
}

func (c *Core) scsWrite(off, v uint32, ns, debugger bool) {
	s := b2i(ns)
	switch {
	case off >= 0x100 && off < 0x600:
		c.nvicWrite(off, v, ns)
		return
	case off >= 0x010 && off < 0x020:
		c.tickFor(s).write(c, off, v)
		return
	case off >= 0xd18 && off < 0xd24:
		c.writeSHPR(s, off-0xd18, v)
		return
	case off >= 0xd90 && off < 0xdc8:
		c.mpu[s].write(c, off-0xd90, v)
		return
	case off >= 0xdd0 && off < 0xdec:
		if !ns {
			c.sau.write(c, off-0xdd0, v)
		}
		return
	case off >= 0xdf0 && off < 0xe10:
		c.dbg.write(c, off, v, debugger)
		return
	}
	switch off {
	case 0x008:
		c.scs.actlr[s] = v & 0x20001dfd
	case 0x00c:
		c.scs.cppwr = v
	case 0xd04:
		c.writeICSR(s, v)
	case 0xd08:
		c.scs.vtor[s] = v &^ 0x7f
	case 0xd0c:
		c.writeAIRCR(s, v)
	case 0xd10:
		c.scs.scr[s] = v & (scrSLEEPONEXIT | scrSLEEPDEEP | 8 | scrSEVONPEND)
	case 0xd14:
		c.scs.ccr[s] = v&ccrWritable | ccrFixed
		if s == 1 {
			c.scs.ccr[1] &^= ccrBFHFNMIGN
		}
		c.regimeChanged()
	case 0xd24:
		c.writeSHCSR(s, v)
	case 0xd28:
		c.writeCFSR(s, v)
	case 0xd2c:
		if !ns || c.scs.bfns {
			c.scs.hfsr &^= v
		}
	case 0xd30:
		c.scs.dfsr &^= v
	case 0xd34:
		c.scs.mmfar[s] = v
	case 0xd38:
		if !ns || c.scs.bfns {
			c.scs.bfar = v
		}
	case 0xd84:
		c.scs.csselr = v & 15
	case 0xd88:
		// CP0 to CP7, CP10; CP11 follows CP10.
		c.scs.cpacr[s] = v&0x0030ffff | v>>20&3<<22
		c.fpChanged()
	case 0xd8c:
		if !ns {
			c.scs.nsacr = v & 0x4ff
			c.scs.nsacr |= v >> 10 & 1 << 11
			c.fpChanged()
		}
	case 0xf00:
		if n := v & 0x1ff; n < uint32(c.cfg.NumIRQs) && (!ns || c.nvic.ns>>n&1 != 0) {
			c.nvic.pend |= 1 << n
			c.pendEvent()
		}
	case 0xf34:
		c.fp.writeFPCCR(c, s, v)
	case 0xf38:
		c.fp.fpcar[s] = v &^ 7
	case 0xf3c:
		c.fp.fpdscr[s] = v & 0x07c00000
	}
	c.attention()
}

// idRegister returns the processor feature registers at 0xe000ed40.
func idRegister(off uint32) uint32 {
	switch off {
	case 0xd40: // PFR0
		return 0x00000030
	case 0xd44: // PFR1: Security Extension
		return 0x00000210
	case 0xd48: // DFR0
		return 0x00200000
	case 0xd50: // MMFR0
		return 0x00101f40
	case 0xd58: // MMFR2
		return 0x01000000
	case 0xd60: // ISAR0
		return 0x01101110
	case 0xd64:
		return 0x02212000
	case 0xd68:
		return 0x20232232
	case 0xd6c:
		return 0x01111131
	case 0xd70:
		return 0x01310132
	case 0xd7c: // CTR
		return 0x8000c000
	}
	return 0
}

// nvicRead reads the interrupt controller's registers at 0xe000e100.
func (c *Core) nvicRead(off uint32, ns bool) uint32 {
	see := c.irqMask()
	if ns {
		see &= c.nvic.ns
	}
	sh := off & 0x7f / 4 * 32
	word := func(v uint64) uint32 {
		if sh >= 64 {
			return 0
		}
		return uint32((v & see) >> sh)
	}
	switch {
	case off < 0x200:
		return word(c.nvic.en)
	case off < 0x300:
		return word(c.nvic.pend)
	case off < 0x380:
		return word(c.nvic.act)
	case off < 0x400:
		if ns {
			return 0
		}
		return word(c.nvic.ns)
	}
	var v uint32
	for k := uint32(0); k < 4; k++ {
		if n := off - 0x400 + k; n < uint32(c.cfg.NumIRQs) && see>>n&1 != 0 {
			v |= uint32(c.nvic.prio[n]) << (8 * k)
		}
	}
	return v
}

func (c *Core) nvicWrite(off, v uint32, ns bool) {
	see := c.irqMask()
	if ns {
		see &= c.nvic.ns
	}
	sh := off & 0x7f / 4 * 32
	var m uint64
	if sh < 64 {
		m = uint64(v) << sh & see
	}
	switch {
	case off < 0x180:
		c.nvic.en |= m
	case off < 0x200:
		c.nvic.en &^= m
	case off < 0x280:
		c.nvic.pend |= m
		c.pendEvent()
	case off < 0x300:
		// A line that is asserted stays pending.
		c.nvic.pend &^= m &^ (c.nvic.level &^ c.nvic.act)
	case off < 0x380:
	case off < 0x400:
		if !ns && sh < 64 {
			c.nvic.ns = c.nvic.ns&^(0xffffffff<<sh&see) | m
		}
	default:
		for k := uint32(0); k < 4; k++ {
			if n := off - 0x400 + k; n < uint32(c.cfg.NumIRQs) && see>>n&1 != 0 {
				c.nvic.prio[n] = uint8(v>>(8*k)) & c.prioMask()
			}
		}
	}
	c.regimeChanged()
	c.attention()
}
