package cortexm33

import "testing"

// TestCompareInITBlock: a compare that an IT block skips must not take the
// branch behind the block with it.
func TestCompareInITBlock(t *testing.T) {
	for _, plain := range []bool{false, true} {
		// cmp r0,r0; it ne; cmpne r0,r1; beq +2; movs r2,#1; movs r3,#1; b .
		m := program(t, 0x4280, 0xbf18, 0x4288, 0xd000, 0x2201, 0x2301, 0xe7fe)
		m.core.Plain = plain
		m.core.R[1] = 7
		m.core.Run(30)
		if m.core.R[2] != 0 || m.core.R[3] != 1 {
			t.Errorf("plain %v: r2 %d, r3 %d, want 0 and 1", plain, m.core.R[2], m.core.R[3])
		}
	}
}
