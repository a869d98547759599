package cortexm33

import (
	"fmt"
	"math/bits"
)

// Booleans of the redundancy coprocessor.
const (
	rcpTrue  = 0xa500a500
	rcpFalse = 0x00c300c3
	// rcpIntXOR is the distance of the two copies of a checked integer.
	rcpIntXOR = 0x96009600
)

// RCP is the redundancy coprocessor of the RP2350 (datasheet 3.6.3), port 7 of
// both cores. Its pseudorandom delays have the shortest length of their range,
// none.
type RCP struct {
	salt  [2]uint64
	valid [2]bool
	count [2]uint8
	// Fault is called when an assertion fails: the core is stalled for ever and
	// the other one gets an NMI.
	Fault func(core int, why string)
}

// SetSalt makes the salt of a core valid, as the boot ROM does.
func (r *RCP) SetSalt(core int, salt uint64) { r.salt[core&1], r.valid[core&1] = salt, true }

// Port returns the coprocessor as core sees it.
func (r *RCP) Port(core int) Coprocessor { return &rcpPort{r, core & 1} }

type rcpPort struct {
	r    *RCP
	core int
}

// Reset implements Coprocessor: the salt of the core is invalid again.
func (p *rcpPort) Reset() {
	p.r.valid[p.core], p.r.salt[p.core], p.r.count[p.core] = false, 0, 0
}

func (p *rcpPort) fail(format string, args ...any) Result {
	if p.r.Fault != nil {
		p.r.Fault(p.core, fmt.Sprintf(format, args...))
	}
	return CoprocNMI
}

// ready checks what is common to all instructions but the first two.
func (p *rcpPort) ready(what string) Result {
	if !p.r.valid[p.core] {
		return p.fail("%s before the salt was set", what)
	}
	return CoprocDone
}

// parity is the rule that tells an instruction from a corrupted one: the ones
// in opc1 and in one further bit are odd in number.
func parity(opc1, bit uint32) bool { return (bits.OnesCount32(opc1)+int(bit&1))&1 == 1 }

// canary is the value for a tag.
func (p *rcpPort) canary(tag uint32) uint32 {
	s := p.r.salt[p.core]
	t := tag&0xff | ^tag&0xff<<8 | tag&0xff<<16
	t &= 0xff0000 | uint32(s>>24)&0xffff
	return (t ^ uint32(s)) << 8
}

// random advances the generator in the salt's top 24 bits and returns a byte.
func (p *rcpPort) random() uint32 {
	s := uint32(p.r.salt[p.core] >> 40)
	var out uint32
	for i, t := range rcpTaps {
		b := uint32(0)
		for _, n := range t[:6] {
			b ^= s >> n
		}
		m := s>>t[6]&1 + s>>t[7]&1 + s>>t[8]&1
		out |= (b&1 ^ m>>1) << (7 - i)
	}
	next := uint32(0)
	for _, l := range [4]struct{ lo, n, taps uint32 }{{20, 4, 0xc}, {15, 5, 0x14}, {8, 7, 0x60}, {0, 8, 0xb4}} {
		v := s >> l.lo & (1<<l.n - 1)
		in := uint32(bits.OnesCount32(v&l.taps)) & 1
		if v == 0 {
			in = 1
		}
		next |= (v<<1 | in) & (1<<l.n - 1) << l.lo
	}
	p.r.salt[p.core] = p.r.salt[p.core]&(1<<40-1) | uint64(next)<<40
	return out
}

// rcpTaps are, for output bits 7 to 0, the six XOR taps and the three of the
// majority vote (datasheet 3.6.3.6).
var rcpTaps = [8][9]uint8{
	{7, 17, 6, 16, 13, 8, 9, 12, 21}, {14, 21, 19, 6, 16, 13, 4, 14, 6}, {7, 5, 2, 18, 11, 1, 18, 14, 7},
	{4, 19, 17, 0, 18, 7, 18, 11, 3}, {23, 12, 7, 16, 14, 5, 17, 3, 15}, {15, 13, 20, 21, 8, 12, 7, 22, 9},
	{4, 16, 11, 18, 9, 6, 14, 21, 16}, {11, 3, 4, 19, 10, 14, 1, 2, 9},
}

// CDP implements Coprocessor: panic is the only one.
func (p *rcpPort) CDP(x Insn) Result {
	if x.NonSecure {
		return CoprocDone
	}
	if x.Opc1 == 0 && x.Opc2 == 1 {
		return p.fail("rcp_panic")
	}
	return p.fail("undefined operation cdp #%d, #%d", x.Opc1, x.Opc2)
}

// MRC implements Coprocessor.
func (p *rcpPort) MRC(x Insn) (uint32, Result) {
	if x.NonSecure {
		return 0, CoprocDone
	}
	if x.Opc1 == 1 && x.Opc2 == 0 { // canary status
		if p.r.valid[p.core] {
			return rcpTrue, CoprocDone
		}
		return rcpFalse, CoprocDone
	}
	if r := p.ready("mrc"); r != CoprocDone {
		return 0, r
	}
	switch {
	case x.Opc1 == 0 && x.Opc2 == 1:
		return p.canary(x.CRn<<4 | x.CRm), CoprocDone
	case x.Opc1 == 2 && x.Opc2 == 0:
		return p.random(), CoprocDone
	}
	return 0, p.fail("undefined operation mrc #%d, #%d", x.Opc1, x.Opc2)
}

func isBool(v uint32) bool { return v == rcpTrue || v == rcpFalse }

// MCR implements Coprocessor.
func (p *rcpPort) MCR(x Insn, v uint32) Result {
	if x.NonSecure {
		return CoprocDone
	}
	if r := p.ready("mcr"); r != CoprocDone {
		return r
	}
	if !parity(x.Opc1, x.Opc2) {
		return p.fail("undefined operation mcr #%d, #%d", x.Opc1, x.Opc2)
	}
	tag := x.CRn<<4 | x.CRm
	ok := true
	name := ""
	switch x.Opc1 {
	case 0:
		name, ok = "rcp_canary_check", v == p.canary(tag)
	case 1:
		name, ok = "rcp_bvalid", isBool(v)
	case 2:
		name, ok = "rcp_btrue", v == rcpTrue
	case 3:
		name, ok = "rcp_bfalse", v == rcpFalse
	case 4:
		p.r.count[p.core] = uint8(tag)
	case 5:
		name, ok = "rcp_count_check", p.r.count[p.core] == uint8(tag)
		p.r.count[p.core]++
	default:
		return p.fail("undefined operation mcr #%d, #%d", x.Opc1, x.Opc2)
	}
	if !ok {
		return p.fail("%s failed on %#08x", name, v)
	}
	return CoprocDone
}

// MCRR implements Coprocessor.
func (p *rcpPort) MCRR(x Insn, a, b uint32) Result {
	if x.NonSecure {
		return CoprocDone
	}
	if x.Opc1 == 8 && x.CRm < 2 {
		if p.r.valid[x.CRm] {
			return p.fail("the salt of core %d was set twice", x.CRm)
		}
		p.r.SetSalt(int(x.CRm), uint64(b)<<32|uint64(a))
		return CoprocDone
	}
	if r := p.ready("mcrr"); r != CoprocDone {
		return r
	}
	if x.Opc1 > 7 || !parity(x.Opc1, x.CRm>>3) {
		return p.fail("undefined operation mcrr #%d, c%d", x.Opc1, x.CRm)
	}
	var ok bool
	switch x.Opc1 {
	case 0:
		ok = isBool(a) && isBool(b)
	case 1:
		ok = a == rcpTrue && b == rcpTrue
	case 2:
		ok = isBool(a) && isBool(b) && (a == rcpTrue || b == rcpTrue)
	case 3:
		ok = isBool(a ^ b)
	case 4:
		ok = a^b == rcpTrue
	case 5:
		ok = a^b == rcpFalse
	case 6:
		ok = a^b == rcpIntXOR
	case 7:
		ok = a == b
	}
	if !ok {
		names := [8]string{"b2valid", "b2and", "b2or", "bxorvalid", "bxortrue", "bxorfalse", "ivalid", "iequal"}
		return p.fail("rcp_%s failed on %#08x, %#08x", names[x.Opc1], a, b)
	}
	return CoprocDone
}

// MRRC implements Coprocessor: there is none.
func (p *rcpPort) MRRC(x Insn) (lo, hi uint32, r Result) {
	if x.NonSecure {
		return 0, 0, CoprocDone
	}
	return 0, 0, p.fail("undefined operation mrrc #%d", x.Opc1)
}
