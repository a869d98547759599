package cortexm33

import (
	"os"
	"strings"
	"testing"
)

// programs are the test programs whose output is compared with expected text.
var programs = []string{"faults", "irqs", "tz"}

// output runs a program and returns what it printed.
func output(tb testing.TB, name string, plain bool) (*bare, string) {
	m := newBare(tb)
	m.core.Plain = plain
	m.load(tb, "testdata/elf/"+name+".elf")
	r := m.run(200_000_000)
	if !m.exited {
		tb.Errorf("%s did not end: reason %d, pc %#x, last trap %+v", name, r, m.core.PC(), m.core.lastTrap)
	}
	return m, string(m.out)
}

// TestPrograms compares the output of each program, in both loops, with the
// committed text. TestPeerPrograms compares that text with QEMU.
func TestPrograms(t *testing.T) {
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			var cycles [2]uint64
			for i, plain := range []bool{false, true} {
				m, got := output(t, name, plain)
				diffLines(t, got, string(want))
				cycles[i] = m.core.Cycle
			}
			if cycles[0] != cycles[1] {
				t.Errorf("%d cycles, the plain loop %d", cycles[0], cycles[1])
			}
		})
	}
}

// diffLines reports where two texts differ, with what stands before.
func diffLines(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	title, shown := "", 0
	for i := 0; i < max(len(g), len(w)) && shown < 12; i++ {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a == b {
			if !strings.HasPrefix(a, " ") {
				title = a
			}
			continue
		}
		t.Errorf("line %d, after %q: got %q, want %q", i+1, title, a, b)
		shown++
	}
}
