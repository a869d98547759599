package cortexm

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/probe/mem"
)

// faultBits are the words for the bits of CFSR, SFSR and HFSR (Armv8-M ARM,
// D1.2).
var faultBits = []struct {
	reg  int // 0 CFSR, 1 HFSR, 2 SFSR
	bit  uint
	text string
	addr int // 1 MMFAR, 2 BFAR, 3 SFAR
}{
	{0, 0, "an instruction fetch that the memory protection forbids", 0},
	{0, 1, "a data access that the memory protection forbids", 1},
	{0, 8, "a bus fault on an instruction fetch", 0},
	{0, 9, "a bus fault", 2},
	{0, 10, "a bus fault, some instructions ago", 0},
	{0, 16, "an undefined instruction", 0},
	{0, 17, "an invalid state: a jump to an even address", 0},
	{0, 18, "an invalid exception return", 0},
	{0, 19, "an instruction of a coprocessor that is off", 0},
	{0, 20, "a stack that ran below its limit", 0},
	{0, 24, "an unaligned access", 0},
	{0, 25, "a division by zero", 0},
	{2, 0, "an invalid entry from Non-secure code", 0},
	{2, 3, "an access of Secure memory from Non-secure code", 3},
	{2, 6, "a transition between Secure and Non-secure that is not allowed", 0},
	{1, 1, "a vector that cannot be read", 0},
}

// FaultRegisters are what Describe wants to know, in its order.
var FaultRegisters = [...]uint32{regCFSR, regHFSR, regSFSR, regMMFAR, regBFAR, regSFAR}

// Fault says in words what the fault registers hold; empty if nothing.
func (c *Core) Fault(ctx context.Context) (string, error) {
	v, err := c.ap.Do(ctx, func(b *mem.Batch) {
		for _, r := range FaultRegisters {
			b.Read(r)
		}
	})
	if err != nil {
		return "", err
	}
	return Describe([len(FaultRegisters)]uint32(v)), nil
}

// Describe says in words what the fault registers hold; empty if nothing.
func Describe(v [len(FaultRegisters)]uint32) string {
	for _, f := range faultBits {
		if v[f.reg]>>f.bit&1 == 0 {
			continue
		}
		if f.addr > 0 {
			return fmt.Sprintf("%s at 0x%08x", f.text, v[2+f.addr])
		}
		return f.text
	}
	return ""
}
