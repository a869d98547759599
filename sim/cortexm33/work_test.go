package cortexm33

import (
	"testing"
	"time"
)

// TestWork runs the workload in both loops: the checksum is the one that every
// machine and instruction set gives, and cycles and instructions agree.
func TestWork(t *testing.T) {
	type result struct {
		out             string
		cycles, instret uint64
	}
	var got [2]result
	for i, plain := range []bool{false, true} {
		m := newBare(t)
		m.core.Plain = plain
		m.load(t, "testdata/elf/work1.elf")
		m.run(100_000_000)
		got[i] = result{string(m.out), m.core.Cycle, m.core.Instret()}
		if want := "CHECKSUM a8c2f539\nDONE\n"; got[i].out != want {
			t.Fatalf("plain %v: output %q, want %q; pc %#x, trap %+v", plain, got[i].out, want, m.core.PC(), m.core.lastTrap)
		}
	}
	if got[0] != got[1] {
		t.Errorf("fast %+v, plain %+v", got[0], got[1])
	}
}

func BenchmarkWork(b *testing.B) {
	for b.Loop() {
		m := newBare(b)
		m.load(b, "testdata/elf/work24.elf")
		start := time.Now()
		m.run(1 << 40)
		if string(m.out) != "CHECKSUM 3aafb2d7\nDONE\n" {
			b.Fatalf("output %q", m.out)
		}
		b.ReportMetric(float64(m.core.Instret())/time.Since(start).Seconds()/1e6, "MIPS")
	}
}
