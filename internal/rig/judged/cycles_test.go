//go:build rig

package judged

import (
	"fmt"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// TestRigCycles plugs in and out again and again, at every stage of an
// enumeration.
func TestRigCycles(t *testing.T) {
	m := rig.Watch(t, 1)
	b := rig.NewBoard(t, rig.Board{Probe: true})
	last := 0
	for i := range 25 {
		b.Plug(1)
		if i%5 == 4 {
			// Out again before anybody is done with it.
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			b.Unplug()
			continue
		}
		d := b.WaitBootsel()
		if d.Num() == last {
			t.Errorf("cycle %d: the device number is %d again", i, last)
		}
		last = d.Num()
		if i%8 == 0 {
			p := b.PlugProbe(2)
			p.WaitTTY(t)
			b.UnplugProbe()
		}
		b.Unplug()
	}
	m.NoLeak(t)
	if n := m.Transfers(); n < 500 {
		t.Errorf("only %d events of transfers were seen", n)
	}
}

// TestRigFourteen plugs in fourteen boards at once.
func TestRigFourteen(t *testing.T) {
	m := rig.Watch(t, 1)
	boards := map[int]*rig.Handle{}
	for port := 1; port <= 14; port++ {
		boards[port] = rig.NewBoard(t, rig.Board{Serial: fmt.Sprintf("E66000000000%04X", port)})
		boards[port].Plug(port)
	}
	for port, b := range boards {
		d := b.WaitBootsel()
		if d.Name != fmt.Sprintf("1-%d", port) || d.Serial() != b.Serial {
			t.Errorf("port %d: %s with %s, want %s", port, d.Name, d.Serial(), b.Serial)
		}
	}
	for _, b := range boards {
		b.Unplug()
	}
	m.NoLeak(t)
}
