package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/internal/built"
)

// sessionDesk is a home, a runtime folder and a workspace of a test's own.
type sessionDesk struct {
	t      testing.TB
	dir    string
	stemHW string
	env    []string
}

func newSessionDesk(t testing.TB) *sessionDesk {
	t.Helper()
	for _, tool := range []string{"gdb-multiarch", "nvim", "tmux", "gcc", "riscv64-unknown-elf-gcc", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(tool + " is not installed, though scripts/setup peers and bench bring it")
			}
			t.Skip(tool + " is not installed: scripts/setup peers brings it")
		}
	}
	dir, err := os.MkdirTemp("", "se")
	if err != nil {
		t.Fatal(err)
	}
	d := &sessionDesk{t: t, dir: dir, stemHW: filepath.Join(dir, "stem-hw")}
	// A copy, so that its processes are known by their path.
	if out, err := exec.Command("cp", built.StemHW(t), d.stemHW).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("cp", "-r", "../../examples/cards", filepath.Join(dir, "ws")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"),
		"XDG_STATE_HOME="+filepath.Join(dir, "state"), "STEM_WORKSPACE="+filepath.Join(dir, "ws"), "STEM_HW_BOARD=", "STEM_HW_NO_CONTAINER=1", "TMUX=", "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	t.Cleanup(func() {
		d.try("session", "rm", "--all")
		d.try("sim", "stop", "--all")
		_ = os.RemoveAll(dir)
	})
	return d
}

func (d *sessionDesk) try(args ...string) (string, int) {
	cmd := exec.Command(d.stemHW, args...)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func (d *sessionDesk) ok(args ...string) string {
	d.t.Helper()
	out, status := d.try(args...)
	if status != 0 {
		d.t.Fatalf("stem-hw %q: %d\n%s", args, status, out)
	}
	return out
}

// runtime is the runtime folder of a session.
func (d *sessionDesk) runtime(instance string) string {
	d.t.Helper()
	cmd := exec.Command(d.stemHW, "session", "status", "--json", instance)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("%v", err)
	}
	var r sessionResult
	if err := json.Unmarshal(out, &r); err != nil {
		d.t.Fatal(err)
	}
	return r.Runtime
}

func (d *sessionDesk) until(what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(120 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	d.t.Fatalf("%s: still not so", what)
}

// stopped waits until the program stands in a function, and Neovim's cursor is
// where gdb-sync.json says.
func (d *sessionDesk) stopped(runtime, function string) {
	d.t.Helper()
	var s *gdbsync.State
	d.until("stopped in "+function, func() bool {
		var err error
		s, err = gdbsync.Read(runtime + "/gdb-sync.json")
		return err == nil && s.State == gdbsync.Stopped && s.Frame != nil && s.Frame.Function == function
	})
	d.until("the cursor is there, too", func() bool {
		file, line := cursor(runtime + "/n.sock")
		return file == s.Frame.Path && line == s.Frame.Line
	})
}

// cursor asks Neovim where its cursor is. One that waits for a key does not
// answer: then it is nowhere.
func cursor(socket string) (file string, line int) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return "", 0
	}
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	v, err := nvim.New(c, c, c, func(string, ...any) {})
	if err != nil {
		return "", 0
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = v.Serve()
	}()
	defer func() {
		_ = v.Close()
		<-served
	}()
	var got struct {
		File string `msgpack:"file"`
		Line int    `msgpack:"line"`
	}
	if v.ExecLua("return {file = vim.api.nvim_buf_get_name(0), line = vim.api.nvim_win_get_cursor(0)[1]}", &got) != nil {
		return "", 0
	}
	return got.File, got.Line
}
