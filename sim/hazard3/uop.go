package hazard3

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
	// Branches backwards, which the predictor may know; imm is the address of
	// the branch.
	uBeqBack
	uBneBack
	uBltBack
	uBgeBack
	uBltuBack
	uBgeuBack
	numUops
)
