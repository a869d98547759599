package main

import (
	"bufio"
	"encoding/json"
	"syscall"
	"testing"
	"time"
)

// TestListWatch follows a board that appears, runs, ends and goes off.
func TestListWatch(t *testing.T) {
	env := boardEnv(t)
	cmd := boardCommand(env, "list", "--watch", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(boardLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	seen := map[string]bool{}
	next := func(mode string) {
		t.Helper()
		for lines.Scan() {
			var e struct {
				Schema, Event string
				Board         struct{ Mode string }
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Schema != "stem-hw/list-event/1" {
				t.Fatalf("%s: %v", lines.Text(), err)
			}
			seen[e.Event] = true
			if e.Board.Mode == mode {
				return
			}
		}
		t.Fatalf("the board is never %s", mode)
	}
	if _, errs, status := stemHW(t, env, "reset", "--halt"); status != 0 {
		t.Fatal(errs)
	}
	next("halted")
	if _, errs, status := stemHW(t, env, "flash", timerELF); status != 0 {
		t.Fatal(errs)
	}
	next("ended")
	if _, errs, status := stemHW(t, env, "sim", "stop"); status != 0 {
		t.Fatal(errs)
	}
	next("off")
	if !seen["added"] || !seen["changed"] {
		t.Errorf("events: %v", seen)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit status %d", got)
	}
}
