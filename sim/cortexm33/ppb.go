package cortexm33

// The private peripheral bus, 0xe0000000 to 0xe00fffff: ITM, DWT, FPB, the
// system control space and, on the RP2350, EPPB. Accesses never reach the
// machine's bus.

// ppbRead performs a load of size bytes for the program.
func (c *Core) ppbRead(a *access, addr, size uint32) (uint32, bool) {
	if !a.priv && !c.itm.unprivileged(addr) {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return 0, false
	}
	v, ok := c.ppbWord(addr&^3, a.ns, false)
	if !ok {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return 0, false
	}
	return v >> (8 * (addr & 3)) & (1<<(8*size-1)<<1 - 1), true
}

// ppbWrite performs a store for the program.
func (c *Core) ppbWrite(a *access, addr, size, v uint32) bool {
	stir := addr == 0xe000ef00 && c.scs.ccr[b2i(a.ns)]&ccrUSERSETMPEND != 0
	if !a.priv && !stir && !c.itm.unprivileged(addr) {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return false
	}
	c.now(a.now)
	if !c.ppbStore(addr, size, v, a.ns) {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return false
	}
	return true
}

// now brings what counts cycles up to date.
func (c *Core) now(cycle uint64) {
	c.tick[0].advance(c, 0, cycle)
	c.tick[1].advance(c, 1, cycle)
}

// ppbStore writes a register. Narrow writes are merged into the word, except
// where the register acts on the ones written.
func (c *Core) ppbStore(addr, size, v uint32, ns bool) bool {
	if addr < 0xe0000080 && size != 4 { // stimulus ports take any size
		c.itm.stimulus(c, int(addr>>2&31), v, uint8(size))
		return true
	}
	if size != 4 {
		sh := 8 * (addr & 3)
		mask := uint32(1<<(8*size)-1) << sh
		v = v << sh & mask
		if w := addr &^ 3; w != 0xe000ed28 && w != 0xe002ed28 {
			old, ok := c.ppbWord(w, ns, true)
			if !ok {
				return false
			}
			v |= old &^ mask
		}
		addr &^= 3
	}
	return c.ppbWordWrite(addr, v, ns, false)
}

// ppbWord reads a register. peek has no side effects.
func (c *Core) ppbWord(addr uint32, ns, peek bool) (v uint32, ok bool) {
	if !peek {
		c.now(c.Cycle)
	}
	off := addr & 0xfff
	switch addr >> 12 {
	case 0xe0000:
		return c.itm.read(off), true
	case 0xe0001:
		return c.dwt.read(c, off, peek), true
	case 0xe0002:
		return c.fpb.read(c, off), true
	case 0xe000e:
		return c.scsRead(off, ns, peek), true
	case 0xe002e: // Non-secure alias
		if ns {
			return 0, true
		}
		return c.scsRead(off, true, peek), true
	case 0xe0080:
		if c.cfg.EPPB {
			return c.eppb.read(off), true
		}
	case 0xe00ff:
		return romTable(off), true
	case 0xe0041, 0xe0042: // ETM and CTI: present, not modelled beyond their identity
		return 0, true
	}
	return 0, false
}

func (c *Core) ppbWordWrite(addr, v uint32, ns, debugger bool) bool {
	off := addr & 0xfff
	switch addr >> 12 {
	case 0xe0000:
		c.itm.write(c, off, v)
	case 0xe0001:
		c.dwt.write(c, off, v)
	case 0xe0002:
		c.fpb.write(c, off, v)
	case 0xe000e:
		c.scsWrite(off, v, ns, debugger)
	case 0xe002e:
		if !ns {
			c.scsWrite(off, v, true, debugger)
		}
	case 0xe0080:
		if !c.cfg.EPPB {
			return false
		}
		c.eppb.write(c, off, v)
	case 0xe00ff, 0xe0041, 0xe0042:
	default:
		return false
	}
	return true
}

// romTable is the core's CoreSight ROM table at 0xe00ff000.
func romTable(off uint32) uint32 {
	switch off {
	case 0x00:
		return 0xfff0f003 // SCS
	case 0x04:
		return 0xfff02003 // DWT
	case 0x08:
		return 0xfff03003 // FPB
	case 0x0c:
		return 0xfff01003 // ITM
	case 0x14:
		return 0xfff42003 // ETM
	case 0x18:
		return 0xfff43003 // CTI
	}
	return component(off, 1, 0x4c9, 0)
}

// component returns the identification registers of a CoreSight component of
// Arm's: class, part number and DEVARCH.
func component(off uint32, class, part, devarch uint32) uint32 {
	switch off {
	case 0xfbc:
		return devarch
	case 0xfd0:
		return 4
	case 0xfe0:
		return part & 0xff
	case 0xfe4:
		return 0xb0 | part>>8
	case 0xfe8:
		return 0x0b
	case 0xff0:
		return 0x0d
	case 0xff4:
		return class << 4
	case 0xff8:
		return 0x05
	case 0xffc:
		return 0xb1
	}
	return 0
}

// eppb are the RP2350's registers beside the core (datasheet 3.7.5).
type eppb struct {
	nmiMask   [2]uint32
	sleepCtrl uint32
}

func (e *eppb) read(off uint32) uint32 {
	switch off {
	case 0, 4:
		return e.nmiMask[off/4]
	case 8:
		return e.sleepCtrl | 2 // the wake-up interrupt controller is acknowledged
	}
	return 0
}

func (e *eppb) write(c *Core, off, v uint32) {
	switch off {
	case 0:
		e.nmiMask[0] = v
	case 4:
		e.nmiMask[1] = v & 0xfffff
	case 8:
		e.sleepCtrl = v & 5
	}
	c.nmiLevel()
}

// nmiLevel pends NMI while an interrupt routed to it is asserted.
func (c *Core) nmiLevel() {
	m := uint64(c.eppb.nmiMask[1])<<32 | uint64(c.eppb.nmiMask[0])
	if m&c.nvic.level != 0 {
		c.SetNMI()
	}
}
