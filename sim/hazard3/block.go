package hazard3

// A block is a run of instructions that is entered at its first and left behind
// its last: a list of micro-operations, of which the last says where it goes
// on. Blocks are found by address and linked to their successors. What a block
// costs is known when it is made, so that cycles and instructions are counted
// once for it. Blocks, their micro-operations and their timing are data without
// code: a translator to machine code can take its input from them.

// unlinked stands for a successor that is not known yet.
var unlinked = block{pc: noBranch}

// maxBlock is the number of instructions in a block.
const maxBlock = 64

// block is one run of decoded code. A block ends inside the page it begins in.
type block struct {
	// What the loop needs of each block comes first.

	// first is the first micro-operation of ops.
	first *uop
	// taken and next are the successors, behind a jump and in line; takenPC and
	// nextPC are where they must begin.
	taken, next     *block
	takenPC, nextPC uint32
	// pc is the address; odd once the block is no longer valid, so that links
	// to it fail their check.
	pc uint32
	// guard is an upper bound of the cycles from the start of the block to the
	// start of its last instruction: a block may run if no limit is in reach.
	guard uint32
	// cycles is the time up to where the last micro-operation begins.
	cycles uint32
	// jumpExtra is the cycle that jumps to the block take longer, because it
	// begins with a 32-bit instruction across words.
	jumpExtra uint32
	// retired is the number of instructions, and of stores from bit
	// storeShift on.
	retired uint64
	// branchPC is the address of a branch backwards at the end.
	branchPC uint32
	// sizes are those of the last two instructions, as Core.sizes; long: they
	// do not depend on what was before the block.
	sizes               uint8
	long                bool
	ahead, aheadDynamic bool // see fetchedAhead

	// firstUse are the registers that the first instruction waits for, exitLoad
	// those whose load is in its data phase at the end.
	firstUse, exitLoad uint32
	// endPC is the address behind the last instruction.
	endPC uint32
	// ops are the micro-operations, single those before fuse.
	ops, single []uop
	// last is the jump, or what exec executes; meta are all before it.
	last blockMeta
	meta []blockMeta
}

// blockMeta says of one instruction of a block what it takes to leave the block
// before it: where it stands and when it begins, after waiting for operands.
type blockMeta struct {
	in    inst
	off   uint16 // address - block.pc
	cyc   uint16
	sizes uint8
}

// uop is one micro-operation. rd and rs are byte offsets of registers in X;
// idx is the place of its instruction in block.meta.
type uop struct {
	op           uopKind
	rd, rs1, rs2 uint8
	imm          uint32
	imm2         uint32
	idx          uint8
	rd2          uint8
	rs3, rs4     uint8
}

// lookup returns the block at pc, or nil if there can be none.
func (c *Core) lookup(pc uint32) *block {
	if p := c.code.page(pc); p != nil {
		if b := p.blocks[pc>>1&(pageInsts-1)]; b != nil {
			return b
		}
	}
	return c.build(pc)
}

// build makes the block at pc.
func (c *Core) build(pc uint32) *block {
	if c.barred(pc) {
		return nil
	}
	b := &block{pc: pc, taken: &unlinked, next: &unlinked}
	var (
		t       uint32 // cycles so far, without what varies
		vary    uint32 // the most that may come on top
		loading uint32
		n       uint64
		stores  uint64
		sizes   uint8
	)
	at := pc
	for {
		in, ok := c.fetchCached(at)
		if !ok || n == maxBlock || (at^pc)>>pageShift != 0 || c.barred(at) {
			if n == 0 {
				return nil
			}
			b.end(uop{op: uNext}, t)
			b.exitLoad = loading
			b.guard += vary
			break
		}
		m := blockMeta{in: in, off: uint16(at - pc), sizes: sizes & 3}
		if n == 0 {
			b.firstUse = in.use
			if pc&2 != 0 && in.size == 4 {
				b.jumpExtra = 1
			}
		}
		kind := classify(&in)
		if kind == classOther {
			b.last = m
			b.end(uop{op: uExec}, t)
			b.exitLoad = loading
			b.guard = t + vary
			at += uint32(in.size)
			break
		}
		waited := loading&in.use != 0
		if waited {
			t++
		}
		m.cyc = uint16(t)
		b.guard = t + vary
		loading = 0
		at += uint32(in.size)
		n++
		if kind == classJump {
			b.last = m
			b.finish(&in, at, t, waited, sizes, n)
			sizes = sizes<<1 | in.size>>1&1
			break
		}
		sizes = sizes<<1 | in.size>>1&1
		switch {
		case kind == classLoad:
			loading = 1 << in.rd
		case kind == classStore:
			stores++
		}
		b.add(&in, m, at-uint32(in.size))
		t++
		switch in.op {
		case opDiv, opRem:
			t += divuCycles - 1
			vary++
		case opDivu, opRemu:
			t += divuCycles - 1
		}
	}
	b.endPC, b.nextPC = at, at
	b.sizes, b.long = sizes&3, n > 2
	b.retired = n | stores<<storeShift
	b.fuse()
	p := c.code.makePage(pc)
	p.blocks[pc>>1&(pageInsts-1)] = b
	p.list = append(p.list, b)
	return b
}

// barred: something must be done before the instruction at pc, a gate or a
// breakpoint.
func (c *Core) barred(pc uint32) bool {
	return pc-c.gateLo < c.gateSize || len(c.code.stops) > 0 && c.code.stops[pc] > 0
}

// fetchCached decodes the instruction at pc if it comes from memory that can be
// cached.
func (c *Core) fetchCached(pc uint32) (inst, bool) {
	in := c.fetch(pc)
	if in == nil || in == &c.uncached {
		return inst{}, false
	}
	return *in, true
}

type class uint8

const (
	classPlain class = iota
	classLoad
	classStore
	classJump
	classOther // executed by exec
)

func classify(in *inst) class {
	switch {
	case in.op == opIllegal:
		return classOther
	case in.op <= opNop:
		return classPlain
	case in.op <= opLhu:
		if in.rd == 0 {
			return classOther
		}
		return classLoad
	case in.op <= opSw:
		return classStore
	case in.op <= opBgeu:
		return classJump
	case in.op == opJal:
		if in.imm == 0 && in.rd == 0 {
			return classOther // `j .` has its own way of spending time
		}
		return classJump
	case in.op == opJalr:
		return classJump
	case in.op == opFence:
		return classPlain
	}
	return classOther
}

func (b *block) end(u uop, t uint32) {
	u.idx = uint8(len(b.meta))
	b.single = append(b.single, u)
	b.cycles = t
}

// add appends the micro-operation of an instruction that goes on in line.
func (b *block) add(in *inst, m blockMeta, pc uint32) {
	idx := uint8(len(b.meta))
	b.meta = append(b.meta, m)
	if in.op == opNop || in.op == opFence || in.rd == 0 && in.op < opNop && !(in.op == opDiv || in.op == opRem) {
		return
	}
	u := uop{op: uopKind(in.op), rd: in.rd * 4, rs1: in.rs1 * 4, rs2: in.rs2 * 4, imm: in.imm, idx: idx}
	switch in.op {
	case opMv:
		u.op = uopKind(opAddi) // imm is 0 already
	case opLi:
		u.op = uopKind(opAddi) // to x0
	case opAuipc:
		u.op, u.imm = uopKind(opAddi), pc+in.imm
	case opBextmi:
		u.imm, u.imm2 = in.imm&31, in.imm>>8
	}
	b.single = append(b.single, u)
}

// finish appends the jump or branch at the block's end; next is the address
// behind it.
func (b *block) finish(in *inst, next, t uint32, waited bool, sizes uint8, n uint64) {
	pc := next - uint32(in.size)
	u := uop{op: uopKind(in.op), rd: in.rd * 4, rs1: in.rs1 * 4, rs2: in.rs2 * 4, imm: in.imm, imm2: next}
	b.takenPC = pc + in.imm
	switch {
	case in.op == opJalr:
		b.takenPC = noBranch
		if in.rd == 0 {
			u.op = uJr
		}
	case in.op == opJal:
		if in.rd == 0 {
			u.op = uJ
		}
	case int32(in.imm) < 0:
		u.op = uBeqBack + uopKind(in.op-opBeq)
		b.branchPC = pc
		b.ahead = waited || n > 3 && aheadFor(pc, in.size, sizes)
		b.aheadDynamic = !waited && n <= 3
	}
	b.end(u, t)
}
