//go:build rig

package judged

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// simBoard is `stem-hw sim board --tcp` as a user starts it, in the machine itself.
type simBoard struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

// Write implements io.Writer.
func (s *simBoard) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *simBoard) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func startSimBoard(t *testing.T, args ...string) *simBoard {
	t.Helper()
	s := &simBoard{}
	s.cmd = exec.Command("stem-hw", append([]string{"sim", "board"}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = s, s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.interrupt(t)
		}
		if t.Failed() {
			t.Logf("sim board said:\n%s", s.said())
		}
	})
	return s
}

// interrupt is ctrl-c.
func (s *simBoard) interrupt(t *testing.T) (code int) {
	t.Helper()
	_ = s.cmd.Process.Signal(os.Interrupt)
	kill := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

var (
	listLine   = regexp.MustCompile(`usbip --tcp-port \d+ list -r 127\.0\.0\.1`)
	attachLine = regexp.MustCompile(`usbip --tcp-port \d+ attach -r 127\.0\.0\.1 -b \S+`)
)

// TestRigUSBIP attaches a board with Linux's own tool, as from another machine.
func TestRigUSBIP(t *testing.T) {
	s := startSimBoard(t, "--tcp", "--serial", "E6600000000000B1")
	var line string
	rig.Wait(t, "it says how to attach", func() bool {
		line = attachLine.FindString(s.said())
		return line != ""
	})
	words := strings.Fields(line)
	list := strings.Fields(listLine.FindString(s.said()))
	if len(list) == 0 {
		t.Fatalf("it does not say how to look: %s", s.said())
	}
	wants(t, "usbip list", rig.Run(t, list[0], list[1:]...), "2e8a:000f", "Mass Storage")
	rig.Run(t, words[0], words[1:]...)
	d := rig.WaitDevice(t, rig.PathOf(t, 1), "2e8a:000f")
	if d.Serial() != "E6600000000000B1" {
		t.Errorf("the serial number is %s", d.Serial())
	}
	wants(t, "info", rig.Run(t, "picotool", "info", "-d"), "0xe6600000000000b1")
	d.WaitPartition(t)
	rig.Run(t, "usbip", "detach", "-p", "00")
	rig.WaitFree(t, 1)
	// It may be had again.
	rig.Run(t, words[0], words[1:]...)
	rig.WaitDevice(t, rig.PathOf(t, 1), "2e8a:000f")
	if code := s.interrupt(t); code != 0 {
		t.Errorf("ctrl-c ends it with %d\n%s", code, s.said())
	}
	rig.WaitFree(t, 1)
}
