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

// accessPorts is the space of access ports.
type accessPorts struct {
	chip Chip
	dm   *DM
	ahb  [Cores]*memAP
	apb  *memAP
	rp   rpAP
}

func newAccessPorts(chip Chip) *accessPorts {
	a := &accessPorts{chip: chip, dm: NewDM(chip)}
	for i := range a.ahb {
		a.ahb[i] = newMemAP(0x34770008, 0xe00ff003, 0x000101a0, 0x9e3, &ahbMemory{chip: chip, core: i})
	}
	a.apb = newMemAP(0x34770006, 0x00000002, 0x000101a0, 0x9e2, &apbMemory{chip: chip, dm: a.dm})
	a.rp.chip = chip
	a.rp.onReset = a.reset
	return a
}

// reset resets what a reset of the whole chip does: all but the RP-AP.
func (a *accessPorts) reset() {
	a.dm.reset()
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

// read reads a register of an access port; ok is false for a fault.
func (a *accessPorts) read(d *DP, addr uint32) (v uint32, ok bool) {
	base, off := addr&^0xfff, addr&0xfff
	if base == apRP {
		return a.rp.read(off), true
	}
	if !d.powered() {
		return 0, false
	}
	switch base {
	case apROM:
		return a.romTable(off), true
	case apAHB0, apAHB1:
		return a.ahb[(base-apAHB0)/0x2000].read(off, d.Trouble)
	case apAPB:
		return a.apb.read(off, d.Trouble)
	}
	if part, known := component(base); known {
		return coresightID(off, 9, designerArm, part), true
	}
	return 0, true
}

// write writes a register of an access port; ok is false for a fault.
func (a *accessPorts) write(d *DP, addr, v uint32) bool {
	base, off := addr&^0xfff, addr&0xfff
	if base == apRP {
		a.rp.write(off, v)
		return true
	}
	if !d.powered() {
		return false
	}
	switch base {
	case apAHB0, apAHB1:
		return a.ahb[(base-apAHB0)/0x2000].write(off, v, d.Trouble)
	case apAPB:
		return a.apb.write(off, v, d.Trouble)
	}
	return true
}

// romTable is the root table. Whether the AHB-AP of a core is present follows
// the architecture of the core (datasheet 3.9.2).
func (a *accessPorts) romTable(off uint32) uint32 {
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
