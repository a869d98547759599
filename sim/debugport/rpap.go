package debugport

// rpAP is the access port that always answers, with no clock and no power-up
// request (RP2350 datasheet 3.5.10).
type rpAP struct {
	chip    Chip
	ctrl    uint32
	ovrd    uint32
	output  uint32
	key     [16]byte
	keyBits int
}

// Values of a healthy chip (datasheet 3.5.10): powered up and on the fast
// clock.
const (
	powStateSwcore uint32 = 0x95e
	powStateOther  uint32 = 0x15e
	rpIDR          uint32 = 0x09260002
	rescueRestart  uint32 = 1 << 31
)

func (r *rpAP) read(off uint32) uint32 {
	switch off {
	case 0x00:
		return r.ctrl
	case 0x08:
		return powStateSwcore
	case 0x0c, 0x10, 0x14:
		return powStateOther
	case 0x18:
		return r.ovrd
	case 0x1c:
		return r.output
	case regIDR:
		return rpIDR
	}
	return coresightID(off, 9, designerRPi, 0x004)
}

func (r *rpAP) write(off, v uint32) {
	switch off {
	case 0x00:
		// The rescue happens when the bit falls.
		if r.ctrl&rescueRestart != 0 && v&rescueRestart == 0 {
			r.chip.Reset(ResetRescue)
		}
		r.ctrl = v & 0x8000007f
	case 0x04:
		r.writeKey(v)
	case 0x18:
		r.ovrd = v & 0x7f
	case 0x1c:
		r.output = v & 1
	}
}

// writeKey shifts a debug key in, least significant bit of the lowest row
// first: bit 2 starts over, bit 1 pushes bit 0 (datasheet 3.5.9.2).
func (r *rpAP) writeKey(v uint32) {
	if v&4 != 0 {
		r.key, r.keyBits = [16]byte{}, 0
		return
	}
	if v&2 == 0 || r.keyBits >= 128 {
		return
	}
	r.key[r.keyBits/8] |= byte(v&1) << (r.keyBits % 8)
	r.keyBits++
	if r.keyBits == 128 {
		r.chip.Unlock(r.key)
	}
}
