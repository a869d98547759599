package gdbsync

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"
)

// desk is a person's desk: a tmux with gdb, a Neovim, a program of two files.
type desk struct {
	t     testing.TB
	dir   string
	opt   Options
	v     *nvim.Nvim
	panes bool
}

// needs skips where other people's tools are missing.
func needs(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
}

const mainC = `#include <stdio.h>
int add(int a, int b);
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 100000; i++) {
		sum = add(sum, i);
	}
	printf("%d\n", sum);
	return 3;
}
`

const addC = `int add(int a, int b);
int add(int a, int b)
{
	int c = a;
	c += b;
	return c;
}
`

// newDesk makes a desk with the program of the host, not started yet.
func newDesk(t testing.TB) *desk {
	t.Helper()
	needs(t, "gdb-multiarch", "nvim", "tmux", "gcc")
	d := &desk{t: t, dir: shortDir(t)}
	src := filepath.Join(d.dir, "sö urce")
	if err := os.Mkdir(src, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.c": mainC, "add.c": addC} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(d.dir, "program")
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", program, filepath.Join(src, "main.c"), filepath.Join(src, "add.c")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	d.opt = Options{
		Gdb: "gdb-multiarch", Program: program, Args: []string{"-nx", "-iex", "set confirm off"}, Instance: "native-test", Target: "native-amd64",
		StateFile: filepath.Join(d.dir, "gdb-sync.json"), Editor: filepath.Join(d.dir, "n.sock"), Restart: "run",
	}
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, "sö urce", name) }

// edit starts a Neovim and connects to it.
func (d *desk) edit() {
	d.t.Helper()
	cmd := exec.Command("nvim", "--headless", "-u", "NONE", "-n", "--listen", d.opt.Editor, d.path("main.c"))
	cmd.Env = append(os.Environ(), "HOME="+d.dir, "XDG_CONFIG_HOME="+d.dir, "XDG_DATA_HOME="+d.dir, "XDG_STATE_HOME="+d.dir)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	d.until("Neovim listens", func() bool {
		v, err := nvim.Dial(d.opt.Editor, nvim.DialLogf(func(string, ...any) {}))
		if err == nil {
			d.v = v
		}
		return err == nil
	})
	d.t.Cleanup(func() { _ = d.v.Close() })
	for _, wish := range []string{"set hidden", "set noswapfile"} {
		if err := d.v.Command(wish); err != nil {
			d.t.Fatal(err)
		}
	}
}

// debug starts gdb in a tmux of its own.
func (d *desk) debug() {
	d.t.Helper()
	text, err := json.Marshal(d.opt)
	if err != nil {
		d.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command("tmux", "-S", d.tmux(), "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-s", "x", "exec "+self)
	cmd.Env = append(os.Environ(), "GDBSYNC_TEST_PANE="+string(text), "HOME="+d.dir, "TMUX=", "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("tmux: %v\n%s", err, out)
	}
	d.panes = true
	d.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", d.tmux(), "kill-server").Run()
	})
	d.state("gdb is ready", func(s *State) bool { return s.State != Starting })
	d.shows("(gdb)")
}

func (d *desk) tmux() string { return filepath.Join(d.dir, "t.sock") }

// typed types a line into gdb.
func (d *desk) typed(line string) {
	d.t.Helper()
	for _, args := range [][]string{{"send-keys", "-t", "x", "-l", "--", line}, {"send-keys", "-t", "x", "Enter"}} {
		if out, err := exec.Command("tmux", append([]string{"-S", d.tmux()}, args...)...).CombinedOutput(); err != nil {
			d.t.Fatalf("tmux: %v\n%s", err, out)
		}
	}
}

func (d *desk) screen() string {
	out, _ := exec.Command("tmux", "-S", d.tmux(), "capture-pane", "-p", "-t", "x").Output()
	return strings.TrimSpace(string(out))
}

func (d *desk) shows(text string) {
	d.t.Helper()
	d.until("the pane shows "+text, func() bool { return strings.Contains(d.screen(), text) })
}

// until waits with patience for a busy machine.
func (d *desk) until(what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	last, _ := os.ReadFile(d.opt.StateFile)
	screen := ""
	if d.panes {
		screen = d.screen()
	}
	d.t.Fatalf("%s: still not so\nstate: %s\nscreen:\n%s", what, last, screen)
}

// state waits until the state file says something.
func (d *desk) state(what string, ok func(*State) bool) (s *State) {
	d.t.Helper()
	d.until(what, func() bool {
		var err error
		s, err = Read(d.opt.StateFile)
		if err != nil && !os.IsNotExist(err) {
			d.t.Fatalf("a state that is not whole: %v", err)
		}
		return err == nil && ok(s)
	})
	return s
}

// at waits until program and cursor are at a line.
func (d *desk) at(file string, line int) *State {
	d.t.Helper()
	s := d.state(fmt.Sprintf("stopped at %s:%d", file, line), func(s *State) bool {
		return s.State == Stopped && s.Frame != nil && s.Frame.Path == d.path(file) && s.Frame.Line == line
	})
	d.until(fmt.Sprintf("the cursor is at %s:%d", file, line), func() bool {
		f, l := d.cursor()
		return f == d.path(file) && l == line
	})
	return s
}

func (d *desk) cursor() (file string, line int) {
	d.t.Helper()
	b, err := d.v.CurrentBuffer()
	if err == nil {
		file, err = d.v.BufferName(b)
	}
	var pos [2]int
	if err == nil {
		var w nvim.Window
		if w, err = d.v.CurrentWindow(); err == nil {
			pos, err = d.v.WindowCursor(w)
		}
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return file, pos[0]
}

// command runs an ex command in Neovim, as a person does.
func (d *desk) command(c string) {
	d.t.Helper()
	if err := d.v.Command(c); err != nil {
		d.t.Fatal(err)
	}
}

// signs are the signs in a file: "StemBreakpoint:7".
func (d *desk) signs(file string) string {
	d.t.Helper()
	var out string
	err := d.v.ExecLua(`
		local b = vim.fn.bufnr(...)
		if b < 0 then return '' end
		local t = {}
		for _, s in ipairs(vim.fn.sign_getplaced(b, {group='*'})[1].signs) do table.insert(t, s.name .. ':' .. s.lnum) end
		table.sort(t)
		return table.concat(t, ' ')`, &out, d.path(file))
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}
