//go:build peers

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/gdbsync"
)

// TestPeerSessions runs one script in every profile: build, test, run, debug to
// a breakpoint; the sessions are side by side.
func TestPeerSessions(t *testing.T) {
	d := newSessionDesk(t)
	type place struct {
		profile, instance string
		flags             []string
	}
	places := []place{
		{"rp2350", "rp2350-inf-list", []string{"--profile", "rp2350", "-b", "sim:lab"}},
		{"hazard3-sim", "hazard3-sim-inf-list", []string{"--profile", "hazard3-sim", "--target", "rp2350-arm"}},
		{"native-amd64", "native-amd64-inf-list", []string{"--profile", "native-amd64"}},
	}
	for _, p := range places {
		words := func(verb ...string) []string { return append(append(verb, "inf", "list"), p.flags...) }
		d.ok(words("build")...)
		if out := d.ok(words("test")...); !strings.Contains(out, "ok      inf-list") {
			t.Errorf("%s: %s", p.profile, out)
		}
		if out := d.ok(words("run", "-q")...); !strings.Contains(out, "1 2 3 4") {
			t.Errorf("%s: %s", p.profile, out)
		}
		if out := d.ok(words("debug", "--batch", "--ex", "break list_reverse", "--ex", "continue", "--ex", "backtrace")...); !strings.Contains(out, "#1") {
			t.Errorf("%s: %s", p.profile, out)
		}
		d.ok(words("session", "start")...)
		r := d.runtime(p.instance)
		d.stopped(r, "main")
		d.typed(r, "gdb", "break list_reverse")
		d.typed(r, "gdb", "continue")
		d.stopped(r, "list_reverse")
	}
	// Side by side: each stands where it was.
	for _, p := range places {
		r := d.runtime(p.instance)
		d.stopped(r, "list_reverse")
		d.typed(r, "gdb", "continue")
		d.until("the console shows what was printed", func() bool { return strings.Contains(d.screen(r, "console"), "1 2 3 4") })
	}
	d.until("the log has it", func() bool { return strings.Contains(d.ok("session", "logs", "hazard3-sim-inf-list"), "1 2 3 4") })
	if out, status := d.try("session", "start", "inf", "list", "--profile", "native-amd64"); status != 6 || !strings.Contains(out, "session-exists") {
		t.Errorf("%d, %s", status, out)
	}
	d.ok("session", "stop", "native-amd64-inf-list")
	if out := d.ok("session", "list"); strings.Count(out, "running") != 2 || strings.Count(out, "stopped") != 1 {
		t.Error(out)
	}
	d.ok("session", "rm", "--all")
	d.ok("sim", "stop", "--all")
	d.until("nothing is left", func() bool { return len(d.left()) == 0 })
}

// TestPeerSessionThreads: the tasks of an RTOS are threads in the session's state.
func TestPeerSessionThreads(t *testing.T) {
	d := newSessionDesk(t)
	if err := os.CopyFS(filepath.Join(d.dir, "tasks"), os.DirFS("../../examples/tasks")); err != nil {
		t.Fatal(err)
	}
	d.ok("session", "start", filepath.Join(d.dir, "tasks/tasks.elf"))
	r := d.runtime("hazard3-sim-tasks")
	d.stopped(r, "main")
	d.typed(r, "gdb", "break heartbeat")
	d.typed(r, "gdb", "continue")
	d.until("tasks by name", func() bool {
		state, err := gdbsync.Read(r + "/gdb-sync.json")
		if err != nil || state.State != gdbsync.Stopped {
			return false
		}
		names := map[string]bool{}
		for _, t := range state.Threads {
			names[t.Name] = true
		}
		return names["main"] && names["sensor"] && names["IDLE1"]
	})
	d.typed(r, "gdb", "info threads")
	d.until("gdb lists them", func() bool { return strings.Contains(d.screen(r, "gdb"), "sensor") })
}

// TestPeerSessionKilled kills a process of a session at a random moment, ten
// times: list says what is so, and rm leaves nothing.
func TestPeerSessionKilled(t *testing.T) {
	d := newSessionDesk(t)
	d.ok("build", "inf", "list", "--profile", "hazard3-sim")
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 10 {
		start := make(chan struct{})
		go func() {
			defer close(start)
			d.try("session", "start", "inf", "list", "--profile", "hazard3-sim")
		}()
		time.Sleep(time.Duration(rnd.IntN(1500)) * time.Millisecond)
		if left := d.left(); len(left) > 0 {
			line := left[rnd.IntN(len(left))]
			if pid, err := strconv.Atoi(strings.Fields(line)[0]); err == nil {
				t.Logf("%d: kill %s", i, line)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		<-start
		if out, status := d.try("session", "list"); status != 0 {
			t.Errorf("list: %d\n%s", status, out)
		}
		if out, status := d.try("session", "rm", "--all"); status != 0 {
			t.Errorf("rm: %d\n%s", status, out)
		}
		d.until("nothing is left", func() bool { return len(d.left()) == 0 })
		if entries, _ := filepath.Glob(filepath.Join(d.dir, "run/stem/*/*")); len(entries) != 0 {
			t.Errorf("left: %v", entries)
		}
	}
}

// TestPeerSessionHostile: what a project or the runtime folder brings steers
// nothing.
func TestPeerSessionHostile(t *testing.T) {
	d := newSessionDesk(t)
	pwned := filepath.Join(d.dir, "pwned")
	card := filepath.Join(d.dir, "ws/inf/list")
	for name, text := range map[string]string{
		".tmux.conf": "run-shell 'touch " + pwned + "'\n", "tmux.conf": "run-shell 'touch " + pwned + "'\n",
		".gdbinit": "shell touch " + pwned + "\n", ".exrc": "silent !touch " + pwned + "\n", ".nvimrc": "silent !touch " + pwned + "\n",
		".nvim.lua": "os.execute('touch " + pwned + "')\n", "list.elf-gdb.py": "import os; os.system('touch " + pwned + "')\n",
		"main.c": "/* vim: set makeprg=touch\\ " + pwned + ": */\n" + must(t, filepath.Join(card, "main.c")),
	} {
		if err := os.WriteFile(filepath.Join(card, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d.ok("session", "start", "inf", "list", "--profile", "hazard3-sim")
	r := d.runtime("hazard3-sim-inf-list")
	d.stopped(r, "main")
	// What the inside says of itself is never authority.
	if err := os.WriteFile(r+"/container.json", []byte(`{"editor_container":"$(touch `+pwned+`)","card":"/"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.ok("session", "status")
	d.ok("session", "context", "--json")
	d.ok("session", "rm", "--all")
	if _, err := os.Stat(pwned); err == nil {
		t.Error("a file of the project was executed")
	}
	if _, err := os.Stat(card); err != nil {
		t.Error(err)
	}
	// Commands of the project wait for a person.
	if err := os.WriteFile(filepath.Join(card, "stem.toml"), []byte("[card]\nname = \"list\"\n[build]\ncommand = [\"touch\", \""+pwned+"\"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, status := d.try("session", "start", "inf", "list", "--profile", "hazard3-sim"); status != 13 || !strings.Contains(out, "untrusted") {
		t.Errorf("%d\n%s", status, out)
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("a command that nobody trusts was run")
	}
	if out, _ := d.try("session", "list"); !strings.Contains(out, "no sessions") {
		t.Error(out)
	}
	// A runtime folder that is a link, and one whose path is too long.
	stem := filepath.Join(d.dir, "run/stem")
	_ = os.RemoveAll(stem)
	if err := os.Symlink(filepath.Join(d.dir, "ws"), stem); err != nil {
		t.Fatal(err)
	}
	if out, status := d.try("session", "start", "inf", "list", "--profile", "hazard3-sim"); status != 5 || !strings.Contains(out, "not safe") {
		t.Errorf("%d\n%s", status, out)
	}
	long := filepath.Join(d.dir, strings.Repeat("x", 70))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "XDG_RUNTIME_DIR="+long)
	if out, status := d.try("session", "start", "inf", "list", "--profile", "hazard3-sim"); status != 2 || !strings.Contains(out, "too long") {
		t.Errorf("%d\n%s", status, out)
	}
	if out, status := d.try("session", "start", "inf", "lst"); status != 2 || !strings.Contains(out, "perhaps list") {
		t.Errorf("%d\n%s", status, out)
	}
}

func must(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
