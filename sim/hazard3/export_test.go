package hazard3

import "fmt"

// StateDiff names the first difference in the state of two cores, timing
// included.
func StateDiff(a, b *Core) string {
	for i := range a.X {
		if a.X[i] != b.X[i] {
			return fmt.Sprintf("x%d is 0x%08x and 0x%08x at 0x%08x", i, a.X[i], b.X[i], a.pc)
		}
	}
	switch {
	case a.pc != b.pc:
		return fmt.Sprintf("pc is 0x%08x and 0x%08x", a.pc, b.pc)
	case a.Cycle != b.Cycle:
		return fmt.Sprintf("cycle is %d and %d at 0x%08x", a.Cycle, b.Cycle, a.pc)
	case a.Instret() != b.Instret():
		return fmt.Sprintf("instret is %d and %d at 0x%08x", a.Instret(), b.Instret(), a.pc)
	case a.csr != b.csr:
		return fmt.Sprintf("CSRs are %+v and %+v", a.csr, b.csr)
	case a.loading != b.loading || a.excl != b.excl:
		return fmt.Sprintf("loads under way are %08x, %v and %08x, %v at 0x%08x", a.loading, a.excl, b.loading, b.excl, a.pc)
	case a.btb != b.btb || a.entry != b.entry || a.sizes != b.sizes:
		return fmt.Sprintf("fetch is %08x %08x %d and %08x %08x %d at 0x%08x", a.btb, a.entry, a.sizes, b.btb, b.entry, b.sizes, a.pc)
	case a.priv != b.priv || a.sleep != b.sleep || a.reserved != b.reserved:
		return "privilege, sleep or reservation"
	case a.irq != b.irq:
		return "interrupts"
	}
	return ""
}
