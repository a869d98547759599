package testbench_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/testbench"
)

// run loads a file and runs it to its end.
func run(t *testing.T, m machine.Machine, path string, limit uint64) (machine.Event, string) {
	t.Helper()
	load(t, m, path)
	var out strings.Builder
	m.SetHooks(machine.Hooks{Output: func(_ string, b byte) { out.WriteByte(b) }})
	return m.Run(limit), out.String()
}

func load(t *testing.T, m machine.Machine, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Parse(path, data, image.Options{HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Load(img); err != nil {
		t.Fatal(err)
	}
}

// The instruction and cycle counts are those of Hazard3's RTL on its testbench
// with memory without wait states.
func TestWorkload(t *testing.T) {
	for _, tc := range []struct {
		name           string
		instret, cycle uint64
	}{
		{"work_b", 1515443, 1775865},
		{"work_a", 1644645, 1915107},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := testbench.NewHazard3(1)
			e, out := run(t, m, "testdata/work/"+tc.name+".elf", 10_000_000)
			if e.Kind != machine.EventExit || e.Code != 0 {
				t.Fatalf("ended with %+v after %q", e, out)
			}
			if !strings.Contains(out, "CHECKSUM a8c2f539") {
				t.Errorf("wrong result: %q", out)
			}
			c := m.Cores()[0].(interface{ Instret() uint64 })
			t.Logf("instret %d (RTL %d), cycles %d (RTL %d, %+.3f %%)", c.Instret(), tc.instret, m.Now(), tc.cycle,
				100*(float64(m.Now())/float64(tc.cycle)-1))
			if d := int64(c.Instret()) - int64(tc.instret); d < -2 || d > 2 {
				t.Errorf("%d instructions, the RTL has %d", c.Instret(), tc.instret)
			}
			if d := float64(m.Now())/float64(tc.cycle) - 1; d > 0.0001 || d < -0.0001 {
				t.Errorf("%d cycles, the RTL has %d", m.Now(), tc.cycle)
			}
		})
	}
}
