package hazard3

import (
	"math/bits"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// running is exec's answer when the core can go on; all others are a
// bus.Reason plus 1.
const running = 0

const (
	notReady = int(bus.ReasonNotReady) + 1
	asleep   = int(bus.ReasonAsleep) + 1
	halted   = int(bus.ReasonHalted) + 1
	stopped  = int(bus.ReasonStopped) + 1
	atLimit  = int(bus.ReasonLimit) + 1
	locked   = int(bus.ReasonLockup) + 1
)

// exec executes one instruction at c.pc, whole or (notReady, halted) not at
// all. It is the reference for everything that executes code faster.
func (c *Core) exec(in *inst) int {
	x := &c.X
	c.waited = false
	if c.loading|boolTo(c.excl) != 0 {
		// A result of the data phase is waited for; so is the bus, between two
		// exclusive accesses.
		if c.loading&in.use != 0 || c.excl && in.op >= opLrW && in.op <= opAmo {
			c.Cycle++
			c.waited = true
		}
		c.loading, c.excl = 0, false
	}
	a, b := x[in.rs1&31], x[in.rs2&31]
	var v uint32
	cycles := uint64(1)
	switch in.op {
	case opIllegal:
		return c.illegal()
	case opAdd:
		v = a + b
	case opSub:
		v = a - b
	case opSll:
		v = a << (b & 31)
	case opSlt:
		v = boolTo(int32(a) < int32(b))
	case opSltu:
		v = boolTo(a < b)
	case opXor:
		v = a ^ b
	case opSrl:
		v = a >> (b & 31)
	case opSra:
		v = uint32(int32(a) >> (b & 31))
	case opOr:
		v = a | b
	case opAnd:
		v = a & b
	case opMul:
		v = a * b
	case opMulh:
		v = mulh(a, b)
	case opMulhsu:
		v = mulhsu(a, b)
	case opMulhu:
		v = mulhu(a, b)
	case opDiv:
		v, cycles = div(a, b), divCycles(a)
	case opDivu:
		v, cycles = divu(a, b), divuCycles
	case opRem:
		v, cycles = rem(a, b), divCycles(a)
	case opRemu:
		v, cycles = remu(a, b), divuCycles
	case opSh1add:
		v = a<<1 + b
	case opSh2add:
		v = a<<2 + b
	case opSh3add:
		v = a<<3 + b
	case opAndn:
		v = a &^ b
	case opOrn:
		v = a | ^b
	case opXnor:
		v = ^(a ^ b)
	case opMax:
		v = uint32(max(int32(a), int32(b)))
	case opMaxu:
		v = max(a, b)
	case opMin:
		v = uint32(min(int32(a), int32(b)))
	case opMinu:
		v = min(a, b)
	case opRol:
		v = bits.RotateLeft32(a, int(b&31))
	case opRor:
		v = bits.RotateLeft32(a, -int(b&31))
	case opBclr:
		v = a &^ (1 << (b & 31))
	case opBext:
		v = a >> (b & 31) & 1
	case opBinv:
		v = a ^ 1<<(b&31)
	case opBset:
		v = a | 1<<(b&31)
	case opPack:
		v = a&0xffff | b<<16
	case opPackh:
		v = a&0xff | b&0xff<<8
	case opClmul:
		v = uint32(clmul64(a, b))
	case opClmulh:
		v = uint32(clmul64(a, b) >> 32)
	case opClmulr:
		v = uint32(clmul64(a, b) >> 31)
	case opBextm:
		v = a >> (b & 31) & in.imm
	case opAddi:
		v = a + in.imm
	case opSlti:
		v = boolTo(int32(a) < int32(in.imm))
	case opSltiu:
		v = boolTo(a < in.imm)
	case opXori:
		v = a ^ in.imm
	case opOri:
		v = a | in.imm
	case opAndi:
		v = a & in.imm
	case opSlli:
		v = a << (in.imm & 31)
	case opSrli:
		v = a >> (in.imm & 31)
	case opSrai:
		v = uint32(int32(a) >> (in.imm & 31))
	case opRori:
		v = bits.RotateLeft32(a, -int(in.imm&31))
	case opBclri:
		v = a &^ in.imm
	case opBexti:
		v = a >> (in.imm & 31) & 1
	case opBinvi:
		v = a ^ in.imm
	case opBseti:
		v = a | in.imm
	case opClz:
		v = uint32(bits.LeadingZeros32(a))
	case opCtz:
		v = uint32(bits.TrailingZeros32(a))
	case opCpop:
		v = uint32(bits.OnesCount32(a))
	case opSextB:
		v = uint32(int8(a))
	case opSextH:
		v = uint32(int16(a))
	case opZextH:
		v = a & 0xffff
	case opOrcB:
		v = orcB(a)
	case opRev8:
		v = bits.ReverseBytes32(a)
	case opBrev8:
		v = brev8(a)
	case opZip:
		v = zip(a)
	case opUnzip:
		v = unzip(a)
	case opBextmi:
		v = a >> (in.imm & 31) & (in.imm >> 8)
	case opLi:
		v = in.imm
	case opAuipc:
		v = c.pc + in.imm
	case opMv:
		v = a
	case opNop, opFence:
		c.retire(in, 1)
		return running
	default:
		return c.execOther(in, a, b)
	}
	x[in.rd&31] = v
	x[0] = 0
	c.retire(in, cycles)
	return running
}

// retire ends an instruction that goes on at the next address.
func (c *Core) retire(in *inst, cycles uint64) {
	c.pc += uint32(in.size)
	c.Cycle += cycles
	c.instret++
	c.sizes = nextSizes(c.sizes, in.size)
}

// execOther executes what exec does not: memory, control transfer, system.
func (c *Core) execOther(in *inst, a, b uint32) int {
	switch in.op {
	case opLb, opLh, opLw, opLbu, opLhu:
		size := [5]uint8{1, 2, 4, 1, 2}[in.op-opLb]
		v, st := c.load(a+in.imm, size)
		if st != memOK {
			return c.memExit(st)
		}
		switch in.op {
		case opLb:
			v = uint32(int8(v))
		case opLh:
			v = uint32(int16(v))
		}
		c.loaded(in, v)
	case opSb, opSh, opSw:
		if st := c.store(a+in.imm, 1<<(in.op-opSb), b); st != memOK {
			return c.memExit(st)
		}
		c.retire(in, 1)
	case opBeq:
		c.branch(in, a == b)
	case opBne:
		c.branch(in, a != b)
	case opBlt:
		c.branch(in, int32(a) < int32(b))
	case opBge:
		c.branch(in, int32(a) >= int32(b))
	case opBltu:
		c.branch(in, a < b)
	case opBgeu:
		c.branch(in, a >= b)
	case opJal:
		if in.imm == 0 && in.rd == 0 {
			return c.selfJump()
		}
		c.X[in.rd&31] = c.pc + uint32(in.size)
		c.X[0] = 0
		c.jump(c.pc+in.imm, 2)
	case opJalr:
		c.X[in.rd&31] = c.pc + uint32(in.size)
		c.X[0] = 0
		c.jump((a+in.imm)&^1, 2)
	case opLrW:
		v, st := c.loadReserved(a)
		if st != memOK {
			return c.memExit(st)
		}
		c.loaded(in, v)
		c.excl = true
	case opScW:
		v, st := c.storeConditional(a, b)
		if st != memOK {
			return c.memExit(st)
		}
		c.loaded(in, v)
		c.excl = true
	case opAmo:
		v, st := c.amo(a, in.imm, b)
		if st != memOK {
			return c.memExit(st)
		}
		c.X[in.rd&31] = v
		c.X[0] = 0
		c.retire(in, 4)
	case opPush, opPop, opPopret, opPopretz:
		return c.pushPop(in)
	case opMvsa01:
		r1, r2 := c.X[10], c.X[11]
		c.X[in.rs1&31] = r1
		c.X[in.rs2&31] = r2
		c.retire(in, 2)
	case opMva01s:
		c.X[10], c.X[11] = a, b
		c.retire(in, 2)
	default:
		return c.system(in, a)
	}
	return running
}

// memExit is exec's answer for an access that was not done.
func (c *Core) memExit(st status) int {
	switch st {
	case memWait:
		return notReady
	case memHalt:
		return halted
	}
	return c.trapExit()
}

// loaded ends a load, lr.w or sc.w: v comes in the data phase.
func (c *Core) loaded(in *inst, v uint32) {
	c.X[in.rd&31] = v
	c.X[0] = 0
	c.loading = 1 << (in.rd & 31) &^ 1
	c.retire(in, 1)
}

// noBranch is an address that no instruction has.
const noBranch = 1

// branch executes a conditional branch. The predictor remembers the last taken
// backward branch and predicts it taken (hazard3_frontend.v).
func (c *Core) branch(in *inst, taken bool) {
	predicted := c.btb == c.pc && c.entry != c.pc&^3
	if taken {
		target := c.pc + in.imm
		if predicted {
			if c.fetchedAhead(in) {
				c.pc = target
				c.Cycle++
				c.instret++
				c.sizes = jumpSizes(target)
			} else {
				c.jump(target, 1)
			}
			c.entry = noBranch
			return
		}
		if int32(in.imm) < 0 {
			c.btb = c.pc
		}
		c.jump(target, 2)
		return
	}
	if predicted {
		c.btb = noBranch
		c.jump(c.pc+uint32(in.size), 2)
		return
	}
	c.retire(in, 1)
}

// fetchedAhead reports whether the first halfword of a predicted branch's
// target is in the fetch buffer already when the branch executes: the buffer
// has room for one more halfword then. If it is not, a 32-bit target that is
// not word-aligned is waited for as after a jump.
func (c *Core) fetchedAhead(in *inst) bool {
	if c.waited {
		return true
	}
	return aheadFor(c.pc, in.size, c.sizes)
}

// aheadFor is fetchedAhead for a branch that did not wait, from the sizes of
// the two instructions before it: bit 0 for the last one, bit 1 for the one
// before it, set for 16 bits.
func aheadFor(pc uint32, size, sizes uint8) bool {
	if pc&2 == 0 {
		return sizes&1 != 0 || size == 2 && sizes&2 != 0
	}
	return size == 2 || sizes&3 == 3
}

// fromJump in Core.sizes: the present instruction is the target of a jump and
// in the second half of its word, so that it came into the buffer alone.
// Whatever its size, there is no more room behind it than behind 32 bits.
const fromJump = 0x80

// jumpSizes is Core.sizes behind a jump to target.
func jumpSizes(target uint32) uint8 { return uint8(target&2) << 6 }

// nextSizes is Core.sizes behind an instruction of size bytes.
func nextSizes(sizes, size uint8) uint8 {
	if sizes&fromJump != 0 {
		return 0
	}
	return (sizes<<1 | size>>1&1) & 3
}

// jump transfers control to target and retires. A 32-bit target that is not
// word-aligned takes two fetches.
func (c *Core) jump(target uint32, cycles uint64) {
	c.instret++
	c.goTo(target, cycles)
}

// goTo transfers control.
func (c *Core) goTo(target uint32, cycles uint64) {
	c.pc = target
	c.entry, c.sizes = target&^3, jumpSizes(target)
	c.Cycle += cycles
	if target&2 != 0 {
		if in := c.fetch(target); in != nil && in.size == 4 {
			c.Cycle++
		}
	}
}

// selfJump is `j .`: it spends the time up to the limit at once. If no
// interrupt can ever end it, the core is locked up.
func (c *Core) selfJump() int {
	per := uint64(2)
	if in := c.fetch(c.pc); c.pc&2 != 0 && in != nil && in.size == 4 {
		per = 3
	}
	n := uint64(1)
	if c.Cycle+per < c.limit && !c.attn && c.Tracer == nil && c.dbg.step == 0 {
		n = (c.limit - c.Cycle + per - 1) / per
	}
	c.Cycle += n * per
	c.instret += n
	if c.csr.mie == 0 || !c.irqEnabled() {
		return locked
	}
	return running
}
