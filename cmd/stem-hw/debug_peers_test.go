//go:build peers

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// desk is a place to debug at: stem-hw, a home and a folder for sockets of its
// own, so that whatever is left behind is seen.
type desk struct {
	t       *testing.T
	dir     string // short, since sockets are in it
	stemHW  string
	program string
	env     []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	if _, err := exec.LookPath("gdb-multiarch"); err != nil {
		t.Skip("gdb-multiarch is not installed")
	}
	dir, err := os.MkdirTemp("", "sd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, stemHW: filepath.Join(dir, "stem-hw")}
	if err := os.Symlink(self, d.stemHW); err != nil {
		t.Fatal(err)
	}
	if d.program, err = filepath.Abs("../../examples/debugme/debugme.elf"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"STEM_HW_BOARD=", "TMUX=", "TMUX_TMPDIR="+dir, "ENV=", "LC_ALL=C.UTF-8")
	return d
}

// batch runs stem-hw and returns what it printed and its exit status.
func (d *desk) batch(args ...string) (string, int) {
	d.t.Helper()
	cmd := exec.Command(d.stemHW, args...)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// processes are the numbers of processes of this desk whose command line has
// word: gdb's has the path of its socket, stem-hw's its own path.
func (d *desk) processes(word string) []int {
	var pids []int
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(line), d.dir) || !strings.Contains(string(line), word) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// patience bounds each wait.
const patience = 20 * time.Second

// eventually waits for a condition.
func (d *desk) eventually(what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("%s never came true", what)
		}
	}
}

func (d *desk) nothingLeft() {
	d.t.Helper()
	d.eventually("no gdb is left", func() bool { return len(d.processes("target remote")) == 0 })
	d.eventually("no stem-hw is left", func() bool { return len(d.processes("debug")) == 0 })
	if left, _ := filepath.Glob(filepath.Join(d.dir, "run", "stem-hw", "*")); len(left) > 0 {
		d.t.Errorf("left behind: %q", left)
	}
}

// window is a terminal of tmux with a shell in it.
type window struct{ *desk }

func (d *desk) window() window {
	d.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		d.t.Skip("tmux is not installed")
	}
	w := window{d}
	d.t.Cleanup(func() { _, _ = w.tmux("kill-server") })
	if out, err := w.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "50", "-c", d.dir, "sh"); err != nil {
		d.t.Fatalf("tmux: %v\n%s", err, out)
	}
	w.line("PS1='shell> '")
	w.prompt("shell>")
	return w
}

func (w window) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-L", "t"}, args...)...)
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w window) screen() string {
	out, _ := w.tmux("capture-pane", "-p", "-S", "-500")
	return strings.TrimRight(out, "\n")
}

// shows waits until the screen has text.
func (w window) shows(text string) {
	w.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(w.screen(), text); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%q is never shown; the screen has\n%s", text, w.screen())
		}
	}
}

// prompt waits for a prompt as the last thing on the screen.
func (w window) prompt(p string) {
	w.t.Helper()
	for end := time.Now().Add(patience); !strings.HasSuffix(w.screen(), p); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("no prompt %q; the screen has\n%s", p, w.screen())
		}
	}
}

func (w window) keys(keys ...string) {
	w.t.Helper()
	if out, err := w.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		w.t.Fatalf("tmux: %v\n%s", err, out)
	}
}

func (w window) line(format string, args ...any) {
	w.t.Helper()
	w.keys("-l", fmt.Sprintf(format, args...))
	w.keys("Enter")
}

// debug starts a session and waits until it is at main.
func (w window) debug() {
	w.t.Helper()
	w.line("%s debug %s; echo status $?", w.stemHW, w.program)
	w.shows("hit Temporary breakpoint 1, main")
	w.prompt("(gdb)")
}

// spin lets the program run in a tight loop.
func (w window) spin() {
	w.t.Helper()
	for _, l := range []string{"break spin", "continue", "delete", "continue"} {
		w.line("%s", l)
		if l != "continue" {
			w.prompt("(gdb)")
			continue
		}
		w.shows("spin ()")
	}
	w.prompt("depth: 15") // printed by a UART that is slower than the core
}

func TestPeerDebugTerminal(t *testing.T) {
	w := newDesk(t).window()
	w.line("stty -g > before")
	w.debug()
	w.spin()
	for range 2 {
		w.keys("C-c")
		w.shows("received signal SIGINT")
		w.prompt("(gdb)")
		w.keys("C-l") // an empty screen, so that what was shown before does not count
		w.line("continue")
		w.prompt("Continuing.")
	}
	w.keys("C-c")
	w.prompt("(gdb)")
	w.line("restart")
	w.shows("Temporary breakpoint 3, main")
	w.prompt("(gdb)")
	w.line("quit")
	w.shows("status 0")
	w.prompt("shell>")
	w.line("stty -g > after; echo done")
	w.shows("done")
	before, err := os.ReadFile(filepath.Join(w.dir, "before"))
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(filepath.Join(w.dir, "after")); err != nil || string(after) != string(before) {
		t.Errorf("the terminal was %s and is %s (%v)", before, after, err)
	}
	w.nothingLeft()
}

func TestPeerDebugKilled(t *testing.T) {
	w := newDesk(t).window()
	w.debug()
	w.spin()
	pids := w.processes("debug\x00")
	if len(pids) != 1 {
		t.Fatalf("stem-hw is %v", pids)
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.eventually("no gdb is left", func() bool { return len(w.processes("target remote")) == 0 })
	w.shows("status 137")
	if left, _ := filepath.Glob(filepath.Join(w.dir, "run", "stem-hw", "*")); len(left) != 1 {
		t.Fatalf("a killed stem-hw leaves its folder, but there is %q", left)
	}
	// The next start cleans up.
	if out, status := w.batch("debug", "--batch", w.program); status != 0 {
		t.Errorf("status %d:\n%s", status, out)
	}
	w.nothingLeft()
}

func TestPeerDebugGdbKilled(t *testing.T) {
	w := newDesk(t).window()
	w.debug()
	w.spin()
	pids := w.processes("target remote")
	if len(pids) != 1 {
		t.Fatalf("gdb is %v", pids)
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.shows("SIGKILL")
	w.shows("status 10")
	w.prompt("shell>")
	w.nothingLeft()
}

func TestPeerDebugBatch(t *testing.T) {
	d := newDesk(t)
	script := filepath.Join(d.dir, "checks.gdb")
	if err := os.WriteFile(script, []byte("break place_3\ncontinue\nbacktrace\nboard\nstats\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A project's own file is not executed unless it is trusted.
	if err := os.WriteFile(filepath.Join(d.dir, ".gdbinit"), []byte("echo trusted\\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status := d.batch("debug", d.program, "--batch", "-x", script, "--ex", "print total")
	if status != 0 {
		t.Errorf("status %d", status)
	}
	rest := out
	for _, want := range []string{"Temporary breakpoint 1, main", "place_3 ()", "in tour", "in main", "core 1  hart 1", "s simulated", "$1 = 3"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing, or not at its place, in\n%s", want, out)
		}
		rest = after
	}
	if strings.Contains(out, "trusted") {
		t.Errorf("a file of the project was executed:\n%s", out)
	}
	d.nothingLeft()

	out, status = d.batch("debug", d.program, "--batch", "--no-start", "--ex", "print/x $pc", "--ex", "print total")
	if status != 0 || strings.Contains(out, "main") || !strings.Contains(out, "$2 = 0") {
		t.Errorf("--no-start: status %d\n%s", status, out)
	}
	// gdb's status is that of its last command.
	out, status = d.batch("debug", d.program, "--batch", "--ex", "print no_such_thing")
	if status != 10 || !strings.Contains(out, "gdb ended with an error") {
		t.Errorf("an error in gdb: status %d\n%s", status, out)
	}
	d.nothingLeft()
}
