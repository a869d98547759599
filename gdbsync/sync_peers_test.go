//go:build peers

package gdbsync

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stem-hw/stem-hw/internal/built"
)

// TestPeerSync: a person's own gdb in tmux, a Neovim, and the file, in step.
func TestPeerSync(t *testing.T) {
	d := newDesk(t)
	d.edit()
	d.debug()

	// Break, run, step across files, as typed into gdb.
	d.typed("break main")
	d.state("a breakpoint", func(s *State) bool { return len(s.Breakpoints) == 1 && s.Breakpoints[0].Path == d.path("main.c") })
	d.typed("run")
	s := d.at("main.c", 5)
	if s.Reason != "breakpoint-hit" || s.Frame.Function != "main" || s.Instance != "native-test" || s.Target != "native-amd64" || s.Frame.Address == "" {
		t.Errorf("%+v", s)
	}
	d.until("signs", func() bool { return d.signs("main.c") == "StemBreakpoint:5 StemPlace:5" })
	d.typed("next")
	d.at("main.c", 6)
	d.typed("next")
	d.at("main.c", 7)
	d.typed("step")
	d.at("add.c", 4)
	d.until("the place moved", func() bool { return d.signs("add.c") == "StemPlace:4" && d.signs("main.c") == "StemBreakpoint:5" })
	d.typed("up")
	d.at("main.c", 7)
	d.typed("down")
	d.at("add.c", 4)
	d.state("threads", func(s *State) bool {
		return len(s.Threads) == 1 && s.Threads[0].Frame != nil && s.Threads[0].Frame.Line == 4
	})

	// A breakpoint toggled in Neovim reaches gdb, and the other way round.
	d.command("normal! 6G")
	d.command("StemBreak")
	d.state("Neovim's breakpoint in gdb", func(s *State) bool {
		return len(s.Breakpoints) == 2 && s.Breakpoints[1].Line == 6 && s.Breakpoints[1].Path == d.path("add.c")
	})
	d.until("its sign", func() bool { return strings.Contains(d.signs("add.c"), "StemBreakpoint:6") })
	d.typed("info breakpoints")
	d.shows("add.c:6")
	d.command("StemContinue")
	d.at("add.c", 6)
	d.typed("disable 2")
	d.until("a disabled one looks different", func() bool { return strings.Contains(d.signs("add.c"), "StemBreakpointOff:6") })
	d.typed("enable 2")
	d.typed("delete 1")
	d.until("deleted in gdb, gone in Neovim", func() bool { return d.signs("main.c") == "" })
	d.command("StemBreak")
	d.state("deleted in Neovim, gone in gdb", func(s *State) bool { return len(s.Breakpoints) == 0 })

	// Commands of Neovim's.
	d.command("StemFinish")
	d.at("main.c", 7)
	d.command("StemNext")
	d.at("main.c", 6)
	d.command("StemStep")
	d.at("main.c", 7)
	d.command("normal! 9G")
	d.command("StemUntil")
	d.state("until the end of the loop", func(s *State) bool { return s.State == Stopped && s.Frame != nil && s.Frame.Line == 9 })
	d.typed("continue")
	s = d.state("the end", func(s *State) bool { return s.State == Exited })
	if s.ExitCode == nil || *s.ExitCode != 3 || s.Frame != nil {
		t.Errorf("%+v", s)
	}
}

// TestPeerNeverTakesTheCursor: a person who types keeps the cursor.
func TestPeerNeverTakesTheCursor(t *testing.T) {
	d := newDesk(t)
	d.edit()
	d.debug()
	d.typed("break add")
	d.typed("run")
	d.at("add.c", 4)
	keys := func(k string) {
		t.Helper()
		if _, err := d.v.Input(k); err != nil {
			t.Fatal(err)
		}
	}
	mode := func(want string) {
		t.Helper()
		d.until("mode "+want, func() bool {
			m, err := d.v.Mode()
			return err == nil && m.Mode == want
		})
	}
	keys("ggOtyped")
	mode("i")
	d.typed("finish")
	d.state("stopped in main", func(s *State) bool { return s.State == Stopped && s.Frame != nil && s.Frame.Line == 7 })
	d.until("the sign is there all the same", func() bool { return strings.Contains(d.signs("main.c"), "StemPlace:7") })
	keys(" on")
	d.until("what was typed is in one piece", func() bool {
		var lines []string
		err := d.v.ExecLua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, 1, true)", &lines, d.path("add.c"))
		return err == nil && len(lines) == 1 && lines[0] == "typed on"
	})
	if f, l := d.cursor(); f != d.path("add.c") || l != 1 {
		t.Errorf("the cursor is at %s:%d", f, l)
	}
	// The person changed the text: it stays with them until they ask.
	keys("<Esc>")
	mode("n")
	if f, _ := d.cursor(); f != d.path("add.c") {
		t.Errorf("the cursor went to %s", f)
	}
	d.command("StemHere")
	d.at("main.c", 7)
	// A person who only rested in insert mode is followed afterwards.
	keys("i")
	mode("i")
	d.typed("step")
	d.state("stepped", func(s *State) bool { return s.State == Stopped && s.Frame != nil && s.Frame.Line == 6 })
	if _, l := d.cursor(); l != 7 {
		t.Errorf("the cursor was taken to line %d", l)
	}
	keys("<Esc>")
	d.at("main.c", 6)
	// A command line that is being typed, a visual selection, a pending operator.
	for _, tt := range []struct{ keys, mode string }{{":echo 1", "c"}, {"v", "v"}} {
		keys(tt.keys)
		mode(tt.mode)
		_, before := d.cursor()
		d.typed("next")
		old := before
		d.state("stepped on", func(s *State) bool { return s.State == Stopped && s.Frame != nil && s.Frame.Line != old })
		if _, l := d.cursor(); l != before {
			t.Errorf("in mode %s the cursor was taken to line %d", tt.mode, l)
		}
		keys("<Esc>")
		mode("n")
		d.command("StemHere")
	}
}

// gdbPID finds the gdb of the desk.
func (d *desk) gdbPID() int {
	d.t.Helper()
	out, err := exec.Command("pgrep", "-f", "new-ui mi3 .* "+d.opt.Program+"$").Output()
	if err != nil {
		d.t.Fatalf("no gdb: %v", err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(out))[0])
	if err != nil {
		d.t.Fatal(err)
	}
	return pid
}

// TestPeerGdbIsKilled: gdb starts again by itself, with the breakpoints it had.
func TestPeerGdbIsKilled(t *testing.T) {
	d := newDesk(t)
	d.edit()
	d.debug()
	d.typed("break add if a > 5")
	d.typed("tbreak main.c:9")
	d.typed("disable 2")
	before := d.state("two breakpoints", func(s *State) bool { return len(s.Breakpoints) == 2 && !s.Breakpoints[1].Enabled })
	old := d.gdbPID()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	after := d.state("another gdb with both", func(s *State) bool {
		return s.State == NoProgram && s.Sequence > before.Sequence+1 && len(s.Breakpoints) == 2 && !s.Breakpoints[1].Enabled
	})
	if b := after.Breakpoints[0]; b.Condition != "a > 5" || b.Line != 4 {
		t.Errorf("%+v", b)
	}
	if b := after.Breakpoints[1]; !b.Temporary || b.Line != 9 {
		t.Errorf("%+v", b)
	}
	d.shows("starting gdb again")
	if d.gdbPID() == old {
		t.Error("the old one lives")
	}
	d.typed("run")
	d.at("add.c", 4)
	// Quitting is meant: another one comes when asked for.
	d.typed("quit")
	d.state("gdb ended", func(s *State) bool { return s.State == GdbEnded && s.Reason == "quit" })
	d.typed("")
	d.state("and is there again", func(s *State) bool { return s.State == NoProgram })
	// Neovim comes and goes.
	_ = d.v.Command("qa!") // the answer is that the connection ends
	_ = os.Remove(d.opt.Editor)
	d.edit()
	d.typed("run")
	d.at("add.c", 4)
}

// TestPeerThousandSteps: no state of a thousand steps is missing or out of order.
func TestPeerThousandSteps(t *testing.T) {
	d := newDesk(t)
	d.edit()
	d.debug()
	d.typed("break main")
	d.typed("run")
	s := d.at("main.c", 5)
	// main 6, then per round: 7, add 4 5 6 7, main 8? 6. Learn one round.
	var round []string
	last := s
	step := func() *State {
		t.Helper()
		d.typed("step")
		n := d.state("a step", func(s *State) bool { return s.State == Stopped && s.Stops == last.Stops+1 })
		if n.Sequence <= last.Sequence {
			t.Fatalf("sequence %d after %d", n.Sequence, last.Sequence)
		}
		last = n
		return n
	}
	const rounds = 1000
	for i := range rounds {
		n := step()
		place := n.Frame.Function + ":" + strconv.Itoa(n.Frame.Line)
		if i < 12 {
			round = append(round, place)
			continue
		}
		if want := round[i%6]; place != want && place != round[6+i%6] {
			t.Fatalf("step %d is at %s, want %s; a round is %v", i, place, want, round)
		}
	}
	d.until("the cursor is there, too", func() bool { _, l := d.cursor(); return l == last.Frame.Line })
}

// server is a stem-hw gdbserver of a simulated board.
func (d *desk) server(elf string) *exec.Cmd {
	d.t.Helper()
	cmd := exec.Command(built.StemHW(d.t), "gdbserver", elf, "--socket", d.opt.Remote)
	cmd.Env = append(os.Environ(), "HOME="+d.dir, "XDG_RUNTIME_DIR="+d.dir, "STEM_HW_BOARD=")
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// TestPeerBothArchitectures: the simulated board, its server killed and started
// again, sources found through a mapping.
func TestPeerBothArchitectures(t *testing.T) {
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, elf, source, function string }{
		{"riscv", "examples/debugme/debugme.elf", "examples/debugme/debugme.c", "main"},
		{"arm", "examples/arm/hello/hello.elf", "examples/arm/hello/hello.c", "main"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			elf := filepath.Join(root, tt.elf)
			d.opt.Program, d.opt.Remote, d.opt.Link = elf, filepath.Join(d.dir, "g.sock"), filepath.Join(d.dir, "l.sock")
			d.opt.Args = append(d.opt.Args, "-iex", "set osabi none")
			d.opt.Target, d.opt.Dir = "hazard3-sim/"+tt.name, filepath.Join(root, "examples")
			d.opt.Start, d.opt.Sources = []string{"tbreak main", "continue"}, []string{filepath.Dir(filepath.Join(root, tt.source))}
			srv := d.server(elf)
			d.edit()
			d.debug()
			s := d.state("in main", func(s *State) bool { return s.State == Stopped && s.Frame != nil && s.Frame.Function == tt.function })
			d.until("Neovim is in the source", func() bool {
				f, l := d.cursor()
				return f == filepath.Join(root, tt.source) && l == s.Frame.Line
			})
			d.state("both cores", func(s *State) bool { return len(s.Threads) == 2 })
			// The server dies; gdb and breakpoints stay, the next server is used.
			d.typed("break main")
			d.state("a breakpoint", func(s *State) bool { return len(s.Breakpoints) == 1 })
			_ = srv.Process.Kill()
			_ = srv.Wait()
			_ = os.Remove(d.opt.Remote)
			d.state("disconnected", func(s *State) bool { return s.State == Disconnected })
			d.server(elf)
			d.state("connected again", func(s *State) bool { return s.State == Stopped && len(s.Breakpoints) > 0 })
			d.typed("continue")
			d.state("in main again", func(s *State) bool {
				return s.State == Stopped && s.Frame != nil && s.Frame.Function == tt.function && s.Reason == "breakpoint-hit"
			})
		})
	}
}

// TestPeerBreakpointWhileRunning: a remote program that runs is stopped for a
// moment, so that a breakpoint set in Neovim counts.
func TestPeerBreakpointWhileRunning(t *testing.T) {
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	elf := filepath.Join(root, "examples/blink/blink.elf")
	d.opt.Program, d.opt.Remote, d.opt.Link = elf, filepath.Join(d.dir, "g.sock"), filepath.Join(d.dir, "l.sock")
	d.opt.Args, d.opt.Dir = append(d.opt.Args, "-iex", "set osabi none"), filepath.Join(root, "examples")
	d.opt.Start = []string{"tbreak main", "continue"}
	d.server(elf)
	d.edit()
	d.debug()
	d.state("in main", func(s *State) bool { return s.State == Stopped && s.Frame != nil && s.Frame.Function == "main" })
	source := filepath.Join(root, "examples/blink/blink.c")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(string(text[:strings.Index(string(text), "pin_put")]), "\n")
	d.command("StemContinue")
	d.state("running", func(s *State) bool { return s.State == Running })
	d.until("Neovim is in the source", func() bool { f, _ := d.cursor(); return f == source })
	d.command("normal! " + strconv.Itoa(line) + "G")
	d.command("StemBreak")
	d.state("it is hit", func(s *State) bool {
		return s.State == Stopped && s.Reason == "breakpoint-hit" && s.Frame != nil && s.Frame.Line == line
	})
}
