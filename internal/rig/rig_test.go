//go:build rig

package rig

import (
	"strings"
	"testing"
)

// TestRigMachine looks around.
func TestRigMachine(t *testing.T) {
	for _, c := range [][]string{
		{"uname", "-r"},
		{"picotool", "version"},
		{"openocd", "--version"},
		{"podman", "--version"},
		{"tmux", "-V"},
		{"stem-hw", "version"},
		Later("picotool", "version"),
	} {
		r := Try(t, c[0], c[1:]...)
		if r.Code != 0 {
			t.Errorf("%s: exit status %d: %s", strings.Join(c, " "), r.Code, r.All())
		}
		first, _, _ := strings.Cut(r.All(), "\n")
		t.Logf("%s: %s", strings.Join(c, " "), first)
	}
}

// TestRigBoard plugs a board in and out.
func TestRigBoard(t *testing.T) {
	b := NewBoard(t, Board{Probe: true})
	b.Plug(3)
	d := b.WaitBootsel()
	if d.Name != "1-3" || d.Serial() != b.Serial {
		t.Errorf("device %s with serial number %s, want 1-3 and %s", d.Name, d.Serial(), b.Serial)
	}
	t.Log(Run(t, "lsusb"))
	p := b.PlugProbe(4)
	t.Log(p.WaitTTY(t), p.Properties(t))
	t.Log(d.WaitPartition(t))
	t.Log(Run(t, "picotool", "info", "-a"))
	t.Logf("%+v", b.Stats())
	b.UnplugProbe()
	b.Unplug()
}
