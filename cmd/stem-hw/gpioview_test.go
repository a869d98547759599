package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/built"
)

// TestLivePins shows the pins on a terminal of tmux: the outline stays at the
// top while the program's output scrolls below it, the LED changes, and what the
// terminal shows afterwards is whole again.
func TestLivePins(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	blink, err := filepath.Abs("../../examples/blink/blink.elf")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := built.StemHW(t)
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-L", "g"}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "TMUX_TMPDIR="+dir, "HOME="+dir, "XDG_STATE_HOME="+dir, "STEM_HW_BOARD=", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	defer tmux("kill-server")
	screen := func() string { return tmux("capture-pane", "-p") }
	shows := func(what string, ok func(s string) bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			s := screen()
			if ok(s) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is never shown; the screen has\n%s", what, s)
			}
		}
	}
	tmux("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "34", "sh")
	tmux("send-keys", program+" run "+blink+" --gpio --led 25 --cycles 900000000; echo over", "Enter")
	line := func(s string, n int) string {
		if l := strings.Split(s, "\n"); n < len(l) {
			return l[n]
		}
		return ""
	}
	for _, level := range []string{"1", "0"} {
		shows("LED at "+level, func(s string) bool {
			return strings.Contains(line(s, 0), "[ USB ]") && strings.Contains(line(s, 2), "LED GP25 "+level)
		})
	}
	shows("the end", func(s string) bool {
		return strings.Contains(s, "stopped: the cycles are spent") && strings.Contains(s, "over\n")
	})
	// The scrolling region is gone: new lines use the whole terminal.
	tmux("send-keys", "clear; seq 40", "Enter")
	shows("numbers from top to bottom", func(s string) bool { return strings.HasPrefix(line(s, 0), "8") || strings.HasPrefix(line(s, 0), "9") })
	// On a small terminal there are two lines.
	tmux("resize-window", "-x", "110", "-y", "16")
	tmux("send-keys", "clear; "+program+" run "+blink+" --gpio --cycles 600000000", "Enter")
	shows("the short form", func(s string) bool { return strings.HasPrefix(line(s, 0), "GPIO  0  1  2") })
}
