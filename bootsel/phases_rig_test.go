//go:build rig

package bootsel_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// began starts our tool and waits until it says a word, or is over.
func began(t *testing.T, word string, args ...string) (cmd *exec.Cmd, said func() string) {
	t.Helper()
	line := rig.Tester.Line("stem-hw", args...)
	cmd = exec.Command(line[0], line[1:]...)
	all, err := os.CreateTemp(t.TempDir(), "said")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	cmd.Stdout, cmd.Stderr = all, all
	text := func() string {
		b, err := os.ReadFile(all.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	for end := time.After(2 * time.Minute); !strings.Contains(text(), word); {
		select {
		case <-over:
			return cmd, text
		case <-end:
			t.Fatalf("never %q:\n%s", word, text())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Cleanup(func() { <-over })
	return cmd, func() string { <-over; return text() }
}

// TestRigPhases: two boards are flashed at once, and the plug of one is pulled in
// each phase; the other one is done, and the first is when it is run again.
func TestRigPhases(t *testing.T) {
	tmp := dir(t)
	next := barImage()[:512<<10]
	file := write(t, tmp+"/next.bin", next)
	other := bytes.Repeat([]byte{0x33}, len(next))
	nearly := bytes.Clone(next)
	nearly[len(nearly)-1] ^= 1 // nearly what is wanted: all of it is read first
	for _, c := range []struct {
		phase string
		holds []byte
	}{{"reading", nearly}, {"writing", other}, {"verifying", other}} {
		t.Run(c.phase, func(t *testing.T) {
			// The phases take the time that they take on hardware, so that the plug
			// is pulled in them; a machine that is too busy for it tries again.
			for try := 1; ; try++ {
				a := rig.NewBoard(t, rig.Board{Arch: "riscv", Flash: c.holds, Button: true, RealTime: true})
				b := rig.NewBoard(t, rig.Board{Arch: "riscv", Flash: c.holds, Button: true, RealTime: true})
				a.Plug(1)
				b.Plug(2)
				a.WaitBootsel()
				b.WaitBootsel()
				cmd, said := began(t, a.Serial+": "+c.phase, "flash", "-v", "--no-start", "-b", a.Serial, "-b", b.Serial, file)
				a.Unplug()
				out := said()
				has(t, out, b.Serial+": next.bin")
				if !bytes.Equal(b.Flash(0, len(next)), next) {
					t.Error("the board that stayed does not hold it")
				}
				if code := cmd.ProcessState.ExitCode(); code == 0 && try < 5 {
					b.Unplug()
					continue
				} else if code != 12 {
					t.Errorf("exit status %d", code)
				}
				has(t, out, a.Serial+" was not flashed", "connection-lost", "try:")
				a.Plug(1)
				a.WaitBootsel()
				ours(t, "flash", "--no-start", "-b", a.Serial, "--wait", "30s", file)
				if !bytes.Equal(a.Flash(0, len(next)), next) {
					t.Error("run again, it does not finish")
				}
				return
			}
		})
	}
	// The verbs that only read, and erase.
	for _, args := range [][]string{
		{"reading", "save", "--range", "0+512k", tmp + "/saved.bin"}, {"verifying", "verify", file}, {"erasing", "erase", "--yes", "0+512k"},
	} {
		t.Run(args[1], func(t *testing.T) {
			for try := 1; ; try++ {
				a := rig.NewBoard(t, rig.Board{Arch: "riscv", Flash: next, Button: true, RealTime: true})
				a.Plug(1)
				a.WaitBootsel()
				cmd, said := began(t, args[0], append([]string{args[1], "-v", "-b", a.Serial}, args[2:]...)...)
				a.Unplug()
				out := said()
				if code := cmd.ProcessState.ExitCode(); code == 0 && try < 5 {
					_ = os.Remove(tmp + "/saved.bin")
					continue
				} else if code != 12 {
					t.Errorf("exit status %d", code)
				}
				has(t, out, "connection-lost", "try:")
				if _, err := os.Stat(tmp + "/saved.bin"); err == nil {
					t.Error("half a file is left")
				}
				return
			}
		})
	}
}

// TestRigFollowed: a board comes back under another serial number, as the program
// that was flashed, and goes back into BOOTSEL mode: it is the same board by its
// port.
func TestRigFollowed(t *testing.T) {
	const later = "00DEADBEEF00CAFE"
	b := rig.NewBoard(t, rig.Board{Arch: "riscv", Faults: []string{"serial:" + later}})
	other := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	b.Plug(1)
	other.Plug(2)
	b.WaitBootsel()
	other.WaitBootsel()
	has(t, ours(t, "flash", "-b", b.Serial, echo), b.Serial, "started")
	d := b.WaitProgram()
	d.WaitTTY(t)
	if d.Serial() != later {
		t.Fatalf("it came back as %s", d.Serial())
	}
	has(t, ours(t, "flash", "-f", "-b", later, "--full", echo), "started")
	b.WaitProgram().WaitTTY(t)
	has(t, ours(t, "reset", "--bootsel", "-b", "usb:1-1"), "bootsel")
	b.WaitBootsel()
	if got := other.Flash(0, 16); !bytes.Equal(got, bytes.Repeat([]byte{0xff}, 16)) {
		t.Errorf("the other board was written: % x", got)
	}
}
