//go:build rig

package rig

import (
	"strings"
	"testing"
)

// TestRigPodman gives a board to a container, as root and as an ordinary user.
func TestRigPodman(t *testing.T) {
	for _, u := range []User{Root, Tester} {
		t.Run(u.Name, func(t *testing.T) {
			b := NewBoard(t, Board{})
			b.Plug(1)
			d := b.WaitBootsel()
			image := u.Image(t, "tools", "picotool")
			address := u.Podman(t)
			args := []string{"--url", address, "run", "--rm", "--network", "none", "--device", d.Node()}
			if u != Root {
				args = append(args, "--annotation", "run.oci.keep_original_groups=1")
			}
			out := u.Run(t, "podman", append(args, image, "picotool", "info", "-d")...)
			if !strings.Contains(out, "RP2350") {
				t.Errorf("picotool in a container says:\n%s", out)
			}
		})
	}
}

// TestRigSystemd looks at the boot with systemd.
func TestRigSystemd(t *testing.T) {
	Wait(t, "the system is up", func() bool {
		return strings.TrimSpace(Try(t, "systemctl", "is-system-running").Out) == "running"
	})
	if out := strings.TrimSpace(Run(t, "systemctl", "--failed", "--no-legend")); out != "" {
		t.Errorf("units that failed:\n%s", out)
	}
	Run(t, "loginctl", "enable-linger", "tester")
	Wait(t, "the user's manager is up", func() bool { return exists(Tester.Runtime() + "/bus") })
	Tester.Run(t, "systemctl", "--user", "start", "podman.socket")
	out := Tester.Run(t, "podman", "--url", "unix://"+Tester.Runtime()+"/podman/podman.sock", "info", "--format", "{{.Host.CgroupManager}}")
	if strings.TrimSpace(out) != "systemd" {
		t.Errorf("podman's cgroup manager is %q, want systemd", out)
	}
}
