package riscvdm

import (
	"context"
)

// CSRs of traps, and the bit of mstatus that lets interrupts in.
const (
	csrMepc   = 0x341
	csrMcause = 0x342

	statusMIE uint32 = 1 << 3
)

// exceptions are the causes of exceptions (RISC-V Privileged ISA, mcause).
var exceptions = map[uint32]string{
	1: "instruction access fault", 2: "illegal instruction", 3: "breakpoint", 4: "misaligned load", 5: "load access fault",
	6: "misaligned store", 7: "store access fault", 8: "environment call from U-mode", 11: "environment call from M-mode",
}

// Exception says in words which exception the halted hart has taken and not
// returned from: its cause is there and interrupts are off, as a trap leaves them.
// It is empty if there is none. mtval is always 0 on Hazard3, so that the address
// of an access is not known. at is the instruction.
func (h *Hart) Exception(ctx context.Context) (text string, at uint32, err error) {
	status, err := h.CSR(ctx, csrMstatus)
	if err != nil || status&statusMIE != 0 {
		return "", 0, err
	}
	cause, err := h.CSR(ctx, csrMcause)
	if err != nil {
		return "", 0, err
	}
	name := exceptions[cause]
	if name == "" {
		return "", 0, nil
	}
	if at, err = h.CSR(ctx, csrMepc); err != nil {
		return "", 0, err
	}
	return name + ", which nothing handles", at, nil
}
