package debugport

// Places in the space of access ports (RP2350 datasheet 3.5.2).
const (
	apROM    uint32 = 0x00000
	apAHB0   uint32 = 0x02000
	apAHB1   uint32 = 0x04000
	apTS     uint32 = 0x06000
	apFunnel uint32 = 0x07000
	apTPIU   uint32 = 0x08000
	apCTI    uint32 = 0x09000
	apAPB    uint32 = 0x0a000
	apRP     uint32 = 0x80000
)

// AccessPorts is the space of access ports.
type AccessPorts struct {
	chip Chip
	dm   *DM
	ahb  [Cores]*memAP
	apb  *memAP
	rp   rpAP
	seen Resets
}

// NewAccessPorts returns the access ports of a chip as after power-up.
func NewAccessPorts(chip Chip) *AccessPorts {
	a := &AccessPorts{chip: chip, dm: NewDM(chip), seen: chip.Resets()}
	for i := range a.ahb {
		a.ahb[i] = newMemAP(0x34770008, 0xe00ff003, 0x000101a0, 0x9e3, &ahbMemory{chip: chip, core: i})
	}
	a.apb = newMemAP(0x34770006, 0x00000002, 0x000101a0, 0x9e2, &apbMemory{chip: chip, dm: a.dm})
	a.rp.chip = chip
	return a
}

// follow resets what was reset on the chip since the last access.
func (a *AccessPorts) follow() {
	now := a.chip.Resets()
	if now == a.seen {
		return
	}
	if now.Chip != a.seen.Chip {
		a.rp = rpAP{chip: a.chip}
	}
	a.seen = now
	a.dm.powerUp()
	a.apb.reset()
	for _, p := range a.ahb {
		p.reset()
	}
}

// component returns the part numbers of the trace components, which are shown
// and do nothing.
func component(base uint32) (part uint32, ok bool) {
	switch base {
	case apTS:
		return 0x193, true
	case apFunnel:
		return 0x9eb, true
	case apTPIU:
		return 0x9e7, true
	case apCTI:
		return 0x9ed, true
	}
	return 0, false
}

// apSpace is the part of the debug address space that decodes (datasheet 3.5).
const apSpace = 0xfffff

// read reads a register of an access port; ok is false for a fault. on says
// whether the switched core domain, and with it all but the RP-AP, has power.
func (a *AccessPorts) read(addr uint32, on bool, t Trouble) (v uint32, ok bool) {
	a.follow()
	base, off := addr&apSpace&^0xfff, addr&0xfff
	if base == apRP {
		return a.rp.read(off), true
	}
	if !on {
		return 0, false
	}
	switch base {
	case apROM:
		return a.romTable(off), true
	case apAHB0, apAHB1:
		return a.ahb[(base-apAHB0)/0x2000].read(off, t)
	case apAPB:
		return a.apb.read(off, t)
	}
	if part, known := component(base); known {
		return coresightID(off, 9, designerArm, part), true
	}
	return 0, true
}

// write writes a register of an access port; ok is false for a fault.
func (a *AccessPorts) write(addr, v uint32, on bool, t Trouble) bool {
	a.follow()
	base, off := addr&apSpace&^0xfff, addr&0xfff
	if base == apRP {
		a.rp.write(off, v)
		return true
	}
	if !on {
		return false
	}
	switch base {
	case apAHB0, apAHB1:
		return a.ahb[(base-apAHB0)/0x2000].write(off, v, t)
	case apAPB:
		return a.apb.write(off, v, t)
	}
	return true
}

// romTable is the root table. Whether the AHB-AP of a core is present follows
// the architecture of the core (datasheet 3.9.2).
func (a *AccessPorts) romTable(off uint32) uint32 {
	entries := []uint32{apAHB0, apAHB1, apTS, apFunnel, apTPIU, apCTI, apAPB}
	if off/4 < uint32(len(entries)) {
		e := entries[off/4] | 2 // 32-bit format
		i := int(off / 4)
		if i >= Cores || isArm(a.chip, i) {
			e |= 1
		}
		return e
	}
	if off == 0xfbc {
		return 0x47700af7 // DEVARCH: ROM table, class 9
	}
	return coresightID(off, 9, designerRPi, 0x004)
}
