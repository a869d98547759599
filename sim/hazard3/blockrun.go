package hazard3

import (
	"math/bits"
	"unsafe"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// runBlocks executes blocks from c.pc on, until something must be done between
// two instructions that blocks cannot do: then it has executed at least one
// instruction.
//
// The loop over micro-operations needs six values, few enough for registers.
// All else is in the Core: Cycle and instret are those of the present block's
// start, pc is not kept up.
func (c *Core) runBlocks() int {
	b := c.lookup(c.pc)
	if b == nil || c.excl || c.loading&b.firstUse != 0 || c.Cycle+uint64(b.guard) >= c.limit {
		return c.step()
	}
	c.loading = 0
	var (
		mem    = c.fast.mem
		flags  = c.fast.flags
		base   = c.fast.base
		size   = c.fast.size
		u      *uop
		nb     *block
		addr   uint32
		target uint32
		yes    bool
	)
	if c.fast.wait != 0 {
		size = 0
	}
	for {
		if c.Cycle+uint64(b.guard) >= c.limit {
			c.pc = b.pc
			return running
		}
		u = b.first
	resume:
		for ; ; u = (*uop)(unsafe.Add(unsafe.Pointer(u), unsafe.Sizeof(*u))) {
			switch u.op {
			case uopKind(opIllegal): // never there; the table of cases begins at 0
				goto rare
			case uopKind(opAddi):
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
			case uopKind(opAdd):
				*reg(c, u.rd) = *reg(c, u.rs1) + *reg(c, u.rs2)
			case uopKind(opSub):
				*reg(c, u.rd) = *reg(c, u.rs1) - *reg(c, u.rs2)
			case uopKind(opSll):
				*reg(c, u.rd) = *reg(c, u.rs1) << (*reg(c, u.rs2) & 31)
			case uopKind(opSltu):
				*reg(c, u.rd) = boolTo(*reg(c, u.rs1) < *reg(c, u.rs2))
			case uopKind(opXor):
				*reg(c, u.rd) = *reg(c, u.rs1) ^ *reg(c, u.rs2)
			case uopKind(opSrl):
				*reg(c, u.rd) = *reg(c, u.rs1) >> (*reg(c, u.rs2) & 31)
			case uopKind(opSra):
				*reg(c, u.rd) = uint32(int32(*reg(c, u.rs1)) >> (*reg(c, u.rs2) & 31))
			case uopKind(opOr):
				*reg(c, u.rd) = *reg(c, u.rs1) | *reg(c, u.rs2)
			case uopKind(opAnd):
				*reg(c, u.rd) = *reg(c, u.rs1) & *reg(c, u.rs2)
			case uopKind(opMul):
				*reg(c, u.rd) = *reg(c, u.rs1) * *reg(c, u.rs2)
			case uopKind(opMulhu):
				*reg(c, u.rd) = mulhu(*reg(c, u.rs1), *reg(c, u.rs2))
			case uopKind(opSh1add):
				*reg(c, u.rd) = *reg(c, u.rs1)<<1 + *reg(c, u.rs2)
			case uopKind(opSh2add):
				*reg(c, u.rd) = *reg(c, u.rs1)<<2 + *reg(c, u.rs2)
			case uopKind(opSh3add):
				*reg(c, u.rd) = *reg(c, u.rs1)<<3 + *reg(c, u.rs2)
			case uopKind(opAndn):
				*reg(c, u.rd) = *reg(c, u.rs1) &^ *reg(c, u.rs2)
			case uopKind(opMin):
				*reg(c, u.rd) = uint32(min(int32(*reg(c, u.rs1)), int32(*reg(c, u.rs2))))
			case uopKind(opMinu):
				*reg(c, u.rd) = min(*reg(c, u.rs1), *reg(c, u.rs2))
			case uopKind(opSlti):
				*reg(c, u.rd) = boolTo(int32(*reg(c, u.rs1)) < int32(u.imm))
			case uopKind(opSltiu):
				*reg(c, u.rd) = boolTo(*reg(c, u.rs1) < u.imm)
			case uopKind(opXori):
				*reg(c, u.rd) = *reg(c, u.rs1) ^ u.imm
			case uopKind(opOri):
				*reg(c, u.rd) = *reg(c, u.rs1) | u.imm
			case uopKind(opAndi):
				*reg(c, u.rd) = *reg(c, u.rs1) & u.imm
			case uopKind(opSlli):
				*reg(c, u.rd) = *reg(c, u.rs1) << (u.imm & 31)
			case uopKind(opSrli):
				*reg(c, u.rd) = *reg(c, u.rs1) >> (u.imm & 31)
			case uopKind(opSrai):
				*reg(c, u.rd) = uint32(int32(*reg(c, u.rs1)) >> (u.imm & 31))
			case uopKind(opRori):
				*reg(c, u.rd) = bits.RotateLeft32(*reg(c, u.rs1), -int(u.imm&31))
			case uopKind(opBclri):
				*reg(c, u.rd) = *reg(c, u.rs1) &^ u.imm
			case uopKind(opBexti):
				*reg(c, u.rd) = *reg(c, u.rs1) >> (u.imm & 31) & 1
			case uopKind(opBinvi):
				*reg(c, u.rd) = *reg(c, u.rs1) ^ u.imm
			case uopKind(opBseti):
				*reg(c, u.rd) = *reg(c, u.rs1) | u.imm
			case uopKind(opClz):
				*reg(c, u.rd) = uint32(bits.LeadingZeros32(*reg(c, u.rs1)))
			case uopKind(opCtz):
				*reg(c, u.rd) = uint32(bits.TrailingZeros32(*reg(c, u.rs1)))
			case uopKind(opCpop):
				*reg(c, u.rd) = cpop(*reg(c, u.rs1))
			case uopKind(opSextB):
				*reg(c, u.rd) = uint32(int8(*reg(c, u.rs1)))
			case uopKind(opSextH):
				*reg(c, u.rd) = uint32(int16(*reg(c, u.rs1)))
			case uopKind(opZextH):
				*reg(c, u.rd) = *reg(c, u.rs1) & 0xffff
			case uopKind(opRev8):
				*reg(c, u.rd) = bits.ReverseBytes32(*reg(c, u.rs1))
			case uopKind(opBextmi):
				*reg(c, u.rd) = *reg(c, u.rs1) >> (u.imm & 31) & u.imm2
			case uopKind(opLb):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(int8(*(*uint8)(unsafe.Add(mem, addr-base))))
			case uopKind(opLbu):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(*(*uint8)(unsafe.Add(mem, addr-base)))
			case uopKind(opLh):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(int16(*(*uint16)(unsafe.Add(mem, addr-base))))
			case uopKind(opLhu):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(*(*uint16)(unsafe.Add(mem, addr-base)))
			case uopKind(opLw):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto loadMiss
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
			case uopKind(opSb):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint8)(unsafe.Add(mem, addr-base)) = uint8(*reg(c, u.rs2))
			case uopKind(opSh):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint16)(unsafe.Add(mem, addr-base)) = uint16(*reg(c, u.rs2))
			case uopKind(opSw):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs2)
			case uopKind(opBeq):
				yes = *reg(c, u.rs1) == *reg(c, u.rs2)
				goto branch
			case uopKind(opBne):
				yes = *reg(c, u.rs1) != *reg(c, u.rs2)
				goto branch
			case uopKind(opBlt):
				yes = int32(*reg(c, u.rs1)) < int32(*reg(c, u.rs2))
				goto branch
			case uopKind(opBge):
				yes = int32(*reg(c, u.rs1)) >= int32(*reg(c, u.rs2))
				goto branch
			case uopKind(opBltu):
				yes = *reg(c, u.rs1) < *reg(c, u.rs2)
				goto branch
			case uopKind(opBgeu):
				yes = *reg(c, u.rs1) >= *reg(c, u.rs2)
				goto branch
			case uBeqBack:
				yes = *reg(c, u.rs1) == *reg(c, u.rs2)
				goto branchBack
			case uBneBack:
				yes = *reg(c, u.rs1) != *reg(c, u.rs2)
				goto branchBack
			case uBltBack:
				yes = int32(*reg(c, u.rs1)) < int32(*reg(c, u.rs2))
				goto branchBack
			case uBgeBack:
				yes = int32(*reg(c, u.rs1)) >= int32(*reg(c, u.rs2))
				goto branchBack
			case uBltuBack:
				yes = *reg(c, u.rs1) < *reg(c, u.rs2)
				goto branchBack
			case uBgeuBack:
				yes = *reg(c, u.rs1) >= *reg(c, u.rs2)
				goto branchBack
			case uJ:
				goto taken
			case uopKind(opJal):
				*reg(c, u.rd) = u.imm2
				goto taken
			case uJr:
				target = (*reg(c, u.rs1) + u.imm) &^ 1
				goto indirect
			case uopKind(opJalr):
				target = (*reg(c, u.rs1) + u.imm) &^ 1
				*reg(c, u.rd) = u.imm2
				goto indirect
			case uNext:
				goto inLine
			case uExec:
				goto exec
			case uAddiAddi:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uSlliXor:
				*reg(c, u.rd) = *reg(c, u.rs1) << (u.imm & 31)
				*reg(c, u.rd2) = *reg(c, u.rs3) ^ *reg(c, u.rs4)
			case uXorSlli:
				*reg(c, u.rd) = *reg(c, u.rs1) ^ *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) << (u.imm2 & 31)
			case uXorSrli:
				*reg(c, u.rd) = *reg(c, u.rs1) ^ *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) >> (u.imm2 & 31)
			case uSrliXor:
				*reg(c, u.rd) = *reg(c, u.rs1) >> (u.imm & 31)
				*reg(c, u.rd2) = *reg(c, u.rs3) ^ *reg(c, u.rs4)
			case uXorAndi:
				*reg(c, u.rd) = *reg(c, u.rs1) ^ *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) & u.imm2
			case uAndiSh2add:
				*reg(c, u.rd) = *reg(c, u.rs1) & u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3)<<2 + *reg(c, u.rs4)
			case uAddiXor:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3) ^ *reg(c, u.rs4)
			case uAndiAddi:
				*reg(c, u.rd) = *reg(c, u.rs1) & u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uAddiAndi:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3) & u.imm2
			case uMulAdd:
				*reg(c, u.rd) = *reg(c, u.rs1) * *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) + *reg(c, u.rs4)
			case uAddAdd:
				*reg(c, u.rd) = *reg(c, u.rs1) + *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) + *reg(c, u.rs4)
			case uAddiAdd:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3) + *reg(c, u.rs4)
			case uAddAddi:
				*reg(c, u.rd) = *reg(c, u.rs1) + *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uSlliAdd:
				*reg(c, u.rd) = *reg(c, u.rs1) << (u.imm & 31)
				*reg(c, u.rd2) = *reg(c, u.rs3) + *reg(c, u.rs4)
			case uAddiSlli:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				*reg(c, u.rd2) = *reg(c, u.rs3) << (u.imm2 & 31)
			case uSlliSrli:
				*reg(c, u.rd) = *reg(c, u.rs1) << (u.imm & 31)
				*reg(c, u.rd2) = *reg(c, u.rs3) >> (u.imm2 & 31)
			case uLwAddi:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto unfuse
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uLbuAddi:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size {
					goto unfuse
				}
				*reg(c, u.rd) = uint32(*(*uint8)(unsafe.Add(mem, addr-base)))
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uLwLw:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto unfuse
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || addr&3 != 0 {
					goto unfuseSecond
				}
				*reg(c, u.rd2) = *(*uint32)(unsafe.Add(mem, addr-base))
			case uAddiLw:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || addr&3 != 0 {
					goto unfuseSecond
				}
				*reg(c, u.rd2) = *(*uint32)(unsafe.Add(mem, addr-base))
			case uSh2addLw:
				*reg(c, u.rd) = *reg(c, u.rs1)<<2 + *reg(c, u.rs2)
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || addr&3 != 0 {
					goto unfuseSecond
				}
				*reg(c, u.rd2) = *(*uint32)(unsafe.Add(mem, addr-base))
			case uAddLbu:
				*reg(c, u.rd) = *reg(c, u.rs1) + *reg(c, u.rs2)
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size {
					goto unfuseSecond
				}
				*reg(c, u.rd2) = uint32(*(*uint8)(unsafe.Add(mem, addr-base)))
			case uSwAddi:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs2)
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uSbAddi:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint8)(unsafe.Add(mem, addr-base)) = uint8(*reg(c, u.rs2))
				*reg(c, u.rd2) = *reg(c, u.rs3) + u.imm2
			case uSwSw:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs2)
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leaveSecond
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs4)
			case uAddiSw:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leaveSecond
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs4)
			case uXorSb:
				*reg(c, u.rd) = *reg(c, u.rs1) ^ *reg(c, u.rs2)
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leaveSecond
				}
				*(*uint8)(unsafe.Add(mem, addr-base)) = uint8(*reg(c, u.rs4))
			case uLwSw:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto unfuse
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
				addr = *reg(c, u.rs3) + u.imm2
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leaveSecond
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs4)
			case uAddiBeq:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) == *reg(c, u.rs4)
				goto branch
			case uAddiBeqBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) == *reg(c, u.rs4)
				goto branchBack
			case uAddiBne:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) != *reg(c, u.rs4)
				goto branch
			case uAddiBneBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) != *reg(c, u.rs4)
				goto branchBack
			case uAddiBlt:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = int32(*reg(c, u.rs3)) < int32(*reg(c, u.rs4))
				goto branch
			case uAddiBltBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = int32(*reg(c, u.rs3)) < int32(*reg(c, u.rs4))
				goto branchBack
			case uAddiBge:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = int32(*reg(c, u.rs3)) >= int32(*reg(c, u.rs4))
				goto branch
			case uAddiBgeBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = int32(*reg(c, u.rs3)) >= int32(*reg(c, u.rs4))
				goto branchBack
			case uAddiBltu:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) < *reg(c, u.rs4)
				goto branch
			case uAddiBltuBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) < *reg(c, u.rs4)
				goto branchBack
			case uAddiBgeu:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) >= *reg(c, u.rs4)
				goto branch
			case uAddiBgeuBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				yes = *reg(c, u.rs3) >= *reg(c, u.rs4)
				goto branchBack
			case uAndiBeq:
				*reg(c, u.rd) = *reg(c, u.rs1) & u.imm
				yes = *reg(c, u.rs3) == *reg(c, u.rs4)
				goto branch
			case uAndiBne:
				*reg(c, u.rd) = *reg(c, u.rs1) & u.imm
				yes = *reg(c, u.rs3) != *reg(c, u.rs4)
				goto branch
			case uLwBeq:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto unfuse
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
				yes = *reg(c, u.rs3) == *reg(c, u.rs4)
				goto branch
			case uLwBne:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto unfuse
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
				yes = *reg(c, u.rs3) != *reg(c, u.rs4)
				goto branch
			case uLbuBeq:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size {
					goto unfuse
				}
				*reg(c, u.rd) = uint32(*(*uint8)(unsafe.Add(mem, addr-base)))
				yes = *reg(c, u.rs3) == *reg(c, u.rs4)
				goto branch
			case uAddBneBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + *reg(c, u.rs2)
				yes = *reg(c, u.rs3) != *reg(c, u.rs4)
				goto branchBack
			case uAddBltuBack:
				*reg(c, u.rd) = *reg(c, u.rs1) + *reg(c, u.rs2)
				yes = *reg(c, u.rs3) < *reg(c, u.rs4)
				goto branchBack
			case uLwBltuBack:
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto unfuse
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
				yes = *reg(c, u.rs3) < *reg(c, u.rs4)
				goto branchBack
			case uAddiJ:
				*reg(c, u.rd) = *reg(c, u.rs1) + u.imm
				goto taken
			default:
				goto rare
			}
		}

	branchBack:
		if yes {
			goto takenBack
		}
		goto nextBack

	branch:
		if !yes {
			goto next
		}

	taken:
		c.instret += b.retired
		c.entry, c.sizes = b.takenPC&^3, jumpSizes(b.takenPC)
		if nb = b.taken; nb.pc != b.takenPC {
			if nb = c.relink(&b.taken, b.takenPC); nb == nil {
				c.goTo(b.takenPC, uint64(b.cycles)+2)
				return running
			}
		}
		c.Cycle += uint64(b.cycles + nb.jumpExtra + 2)
		b = nb
		continue

	takenBack:
		if c.btb != b.branchPC || c.entry == b.branchPC&^3 {
			c.btb = b.branchPC
			goto taken
		}
		// Predicted: the target follows without a gap if it is in the fetch
		// buffer.
		if nb = b.taken; nb.pc != b.takenPC {
			if nb = c.relink(&b.taken, b.takenPC); nb == nil {
				c.predictedOut(b)
				return running
			}
		}
		c.leaveBlock(b, 1)
		if nb.jumpExtra != 0 && !b.ahead && !b.fetchedAhead(c.sizes) {
			c.Cycle++
		}
		c.entry, c.sizes = noBranch, jumpSizes(b.takenPC)
		b = nb
		continue

	nextBack:
		if c.btb == b.branchPC && c.entry != b.branchPC&^3 {
			if b = c.mispredicted(b); b == nil {
				return running
			}
			continue
		}

	next:
		c.leaveBlock(b, 1)
		c.sizes = b.sizesAfter(c.sizes)
		if nb = b.next; nb.pc != b.nextPC {
			if nb = c.relink(&b.next, b.nextPC); nb == nil {
				c.pc = b.nextPC
				return running
			}
		}
		b = nb
		continue

	indirect:
		c.leaveBlock(b, 2)
		c.entry, c.sizes = target&^3, jumpSizes(target)
		if nb = b.taken; nb.pc != target {
			if nb = c.relink(&b.taken, target); nb == nil {
				c.goTo(target, 0)
				return running
			}
		}
		c.Cycle += uint64(nb.jumpExtra)
		b = nb
		continue

	inLine:
		c.leaveBlock(b, 0)
		c.sizes = b.sizesAfter(c.sizes)
		nb = c.link(&b.next, b.nextPC)
		if !c.follow(b, nb) {
			return running
		}
		b = nb
		continue

		// Below, u must not be needed behind a call: it would be kept in memory,
		// for each micro-operation.
	loadMiss:
		if u = c.otherLoad(u, addr); u != nil {
			goto resume
		}
		return c.leaveAt(b, c.missed)

	rare:
		u = c.rareOp(u)
		goto resume

	unfuse:
		return c.leaveUnfused(b, int(u.idx))

	unfuseSecond:
		return c.leaveUnfused(b, int(u.idx)+1)

	leaveSecond:
		return c.leaveAt(b, int(u.idx)+1)

	leave:
		return c.leaveAt(b, int(u.idx))

	exec:
		nb = c.execLast(b, &target)
		if nb == nil {
			return int(target)
		}
		b = nb
	}
}
