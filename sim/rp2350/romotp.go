package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/otp"

// Fields of otp_access's command (pico-sdk bootrom_constants.h, OTP_CMD_*).
const (
	otpRowMask = 0xffff
	otpWrite   = 1 << 16
	otpECC     = 1 << 17
	otpAllBits = otpRowMask | otpWrite | otpECC

	otpReadCycles  = 30
	otpWriteMicros = 200
)

// romOTPAccess reads or programs rows: halfwords with ECC, words without. Each
// row is checked as it comes, so a refusal leaves the ones before done.
func romOTPAccess(c *Chip, r *romCall) {
	if !r.lock(bootLockOTP) {
		return
	}
	buf, size, cmd := r.arg(0), r.arg(1), r.arg(2)
	ecc, write := cmd&otpECC != 0, cmd&otpWrite != 0
	unit := uint32(4)
	if ecc {
		unit = 2
	}
	row, n := cmd&otpRowMask, size/unit
	switch {
	case cmd&^uint32(otpAllBits) != 0 || row+n > otp.Rows:
		r.ret(romInvalidArg)
		return
	case (buf|size)&(unit-1) != 0:
		r.ret(romBadAlignment)
		return
	}
	for i := range n {
		if code := c.otpRow(r, int(row+i), buf+unit*i, ecc, write); code != romOK || r.gone {
			r.ret(code)
			return
		}
	}
	r.ret(romOK)
}

func (c *Chip) otpRow(r *romCall, row int, addr uint32, ecc, write bool) int32 {
	if !c.otp.Readable(row, false) || write && !c.otp.Writable(row, false) {
		return romNotPermitted
	}
	old := c.otp.Raw(row)
	if !write {
		r.cycles += otpReadCycles
		if ecc {
			v, ok := c.otp.Data(row)
			if !ok {
				v = 0xffff
			}
			r.store(addr, 2, uint32(v))
		} else {
			r.store(addr, 4, old)
		}
		return romOK
	}
	v := uint32(0)
	if ecc {
		var fits bool
		if v, fits = otp.EncodeOver(uint16(r.load(addr, 2)), old); !fits {
			return romUnsupportedModify
		}
	} else {
		v = r.load(addr, 4)
		if old&^v != 0 {
			return romUnsupportedModify
		}
	}
	c.otp.Program(row, v)
	r.cycles += c.line.After(c.now, otpWriteMicros*1_000_000) - c.now
	return romOK
}
