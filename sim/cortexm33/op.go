package cortexm33

// op is one decoded operation: an instruction, a fused pair, or the condition
// of an instruction in an IT block. It holds no pointer, so a block of them is
// one flat piece of memory.
type op struct {
	code           opcode
	rd, rn, rm, ra uint8
	x              uint16 // small second operand: shift, width, condition
	imm            uint32
	im2            uint32
}

type opcode uint16

// Operations of the hot loop (run.go). opSlow and above go through execSlow.
const (
	opNop opcode = iota
	// End of a block without a branch: the next pc is im2.
	opEnd

	// Condition inside an IT block: skip x operations unless ra holds.
	opSkip

	opMovI
	opMovIS
	opMovR
	opMovRS
	opMvnR
	opMvnRS

	opAddSP // add sp, sp, #imm with the stack limit check
	opAddI
	opAddIS
	opAddR
	opAddRS
	opSubR
	opSubRS
	opSubIS
	opRsbI
	opRsbIS
	opCmpI
	opCmpR
	opCmnI
	opCmnR
	opTstI
	opTstR
	opAdcRS
	opAdcR
	opSbcRS
	opSbcR

	opAndI
	opAndIS
	opOrrI
	opOrrIS
	opEorI
	opEorIS
	opAndR
	opAndRS
	opOrrR
	opOrrRS
	opEorR
	opEorRS
	opBicR
	opBicRS

	opLslI
	opLslIS
	opLsrI
	opLsrIS
	opAsrI
	opAsrIS
	opRorI
	opLslR
	opLslRS
	opLsrR
	opLsrRS
	opAsrR
	opAsrRS
	opRorR
	opRorRS

	// rd = rn OP (rm shifted by x), flags untouched.
	opAddLsl
	opAddLsr
	opAddAsr
	opSubLsl
	opSubLsr
	opSubAsr
	opRsbLsl
	opAndLsl
	opAndLsr
	opOrrLsl
	opOrrLsr
	opEorLsl
	opEorLsr
	opEorAsr
	opEorRor
	opAddRor
	opBicLsl
	opBicLsr

	opMul
	opMulS
	opMla
	opMls
	opUmull
	opSmull
	opUmlal
	opUdiv
	opSdiv
	opUxtb
	opUxth
	opSxtb
	opSxth
	opUxtab
	opUxtah
	opUbfx
	opSbfx
	opBfi
	opBfc
	opMovt
	opClz
	opRev
	opRbit

	opLdrI
	opLdrR
	opLdrLit
	opLdrbI
	opLdrbR
	opLdrhI
	opLdrhR
	opLdrsbI
	opLdrsbR
	opLdrshI
	opLdrshR
	opStrI
	opStrR
	opStrbI
	opStrbR
	opStrhI
	opStrhR
	// Indexed with write-back: imm is added to rn; x is 1 for pre-indexed.
	opLdrW
	opLdrbW
	opLdrhW
	opStrW
	opStrbW
	opStrhW
	opLdrd
	opStrd
	opPush
	opPop
	opPopPC
	opLdm
	opStm

	// Branches. im2 is the next pc when not taken (or the return address), imm
	// the target.
	opB
	opBEQ
	opBNE
	opBCS
	opBCC
	opBMI
	opBPL
	opBVS
	opBVC
	opBHI
	opBLS
	opBGE
	opBLT
	opBGT
	opBLE
	opCbz
	opCbnz
	opBL
	opBX
	opBLX
	opTbb
	opTbh

	// Fused compare and branch: rn against rm or the 16-bit x.
	opCmpIEQ
	opCmpINE
	opCmpICS
	opCmpICC
	opCmpIHI
	opCmpILS
	opCmpIGE
	opCmpILT
	opCmpIGT
	opCmpILE
	opCmpREQ
	opCmpRNE
	opCmpRCS
	opCmpRCC
	opCmpRHI
	opCmpRLS
	opCmpRGE
	opCmpRLT
	opCmpRGT
	opCmpRLE
	opSubsBNE

	// Floating point that is common enough for the loop.
	opVldr
	opVstr
	opVmovR

	opSlow
)

// Operations outside the hot loop (exec.go and its neighbours).
const (
	opUndef     opcode = opSlow + iota
	opNocp             // coprocessor x absent or disabled
	opUnaligned        // a load or store form that must be aligned, refused at decode
	opDPI              // data processing, immediate: ra is the alu function
	opDPS              // data processing, shifted register: im2 is type<<8|amount
	opAddPC            // add rd=pc: branch
	opMovPC            // mov pc, rm
	opWriteSP          // ADD, SUB or MOV (ra) to sp; im2 bit 0 flags, bit 1 immediate, 8-10 shift
	opLoad             // any load: see memop
	opStore            // any store
	opLdmX             // LDM in general: imm list, x bits 0 wback 1 decrement 2 T
	opStmX
	opLdrdX
	opStrdX
	opLdrex
	opStrex
	opClrex
	opRev16
	opRevsh
	opMull  // long multiplies: ra kind
	opSmulx // halfword multiplies
	opDsp   // parallel add/sub, sel, qadd...
	opExtend
	opSat
	opPkh
	opUsad
	opMrs
	opMsr
	opCps
	opSvc
	opBkpt
	opWfi
	opWfe
	opSev
	opYield
	opIsb
	opDmb
	opTT
	opSG
	opBxns
	opBlxns
	opBxR // bx/blx with exception-return or function-return checks
	opMcr
	opMrc
	opMcrr
	opMrrc
	opCdp
	opITInvalid

	// FP
	opVldm
	opVstm
	opVldrX
	opVstrX
	opVmovSR // core register to or from a single
	opVmov2  // two core registers to or from two singles or a double
	opVmovD
	opVmrs
	opVmsr
	opVdp3 // three-operand arithmetic: ra kind
	opVdp2 // two-operand
	opVmovImm
	opVsel
	opVcmp
	opVcvtIF
	opVcvtFI
	opVcvtFix
	opVcvtHalf
	opVrint
	opVlldm
	opVlstm
	opVscclrm
)

// alu numbers the data-processing functions, with the values of the 32-bit
// encodings' op field (Armv8-M ARM, C2.3.3).
const (
	aluAND = 0
	aluBIC = 1
	aluORR = 2
	aluORN = 3
	aluEOR = 4
	aluPKH = 6
	aluADD = 8
	aluADC = 10
	aluSBC = 11
	aluSUB = 13
	aluRSB = 14
	aluMOV = 16
	aluMVN = 17
	aluTST = 18
	aluTEQ = 19
	aluCMN = 20
	aluCMP = 21
)

// Shift types.
const (
	shLSL = iota
	shLSR
	shASR
	shROR
	shRRX
)

// Kinds of access for opLoad and opStore, kept in op.ra.
const (
	memByte = iota
	memHalf
	memWord
	memSByte
	memSHalf
)

// Addressing bits for opLoad, opStore and the multiple forms, kept in op.x.
const (
	amIndex   = 1 << 0 // offset applied before the access
	amWback   = 1 << 1
	amReg     = 1 << 2 // offset is rm << im2
	amUnpriv  = 1 << 3 // LDRT and friends
	amAcquire = 1 << 4 // LDA, STL: must be aligned
	amDec     = 1 << 5 // decrement before (multiple forms)
	amExcl    = 1 << 6
	amDouble  = 1 << 7
)
