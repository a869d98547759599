package hazard3

import "unsafe"

// uopKind is what a micro-operation does. The kinds below numOps are the op of
// the same number.
type uopKind uint8

const (
	// uNext ends a block that goes on in line, uExec one whose next instruction
	// is executed by exec.
	uNext uopKind = uopKind(numOps) + iota
	uExec
	uJ
	uJr
	// Branches backwards, which the predictor may know.
	uBeqBack
	uBneBack
	uBltBack
	uBgeBack
	uBltuBack
	uBgeuBack
	// Two instructions in one: rd, rs1, rs2 and imm are those of the first,
	// rd2, rs3, rs4 and imm2 those of the second.
	uAddiAddi
	uSlliXor
	uXorSlli
	uXorSrli
	uSrliXor
	uXorAndi
	uAndiSh2add
	uAddiXor
	uAndiAddi
	uAddiAndi
	uMulAdd
	uAddAdd
	uAddiAdd
	uAddAddi
	uSlliAdd
	uAddiSlli
	uSlliSrli
	uLwAddi
	uLbuAddi
	uLwLw
	uAddiLw
	uSh2addLw
	uAddLbu
	uSwAddi
	uSbAddi
	uSwSw
	uAddiSw
	uXorSb
	uLwSw
	uAddiBeq
	uAddiBeqBack
	uAddiBne
	uAddiBneBack
	uAddiBlt
	uAddiBltBack
	uAddiBge
	uAddiBgeBack
	uAddiBltu
	uAddiBltuBack
	uAddiBgeu
	uAddiBgeuBack
	uAndiBeq
	uAndiBne
	uLwBeq
	uLwBne
	uLbuBeq
	uAddBneBack
	uAddBltuBack
	uLwBltuBack
	uAddiJ
)

// pair is two kinds in a row.
type pair struct{ first, second uopKind }

// pairs are those that are executed as one. addi stands for mv, li and lui too.
var pairs = map[pair]uopKind{
	{uopKind(opAddi), uopKind(opAddi)}:   uAddiAddi,
	{uopKind(opSlli), uopKind(opXor)}:    uSlliXor,
	{uopKind(opXor), uopKind(opSlli)}:    uXorSlli,
	{uopKind(opXor), uopKind(opSrli)}:    uXorSrli,
	{uopKind(opSrli), uopKind(opXor)}:    uSrliXor,
	{uopKind(opXor), uopKind(opAndi)}:    uXorAndi,
	{uopKind(opAndi), uopKind(opSh2add)}: uAndiSh2add,
	{uopKind(opAddi), uopKind(opXor)}:    uAddiXor,
	{uopKind(opAndi), uopKind(opAddi)}:   uAndiAddi,
	{uopKind(opAddi), uopKind(opAndi)}:   uAddiAndi,
	{uopKind(opMul), uopKind(opAdd)}:     uMulAdd,
	{uopKind(opAdd), uopKind(opAdd)}:     uAddAdd,
	{uopKind(opAddi), uopKind(opAdd)}:    uAddiAdd,
	{uopKind(opAdd), uopKind(opAddi)}:    uAddAddi,
	{uopKind(opSlli), uopKind(opAdd)}:    uSlliAdd,
	{uopKind(opAddi), uopKind(opSlli)}:   uAddiSlli,
	{uopKind(opSlli), uopKind(opSrli)}:   uSlliSrli,
	{uopKind(opLw), uopKind(opAddi)}:     uLwAddi,
	{uopKind(opLbu), uopKind(opAddi)}:    uLbuAddi,
	{uopKind(opLw), uopKind(opLw)}:       uLwLw,
	{uopKind(opAddi), uopKind(opLw)}:     uAddiLw,
	{uopKind(opSh2add), uopKind(opLw)}:   uSh2addLw,
	{uopKind(opAdd), uopKind(opLbu)}:     uAddLbu,
	{uopKind(opSw), uopKind(opAddi)}:     uSwAddi,
	{uopKind(opSb), uopKind(opAddi)}:     uSbAddi,
	{uopKind(opSw), uopKind(opSw)}:       uSwSw,
	{uopKind(opAddi), uopKind(opSw)}:     uAddiSw,
	{uopKind(opXor), uopKind(opSb)}:      uXorSb,
	{uopKind(opLw), uopKind(opSw)}:       uLwSw,
	{uopKind(opAddi), uopKind(opBeq)}:    uAddiBeq,
	{uopKind(opAddi), uBeqBack}:          uAddiBeqBack,
	{uopKind(opAddi), uopKind(opBne)}:    uAddiBne,
	{uopKind(opAddi), uBneBack}:          uAddiBneBack,
	{uopKind(opAddi), uopKind(opBlt)}:    uAddiBlt,
	{uopKind(opAddi), uBltBack}:          uAddiBltBack,
	{uopKind(opAddi), uopKind(opBge)}:    uAddiBge,
	{uopKind(opAddi), uBgeBack}:          uAddiBgeBack,
	{uopKind(opAddi), uopKind(opBltu)}:   uAddiBltu,
	{uopKind(opAddi), uBltuBack}:         uAddiBltuBack,
	{uopKind(opAddi), uopKind(opBgeu)}:   uAddiBgeu,
	{uopKind(opAddi), uBgeuBack}:         uAddiBgeuBack,
	{uopKind(opAndi), uopKind(opBeq)}:    uAndiBeq,
	{uopKind(opAndi), uopKind(opBne)}:    uAndiBne,
	{uopKind(opLw), uopKind(opBeq)}:      uLwBeq,
	{uopKind(opLw), uopKind(opBne)}:      uLwBne,
	{uopKind(opLbu), uopKind(opBeq)}:     uLbuBeq,
	{uopKind(opAdd), uBneBack}:           uAddBneBack,
	{uopKind(opAdd), uBltuBack}:          uAddBltuBack,
	{uopKind(opLw), uBltuBack}:           uLwBltuBack,
	{uopKind(opAddi), uJ}:                uAddiJ,
}

// fuse replaces the block's micro-operations by fewer: each pair that can be
// executed as one becomes one. unfuse undoes it.
func (b *block) fuse() {
	in := b.single
	out := make([]uop, 0, len(in))
	for i := 0; i < len(in); i++ {
		u := in[i]
		if i+1 < len(in) {
			v := in[i+1]
			if k, ok := pairs[pair{u.op, v.op}]; ok && fits(u, v) {
				u.op = k
				u.rd2, u.rs3, u.rs4, u.imm2 = v.rd, v.rs1, v.rs2, v.imm
				i++
			}
		}
		out = append(out, u)
	}
	b.setOps(out)
}

// fits: when the second one may have to be left to exec, it must be the next
// instruction, because its place in the block is not kept.
func fits(u, v uop) bool {
	switch op(v.op) {
	case opLw, opLbu, opSw, opSb:
		return v.idx == u.idx+1
	}
	return true
}

// unfuse makes every instruction a micro-operation again: for code that loads
// from elsewhere than the fast window.
func (b *block) unfuse() { b.setOps(b.single) }

func (b *block) setOps(ops []uop) {
	b.ops = ops
	b.first = unsafe.SliceData(ops)
}
