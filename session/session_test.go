package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestKeys(t *testing.T) {
	// The first eight digits of SHA-256, which others compute as well.
	if got := Key("abc"); got != "ba7816bf" {
		t.Error(got)
	}
	if got := Name("hazard3-sim", "inf-bss-t4"); got != "hazard3-sim-inf-bss-t4" {
		t.Error(got)
	}
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"-link"); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir + "-link")
	if Thread(dir) != Thread(dir+"-link") {
		t.Error("a workspace has two keys")
	}
	for _, bad := range []string{"", "-x", "a/b", "a b", "#{x}", "../x", strings.Repeat("x", 112)} {
		if CheckName(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRuntimeFolderIsChecked(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"a link": func(t *testing.T, dir string) {
			if err := os.Symlink(t.TempDir(), filepath.Join(dir, "stem")); err != nil {
				t.Fatal(err)
			}
		},
		"open to others": func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "stem"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"a file": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "stem"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		make(t, dir)
		if _, err := Runtime(env(map[string]string{"XDG_RUNTIME_DIR": dir})); faults.StatusOf(err) != faults.StatusPermission {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir, err := os.MkdirTemp("", "sr")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	base, err := Runtime(env(map[string]string{"XDG_RUNTIME_DIR": dir}))
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFolder(base, "0123abcd", "x", "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewFolder(base, "0123abcd", "x", "")
	if err != nil || again.Dir == f.Dir {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := os.Stat(f.Dir); err == nil {
		t.Error("a stale folder is still there")
	}
	// A link on the way.
	if err := os.RemoveAll(f.Instance); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), f.Instance); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFolder(base, "0123abcd", "x", ""); faults.StatusOf(err) != faults.StatusPermission {
		t.Errorf("%v", err)
	}
	// Too long: refused before anything is made.
	long := filepath.Join(dir, strings.Repeat("x", 80))
	if _, err := NewFolder(long, "0123abcd", "x", ""); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(long); err == nil {
		t.Error("something was made")
	}
}

func TestRegistryTellsTheTruth(t *testing.T) {
	g := NewRegistry(t.TempDir())
	r := &Record{Instance: "native-amd64-x", Thread: "0123abcd", Card: t.TempDir(), Profile: "native-amd64"}
	dir := g.Dir(r.Thread, r.Instance)
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	state := func() State {
		t.Helper()
		all, broken := g.List()
		if len(all) != 1 || len(broken) != 0 {
			t.Fatalf("%v, %v", all, broken)
		}
		return all[0].State
	}
	if s := state(); s != Stopped {
		t.Error(s)
	}
	l, ok, err := TakeLock(dir)
	if err != nil || !ok {
		t.Fatal(err)
	}
	if s := state(); s != Running {
		t.Error(s)
	}
	if _, ok, _ := TakeLock(dir); ok {
		t.Error("the lock was taken twice")
	}
	l.Release()
	r.Keeper = 999999
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if s := state(); s != Broken {
		t.Error(s)
	}
	near := func(string, []string) []string { return []string{"native-amd64-x"} }
	if _, err := g.Find("native-amd64-y", near); !faults.Is(err, faults.CodeNoSession) || !strings.Contains(err.Error(), "perhaps native-amd64-x") {
		t.Error(err)
	}
	if err := os.WriteFile(recordPath(dir), []byte(`{"schema":"stem-hw/session-record/1","instance":"../x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, broken := g.List(); len(all) != 0 || len(broken) != 1 {
		t.Errorf("%v, %v", all, broken)
	}
}

func TestLogStaysInTheCard(t *testing.T) {
	outside := t.TempDir()
	for name, make := range map[string]func(card string) error{
		".stem is a link out": func(card string) error { return os.Symlink(outside, filepath.Join(card, ".stem")) },
		"the log is a link":   func(card string) error { return linkLog(card, outside) },
		"the log is a named pipe": func(card string) error {
			return os.MkdirAll(filepath.Join(card, ".stem/instances/x/program.log"), 0o755)
		},
	} {
		card := t.TempDir()
		if err := make(card); err != nil {
			t.Fatal(err)
		}
		if f, err := openLog(card, "x"); err == nil {
			_ = f.Close()
			t.Errorf("%s: opened", name)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("written outside: %v", left)
	}
	f, err := openLog(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

func TestOlderDataFolder(t *testing.T) {
	card := t.TempDir()
	if err := os.Mkdir(filepath.Join(card, ".rv"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := openLog(card, "x")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if want := filepath.Join(card, ".rv/instances/x/program.log"); ProgramLog(card, "x") != want || f.Name() == "" {
		t.Errorf("%s, want %s", ProgramLog(card, "x"), want)
	}
	if _, err := os.Stat(filepath.Join(card, ".rv/instances/x/program.log")); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(card, ".stem"), 0o755); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(card, ".stem/instances/x/program.log"); ProgramLog(card, "x") != want {
		t.Errorf("%s, want %s", ProgramLog(card, "x"), want)
	}
}

func linkLog(card, outside string) error {
	dir := filepath.Join(card, ".stem", "instances", "x")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, logName))
}

func TestEnvironmentIsClean(t *testing.T) {
	got := strings.Join(cleanEnv([]string{"PATH=/bin", "TMUX=/x,1,0", "NVIM=/y", "STEM_HW_BOARD=sim", "HOME=/h"}), " ")
	if got != "PATH=/bin HOME=/h" {
		t.Error(got)
	}
}

func TestTmuxRunsNoShell(t *testing.T) {
	r := &Record{Instance: "x", Card: "/card with 'quotes'; and $(more)", Runtime: "/run/x/y/z"}
	args := newWindow(r.folder(), r, Window{"gdb", []string{"/bin/stem-hw", "session", "pane", "gdb", "/run/x"}}, false, nil)
	at := -1
	for i, a := range args {
		if a == "--" {
			at = i
		}
	}
	// tmux hands a single word to a shell, several to exec.
	if at < 0 || len(args)-at-1 < 2 {
		t.Errorf("%q", args)
	}
}
