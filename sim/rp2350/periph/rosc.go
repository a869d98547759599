package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Registers of ROSC (datasheet 8.3.11).
const (
	roscCtrl      = 0x00
	roscFreqA     = 0x04
	roscFreqB     = 0x08
	roscRandom    = 0x0c
	roscDormant   = 0x10
	roscDiv       = 0x14
	roscPhase     = 0x18
	roscStatus    = 0x1c
	roscRandomBit = 0x20
	roscCount     = 0x24
)

// roscCore is the frequency of the ring with eight stages and weakest drive in
// front of the divider: 11 MHz nominal at the default divisor of 8 (datasheet
// 8.3.1, 8.3.7). Real chips lie between 4.6 and 19.6 MHz.
const roscCore = 88_000_000

// ROSC is the ring oscillator (datasheet 8.3), which the chip starts from.
type ROSC struct {
	storage
	clocks   *Clocks
	enabled  bool
	bad      bool
	dormant  bool // until something wakes it
	random   uint32
	seed     uint32
	downward downCounter
}

func newROSC(env Env, clocks *Clocks, seed uint64) *ROSC {
	r := &ROSC{storage: newStorage("ROSC", env, regs.ROSC), clocks: clocks, seed: uint32(seed ^ seed>>32)}
	r.downward.clock = clocks.ROSC
	return r
}

// Rate is the oscillator's output.
func (r *ROSC) Rate() timebase.Rate {
	if !r.enabled || r.dormant {
		return timebase.Rate{}
	}
	stages := uint64(8)
	switch r.get(roscCtrl) & 0xfff {
	case 0xfa5: // MEDIUM
		stages = 6
	case 0xfa7: // HIGH
		stages = 4
	case 0xfa6: // TOOHIGH
		stages = 2
	}
	div := uint64(128)
	if v := r.get(roscDiv); v > 0xaa00 && v < 0xaa80 {
		div = uint64(v - 0xaa00)
	}
	// Each further drive helps less than the one before; the mean over the
	// stages is a rough 1, 5/4, 11/8, 23/16 of the weakest drive.
	gain := [4]uint64{16, 20, 22, 23}
	var sum uint64
	for i := range uint(8) {
		reg := r.get(roscFreqA)
		if i >= 4 {
			reg = r.get(roscFreqB)
		}
		d := reg >> (4 * (i & 3)) & 7
		sum += gain[d&1+d>>1&1+d>>2]
	}
	return timebase.Hertz(roscCore).Scale(8*sum, stages*div*128)
}

// Reset starts the oscillator at its nominal frequency.
func (r *ROSC) Reset() {
	r.storage.Reset()
	r.set(roscDiv, 0xaa08)
	r.enabled, r.bad, r.dormant = true, false, false
	r.random = r.seed | 1
	r.downward.end = 0
	r.clocks.Update()
}

// Read returns a register.
func (r *ROSC) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case roscStatus:
		return bit(r.enabled, 31) | bit(r.bad, 24) | bit(r.enabled, 16) | bit(r.enabled, 12)
	case roscDormant:
		return oscWake
	case roscRandomBit:
		if !peek {
			// A xorshift sequence: no randomness, but well mixed and repeatable.
			r.random ^= r.random << 13
			r.random ^= r.random >> 17
			r.random ^= r.random << 5
		}
		return r.random >> 16 & 1
	case roscCount:
		return r.downward.read()
	}
	return r.storage.Read(offset, peek)
}

// Write writes a register. Drive strengths and phase take effect only with
// their password.
func (r *ROSC) Write(offset uint32, w Write) {
	switch offset {
	case roscStatus:
		if w.Ones(oscBadWrite) != 0 {
			r.bad = false
		}
		return
	case roscDormant:
		switch w.Apply(oscWake) {
		case oscDormant:
			r.dormant = true
			r.clocks.goDormant()
		case oscWake:
		default:
			r.bad = true
		}
		return
	case roscCount:
		r.downward.write(w.Apply(r.downward.read()))
		return
	}
	old := r.get(offset)
	r.storage.Write(offset, w)
	v := r.get(offset)
	switch offset {
	case roscCtrl:
		switch v >> 12 & 0xfff {
		case oscEnable:
			r.enabled = true
		case oscDisable:
			r.enabled = false
		default:
			r.bad = r.bad || v>>12&0xfff != 0
		}
		if f := v & 0xfff; f != 0xaa0 && (f < 0xfa4 || f > 0xfa7) {
			r.bad = true
		}
		r.clocks.Update()
	case roscFreqA, roscFreqB:
		// Without the password the drive strengths are all 0.
		if v>>16 != 0x9696 {
			r.bad = true
			r.set(offset, v&0xffff0000)
		}
		r.clocks.Update()
	case roscDiv:
		if v < 0xaa00 || v >= 0xaa80 {
			r.bad = true
		}
		if old != v {
			r.clocks.Update()
		}
	case roscPhase:
		if v>>4&0xff != 0xaa {
			r.bad = true
		}
	case roscRandom:
		r.random = v | 1
	}
}
