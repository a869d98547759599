package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// boardLimit is how long anything may take here; nothing waits for it.
const boardLimit = time.Minute

// boardEnv is an environment with a state of its own.
func boardEnv(t *testing.T) []string {
	t.Helper()
	run, err := os.MkdirTemp("", "hw")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "STEM_HW_TEST_MAIN=1", "STEM_HW_BOARD=sim", "XDG_STATE_HOME="+t.TempDir(), "XDG_RUNTIME_DIR="+run)
	t.Cleanup(func() {
		_, _, _ = stemHW(t, env, "sim", "stop", "--all")
		os.RemoveAll(run)
	})
	return env
}

func boardCommand(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestMainAsProcess$", "--"}, args...)...)
	cmd.Env = env
	return cmd
}

// stemHW runs stem-hw to its end.
func stemHW(t *testing.T, env []string, args ...string) (out, errs string, status int) {
	t.Helper()
	cmd := boardCommand(env, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.WaitDelay = boardLimit
	timer := time.AfterFunc(boardLimit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// serverPID is the process that runs the board.
func serverPID(t *testing.T, env []string) int {
	t.Helper()
	out, errs, status := stemHW(t, env, "list", "--json")
	var l struct {
		Boards []struct {
			PID  int    `json:"pid"`
			Mode string `json:"mode"`
		}
	}
	if err := json.Unmarshal([]byte(out), &l); err != nil || status != 0 || len(l.Boards) != 1 {
		t.Fatalf("list: %d, %v, %s%s", status, err, out, errs)
	}
	return l.Boards[0].PID
}

const timerELF = "../../examples/timer/timer.elf"

// TestServerKilled kills the process that runs the board: what it left behind is
// known to be stale, and what was flashed is there.
func TestServerKilled(t *testing.T) {
	env := boardEnv(t)
	if _, errs, status := stemHW(t, env, "flash", timerELF); status != 0 {
		t.Fatal(errs)
	}
	pid := serverPID(t, env)
	if pid == 0 {
		t.Fatal("no process runs the board")
	}
	// A console that is attached sees it go, and says so.
	con := boardCommand(env, "console", "--no-reconnect")
	var conErr bytes.Buffer
	con.Stderr = &conErr
	conOut, err := con.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := con.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	if _, err := conOut.Read(buf); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = new(bytes.Buffer).ReadFrom(conOut) }()
	_ = con.Wait()
	if got := con.ProcessState.ExitCode(); got != 12 || !strings.Contains(conErr.String(), "[connection-lost]") {
		t.Errorf("console: exit status %d, %s", got, conErr.String())
	}
	if now := serverPID(t, env); now != 0 {
		t.Errorf("the board is said to be run by %d", now)
	}
	if _, errs, status := stemHW(t, env, "verify", timerELF); status != 0 {
		t.Errorf("verify after the kill: %s", errs)
	}
	if out, errs, status := stemHW(t, env, "console", "--until-end", "--timeout", "1m"); status != 0 || !strings.Contains(out, "5 times") {
		t.Errorf("console after the kill: %d %s %s", status, out, errs)
	}
	if now := serverPID(t, env); now == 0 || now == pid {
		t.Errorf("the new process is %d, the old one was %d", now, pid)
	}
}

// TestServerStopsWhenStuck stops a server that answers nothing any more.
func TestServerStopsWhenStuck(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a server that does not answer")
	}
	env := boardEnv(t)
	if _, errs, status := stemHW(t, env, "reset"); status != 0 {
		t.Fatal(errs)
	}
	pid := serverPID(t, env)
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	out, errs, status := stemHW(t, env, "sim", "stop")
	if status != 0 || !strings.Contains(out, "sim is off") {
		_ = unix.Kill(pid, unix.SIGKILL)
		t.Errorf("stop: %d %s %s", status, out, errs)
	}
}

// TestClientKilled kills a verb while it has the board.
func TestClientKilled(t *testing.T) {
	env := boardEnv(t)
	if _, errs, status := stemHW(t, env, "flash", timerELF); status != 0 {
		t.Fatal(errs)
	}
	cmd := boardCommand(env, "run", "testdata/../../../examples/blink/blink.elf")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_, errs, status := stemHW(t, env, "flash", timerELF)
	if status != 6 || !strings.Contains(errs, "run (process "+strconv.Itoa(cmd.Process.Pid)+") has it") {
		t.Errorf("flash while run has the board: %d, %s", status, errs)
	}
	listed, _, _ := stemHW(t, env, "list")
	if !strings.Contains(listed, "in use: run (process ") {
		t.Errorf("list: %s", listed)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	// The board is back as it was: nothing half done is kept.
	if _, errs, status := stemHW(t, env, "verify", "--wait", "1m", timerELF); status != 0 {
		t.Errorf("verify: %d, %s", status, errs)
	}
}

// TestManyStarters lets several verbs want a board that is off at the same time:
// one process runs it, and nobody fails.
func TestManyStarters(t *testing.T) {
	env := boardEnv(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, errs, status := stemHW(t, env, "reset", "--halt", "--wait", "1m"); status != 0 {
				t.Errorf("%d: %s", status, errs)
			}
		}()
	}
	wg.Wait()
	pid := serverPID(t, env)
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || !bytes.HasPrefix(data, []byte("stem-hw\x00sim\x00serve\x00")) {
		t.Errorf("%q, %v", data, err)
	}
	// It is in no session of ours, so that ctrl-c does not reach it.
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d of process %d, %v", sid, pid, err)
	}
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, "XDG_STATE_HOME="); ok {
			// Its folder is deleted: it ends by itself.
			if err := os.RemoveAll(filepath.Join(dir, "stem-hw")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for end := time.Now().Add(boardLimit); unix.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && bytes.Contains(state, []byte(") Z ")) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the process of a deleted board does not end")
		}
	}
}

// TestFlashInterrupted interrupts flash at some moment; run again, it finishes.
func TestFlashInterrupted(t *testing.T) {
	env := boardEnv(t)
	big := filepath.Join(t.TempDir(), "big.bin")
	if err := os.WriteFile(big, bytes.Repeat([]byte{0x5a, 1}, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, delay := range []time.Duration{0, 20 * time.Millisecond, 60 * time.Millisecond} {
		cmd := boardCommand(env, "flash", "--no-start", "--full", big)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay)
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != 0 && got != 130 && got != -1 {
			t.Errorf("exit status %d", got)
		}
	}
	if _, errs, status := stemHW(t, env, "flash", "--no-start", "--wait", "1m", big); status != 0 {
		t.Errorf("again: %d, %s", status, errs)
	}
	if _, errs, status := stemHW(t, env, "verify", big); status != 0 {
		t.Errorf("verify: %d, %s", status, errs)
	}
}
