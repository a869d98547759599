package riscvdm

import (
	"context"
	"fmt"
)

// Triggers is the number of triggers of a Hazard3 hart on the RP2350. They match
// the address of an instruction and nothing else.
const Triggers = 4

// triggerOn is tdata1 of a trigger that enters Debug Mode before an instruction:
// type 2, dmode, action 1, in machine and user mode, on execution.
const triggerOn uint32 = 2<<28 | 1<<27 | 1<<12 | 1<<6 | 1<<3 | 1<<2

// SetTriggers puts instruction breakpoints into force on the halted hart, in
// place of those before.
func (h *Hart) SetTriggers(ctx context.Context, addrs []uint32) error {
	if len(addrs) > Triggers {
		return fmt.Errorf("a hart has %d hardware breakpoints, and all are in use", Triggers)
	}
	old, err := h.CSR(ctx, csrTselect)
	if err != nil {
		return err
	}
	var set []csrValue
	for i := range uint32(Triggers) {
		set = append(set, csrValue{csrTselect, i}, csrValue{csrTdata1, 2 << 28})
		if int(i) < len(addrs) {
			set = append(set, csrValue{csrTdata2, addrs[i]}, csrValue{csrTdata1, triggerOn})
		}
	}
	return h.setCSRs(ctx, append(set, csrValue{csrTselect, old})...)
}
