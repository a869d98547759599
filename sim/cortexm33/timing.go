package cortexm33

import "math/bits"

// takenCost is what a taken branch adds to its own cycle.
const takenCost = 1

// isLoad reports whether o is a load of one register that pipelines with a
// following access; isAccess whether it is such an access.
func isLoad(o *op) bool {
	switch o.code {
	case opLdrI, opLdrR, opLdrLit, opLdrbI, opLdrbR, opLdrhI, opLdrhR, opLdrsbI, opLdrsbR, opLdrshI, opLdrshR,
		opLdrW, opLdrbW, opLdrhW, opLoad, opLdrex, opVldr, opVldrX:
		return true
	}
	return false
}

func isAccess(o *op) bool {
	switch o.code {
	case opStrI, opStrR, opStrbI, opStrbR, opStrhI, opStrhR, opStrW, opStrbW, opStrhW, opStore, opStrex, opVstr, opVstrX:
		return true
	}
	return isLoad(o)
}

// cost returns the cycles of o without wait states, the cost of a taken branch
// (which run adds) and what depends on data (division). next is the instruction
// behind it in memory, so that the result depends on nothing else; doc.go has
// the table and its sources.
func cost(o, next *op) uint32 {
	c := uint32(1)
	if isLoad(o) {
		if !isAccess(next) {
			c = 2
		}
		if o.code == opVldrX && o.x&amDouble != 0 {
			c++
		}
		return c
	}
	switch o.code {
	case opLdrd, opStrd, opLdrdX, opStrdX:
		c = 3
	case opPush, opPop, opPopPC, opLdm, opStm, opLdmX, opStmX:
		for l := o.imm; l != 0; l &= l - 1 {
			c++
		}
	case opVldm, opVstm:
		c += o.imm
	case opBX, opBLX, opMovPC, opAddPC, opBxns, opBlxns, opBxR:
		c = 2
	case opTbb, opTbh:
		c = 3
	case opUdiv, opSdiv:
		c = 2
	case opVdp3:
		switch o.ra {
		case vDIV:
			c = 14
		case vMLA, vMLS, vNMLA, vNMLS, vFMA, vFMS, vFNMA, vFNMS:
			c = 3
		}
	case opVdp2:
		if o.ra == vSQRT {
			c = 14
		}
	case opIsb, opDmb:
		c = 3
	case opVlstm, opVlldm:
		c = 2
	case opMrs, opMsr:
		c = 2
	}
	return c
}

// divCycles is what a division costs beyond its first two cycles: the divider
// ends early, so the cost grows with the number of quotient bits, up to nine.
func divCycles(n, d uint32) uint64 {
	if d == 0 || n < d {
		return 0
	}
	q := bits.LeadingZeros32(d) - bits.LeadingZeros32(n) + 1
	return uint64(q*9+31) / 32
}
