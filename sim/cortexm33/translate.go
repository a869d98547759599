package cortexm33

// decodeBlock fills b with up to max instructions from c.pc. It returns false,
// with c.abort set, if the first one cannot be fetched.
func (c *Core) decodeBlock(b *block, max int) bool {
	pc, it := c.pc, c.it
	single := max == 1
	*b = block{ops: b.ops[:0], meta: b.meta[:0], pc: pc, it: it, regime: c.regime, link: [2]*block{noBlock, noBlock}}
	n := 0
	for {
		d, size, ok := c.fetchInsn(pc, it)
		if !ok {
			if n == 0 {
				return false
			}
			c.abort = abortNone
			break
		}
		if n > 0 && c.code.cuts[pc] > 0 {
			break
		}
		inIT := it&15 != 0
		at := uint16(b.cost)
		if it&15 != 0 && it>>4 != 14 && d.code != opITInvalid {
			b.ops = append(b.ops, op{code: opSkip, x: 1, ra: it >> 4})
			b.meta = append(b.meta, meta{pc: pc, at: at, n: uint8(n), it: it})
		}
		var after insn
		if isLoad(&d.op) && !d.ends {
			after, _, _ = c.fetchInsn(pc+size, itAdvance(it))
			c.abort = abortNone
		}
		b.cost += cost(&d.op, &after.op)
		next := itAdvance(it)
		if isIT(d) {
			next = uint8(d.imm)
		}
		fused := false
		// A compare that stands in an IT block may be skipped, the branch not.
		if last := len(b.ops) - 1; !single && !inIT && last >= 0 && !isIT(d) && (last == 0 || b.ops[last-1].code != opSkip) {
			sink(b.ops, &d.op)
			fused = fuse(&b.ops[last], &d.op)
		}
		if !fused && !isIT(d) {
			b.ops = append(b.ops, d.op)
			b.meta = append(b.meta, meta{pc: pc, at: at, n: uint8(n), it: it})
		}
		n++
		pc += size
		it = next
		if d.ends || n >= max && it&15 == 0 || single {
			break
		}
	}
	b.end, b.n = pc, uint64(n)
	b.cycles = [2]uint64{uint64(b.cost), uint64(b.cost) + takenCost}
	b.need = uint64(b.cost)
	if n == 1 {
		b.need = 1
	}
	b.ops = append(b.ops, op{code: opEnd, im2: pc, x: uint16(it)})
	b.meta = append(b.meta, meta{pc: pc, at: uint16(b.cost), n: uint8(n), it: it})
	if !single {
		dropDeadFlags(b.ops)
	}
	if c.code.cuts[b.pc] > 0 {
		b.regime = regimeCheck
	}
	return true
}

// isIT recognises the IT instruction, which becomes no operation of its own.
func isIT(d insn) bool { return d.code == opNop && d.x == 1 }

func itAdvance(it uint8) uint8 {
	if it&7 == 0 {
		return 0
	}
	return it&0xe0 | it<<1&0x1f
}

// fetchInsn fetches and decodes the instruction at pc.
func (c *Core) fetchInsn(pc uint32, it uint8) (d insn, size uint32, ok bool) {
	if !c.checkFetch(pc, pc+2) {
		return d, 0, false
	}
	h1, ok := c.fetchHalf(pc)
	if !ok {
		return d, 0, false
	}
	inIT := it&15 != 0
	if h1>>11 < 0b11101 {
		if h1&0xff00 == 0xbf00 && h1&15 != 0 { // IT
			d.op = op{code: opNop, x: 1, imm: h1 & 0xff}
			if inIT || h1>>4&15 == 15 || h1>>4&15 == 14 && h1&15 != 8 && h1&7&(h1&15-1) != 0 {
				return undef(), 2, true
			}
			return d, 2, true
		}
		d = decode16(h1, pc, inIT)
		return itRules(d, it), 2, true
	}
	// Of SG, the first halfword was checked with the second one.
	if sg := c.ns && h1 == 0xe97f; !sg && !c.checkFetch(pc+2, pc+4) {
		return d, 0, false
	}
	h2, ok := c.fetchHalf(pc + 2)
	if !ok {
		return d, 0, false
	}
	return itRules(decode32(h1<<16|h2, pc), it), 4, true
}

// itRules rejects branches inside an IT block that are not its last
// instruction, and the forms that may not stand in one.
func itRules(d insn, it uint8) insn {
	if it&15 == 0 {
		return d
	}
	switch {
	case d.code >= opBEQ && d.code <= opCbnz && d.code != opBL, d.code == opCps:
		return undef()
	case d.code == opSvc, d.code == opBkpt, d.code == opUndef, d.code == opSG, d.code == opNocp,
		d.code == opWfi, d.code == opWfe, d.code == opSev, d.code == opIsb, d.code == opMsr, d.code == opVlldm, d.code == opVlstm:
		return d
	case d.ends && it&7 != 0:
		return undef()
	}
	return d
}

// sink moves a compare behind the operation that stands between it and the
// conditional branch d, if neither can be left and they do not meet in a
// register.
func sink(ops []op, d *op) {
	n := len(ops) - 1
	if d.code < opBEQ || d.code > opBLE || n < 1 || n >= 2 && ops[n-2].code == opSkip {
		return
	}
	cmp, o := &ops[n-1], &ops[n]
	if cmp.code != opCmpI && cmp.code != opCmpR || o.code >= opSlow {
		return
	}
	u := flagUses[o.code]
	if !u.clear || u.sets != 0 || o.rd == cmp.rn || cmp.code == opCmpR && o.rd == cmp.rm {
		return
	}
	*cmp, *o = *o, *cmp
}

// fuse merges a compare in p with the conditional branch d.
func fuse(p, d *op) bool {
	if d.code < opBEQ || d.code > opBLE {
		return false
	}
	if p.code == opSubIS && d.code == opBNE && p.imm <= 0xffff {
		p.x = uint16(p.imm)
		p.code = opSubsBNE
		p.imm, p.im2 = d.imm, d.im2
		return true
	}
	cond := d.code - opBEQ
	k := fusedCond[cond]
	if k == 0 {
		return false
	}
	switch {
	case p.code == opCmpI && p.imm <= 0xffff:
		p.x = uint16(p.imm)
		p.code = opCmpIEQ + k - 1
	case p.code == opCmpR:
		p.code = opCmpREQ + k - 1
	default:
		return false
	}
	p.imm, p.im2 = d.imm, d.im2
	return true
}

// fusedCond maps a condition to its place among the fused operations, from 1.
var fusedCond = [14]opcode{1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 9, 10}

// Flags, as masks for dropDeadFlags.
const (
	fNZ  = 1
	fC   = 2
	fV   = 4
	fAll = 7
)

// flagUse says of an operation which flags it sets, what it becomes when
// nobody reads them, and whether it is transparent (reads none, cannot fault).
type flagUse struct {
	sets  uint8
	plain opcode
	clear bool
}

var flagUses = func() (t [opSlow]flagUse) {
	set := func(code, plain opcode, mask uint8) { t[code] = flagUse{mask, plain, true} }
	set(opMovRS, opMovR, fNZ)
	set(opMvnRS, opMvnR, fNZ)
	set(opAddIS, opAddI, fAll)
	set(opAddRS, opAddR, fAll)
	set(opSubRS, opSubR, fAll)
	set(opRsbIS, opRsbI, fAll)
	set(opCmpI, opNop, fAll)
	set(opCmpR, opNop, fAll)
	set(opAndRS, opAndR, fNZ)
	set(opOrrRS, opOrrR, fNZ)
	set(opEorRS, opEorR, fNZ)
	set(opBicRS, opBicR, fNZ)
	set(opMulS, opMul, fNZ)
	set(opLslIS, opLslI, fNZ|fC)
	set(opLsrIS, opLsrI, fNZ|fC)
	set(opAsrIS, opAsrI, fNZ|fC)
	set(opSubIS, opAddI, fAll)
	for c := opCmpIEQ; c <= opSubsBNE; c++ {
		t[c] = flagUse{fAll, 0, true}
	}
	for _, c := range []opcode{opNop, opMovI, opMovR, opMvnR, opAddI, opAddR, opSubR, opRsbI, opAndI, opOrrI, opEorI,
		opAndR, opOrrR, opEorR, opBicR, opLslI, opLsrI, opAsrI, opAddLsl, opAddLsr, opSubLsl, opAndLsl, opOrrLsl,
		opOrrLsr, opEorLsl, opEorLsr, opMul, opMla, opUxtb, opUxth, opSxtb, opSxth, opUbfx, opSbfx, opBfi, opMovt, opClz} {
		t[c].clear = true
	}
	return t
}()

// dropDeadFlags replaces flag-setting operations whose flags are set again
// before anything can see them.
func dropDeadFlags(ops []op) {
	dead := uint8(0)
	for i := len(ops) - 1; i >= 0; i-- {
		o := &ops[i]
		if o.code >= opSlow {
			dead = 0
			continue
		}
		u := flagUses[o.code]
		switch {
		case !u.clear:
			dead = 0
		case u.sets == 0:
		case u.plain != 0 && u.sets&^dead == 0:
			if o.code == opSubIS {
				o.imm = -o.imm
			}
			o.code = u.plain
		default:
			dead |= u.sets
		}
	}
}
