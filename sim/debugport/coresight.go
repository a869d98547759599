package debugport

// designer is a JEP106 code as PIDR1, PIDR2 and PIDR4 spell it.
type designer struct {
	continuation uint32 // PIDR4
	code         uint32 // 7 bits
}

var (
	designerArm = designer{4, 0x3b}
	designerRPi = designer{9, 0x13}
)

// coresightID returns the identification registers of a component, 0xfd0 to
// 0xffc (IHI 0029, B2.2): class in CIDR1, part and designer in PIDR0 to 4.
func coresightID(off, class uint32, d designer, part uint32) uint32 {
	switch off {
	case 0xfd0:
		return d.continuation
	case 0xfe0:
		return part & 0xff
	case 0xfe4:
		return part>>8&0xf | d.code&0xf<<4
	case 0xfe8:
		return d.code>>4&7 | 8
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
