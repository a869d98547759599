//go:build rig

package probe_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// command is a command line of stem-hw with no board in the environment.
func command(args ...string) []string {
	return append([]string{"env", "-u", "STEM_HW_BOARD", "stem-hw"}, args...)
}

func works(t *testing.T, words string, args ...string) string {
	t.Helper()
	line := command(args...)
	r := rig.Tester.Try(t, line[0], line[1:]...)
	if r.Code != 0 || !strings.Contains(r.All(), words) {
		t.Errorf("stem-hw %s: exit status %d, want 0 and %q\n%s", strings.Join(args, " "), r.Code, words, r.All())
	}
	return r.Out
}

func refused(t *testing.T, u rig.User, status int, words string, args ...string) {
	t.Helper()
	line := command(args...)
	r := u.Try(t, line[0], line[1:]...)
	if r.Code != status || !strings.Contains(r.All(), words) {
		t.Errorf("stem-hw %s: exit status %d, want %d and %q\n%s", strings.Join(args, " "), r.Code, status, words, r.All())
	}
}

// TestRigProbe goes through a Debug Probe on a real USB stack, v2 and v1: both
// architectures are flashed and debugged, two probes are told apart, others are
// told who has one.
func TestRigProbe(t *testing.T) {
	one, two := rig.NewBoard(t, rig.Board{Probe: true}), rig.NewBoard(t, rig.Board{Probe: true, ProbeDAP: "v1"})
	one.Power(true)
	two.Power(true)
	one.PlugProbe(1).WaitTTY(t)
	two.PlugProbe(2)
	rig.Settle(t)
	works(t, "id "+one.Serial, "info", "-b", one.ProbeSerial)
	works(t, "id "+two.Serial, "info", "-b", two.ProbeSerial)
	refused(t, rig.Tester, 4, "two boards match", "info", "--via", "probe")
	refused(t, rig.Outsider, 5, "no permission", "info", "-b", one.ProbeSerial)
	works(t, "verified, started", "flash", "-b", one.ProbeSerial, "/src/examples/hello/hello.elf")
	works(t, "verified, started", "flash", "-b", two.ProbeSerial, "/src/examples/timer/timer.elf")
	works(t, "holds hello.elf", "verify", "-b", one.ProbeSerial, "/src/examples/hello/hello.elf")
	refused(t, rig.Tester, 9, "does not hold", "verify", "-b", one.ProbeSerial, "/src/examples/timer/timer.elf")
	if bytes.Equal(one.Flash(0x10000000, 4096), two.Flash(0x10000000, 4096)) {
		t.Error("both boards hold the same")
	}
	out := works(t, "in tour", "debug", "-b", one.ProbeSerial, "/src/examples/debugme/debugme.elf", "--batch",
		"--ex", "break place_3", "--ex", "continue", "--ex", "bt", "--ex", "info threads", "--ex", "stepi", "--ex", "print/x $misa")
	for _, w := range []string{"place_3", "hart 1", "0x40901105"} {
		if !strings.Contains(out, w) {
			t.Errorf("gdb does not show %q:\n%s", w, out)
		}
	}
	out = works(t, "scale", "debug", "-b", one.ProbeSerial, "/src/gdbserver/testdata/arm/arm.elf", "--batch",
		"--ex", "break scale", "--ex", "continue", "--ex", "bt", "--ex", "watch calls", "--ex", "continue", "--ex", "print $primask")
	if !strings.Contains(out, "New value = 1") {
		t.Errorf("gdb's watchpoint does not stop:\n%s", out)
	}
	works(t, "written by semihosting", "run", "-b", two.ProbeSerial, "/src/examples/semihost/semihost.elf", "--exit-status", "--timeout", "300s", "--expect-text", "one at a time")
}

// TestRigProbeUnplug pulls the probe out while a program runs on it, twice.
func TestRigProbeUnplug(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{Probe: true})
	b.Power(true)
	const says = "type something"
	for i := range 2 {
		b.PlugProbe(1).WaitTTY(t)
		done := make(chan rig.Result, 1)
		line := command("run", "-b", b.ProbeSerial, "/src/examples/echo/echo.elf", "--timeout", "300s")
		go func() { done <- rig.Tester.Try(t, line[0], line[1:]...) }()
		rig.Wait(t, "the program runs", func() bool { return strings.Count(b.Printed(), says) > i })
		b.UnplugProbe()
		if r := <-done; r.Code != 12 || !strings.Contains(r.All(), "the debug probe is gone") {
			t.Errorf("exit status %d: %s", r.Code, r.All())
		}
	}
	b.PlugProbe(1).WaitTTY(t)
	works(t, "id "+b.Serial, "info", "-b", b.ProbeSerial)
}
