package hazard3

// op is a decoded operation. Compressed instructions decode to the operation
// they expand to, so an op alone does not tell the size of its encoding.
type op uint8

const (
	opIllegal op = iota
	// Operations on registers: rd = f(rs1, rs2).
	opAdd
	opSub
	opSll
	opSlt
	opSltu
	opXor
	opSrl
	opSra
	opOr
	opAnd
	opMul
	opMulh
	opMulhsu
	opMulhu
	opDiv
	opDivu
	opRem
	opRemu
	opSh1add
	opSh2add
	opSh3add
	opAndn
	opOrn
	opXnor
	opMax
	opMaxu
	opMin
	opMinu
	opRol
	opRor
	opBclr
	opBext
	opBinv
	opBset
	opPack
	opPackh
	opClmul
	opClmulh
	opClmulr
	opBextm // imm is the mask
	// Operations on one register and an immediate.
	opAddi
	opSlti
	opSltiu
	opXori
	opOri
	opAndi
	opSlli
	opSrli
	opSrai
	opRori
	opBclri // imm is the bit's mask; so for binvi and bseti
	opBexti
	opBinvi
	opBseti
	opClz
	opCtz
	opCpop
	opSextB
	opSextH
	opZextH
	opOrcB
	opRev8
	opBrev8
	opZip
	opUnzip
	opBextmi // imm is mask<<8 | shift
	opLi     // rd = imm
	opAuipc  // rd = pc + imm
	opMv     // rd = rs1
	opNop
	// Loads and stores.
	opLb
	opLh
	opLw
	opLbu
	opLhu
	opSb
	opSh
	opSw
	// Control transfer.
	opBeq
	opBne
	opBlt
	opBge
	opBltu
	opBgeu
	opJal
	opJalr
	// Atomics.
	opLrW
	opScW
	opAmo // imm is the function (amoAdd...)
	// Zcmp; imm is the stack adjustment, rs2 the number of registers.
	opPush
	opPop
	opPopret
	opPopretz
	opMvsa01
	opMva01s
	// System.
	opCsr // imm is the CSR number | type<<12
	opFence
	opFenceI
	opEcall
	opEbreak
	opMret
	opWfi
	opBlock
	opUnblock
	numOps
)

// The functions of opAmo.
const (
	amoSwap uint32 = iota
	amoAdd
	amoXor
	amoAnd
	amoOr
	amoMin
	amoMax
	amoMinu
	amoMaxu
)

// The types of opCsr in bits 13:12 of inst.imm; csrImm marks the immediate
// forms.
const (
	csrWrite = 0 << 12
	csrSet   = 1 << 12
	csrClear = 2 << 12
	csrType  = 3 << 12
	csrImm   = 1 << 14
)

// inst is one decoded instruction. It is laid out in 16 bytes without
// pointers: the code cache holds one for every halfword of code.
type inst struct {
	op       op
	rd       uint8
	rs1, rs2 uint8
	imm      uint32
	// use has a bit for each register whose value the instruction needs in its
	// execute stage: those it must wait for after a load.
	use uint32
	// size is the length of the encoding in bytes, 0 for "not decoded yet".
	size uint8
	_    [3]uint8
}
