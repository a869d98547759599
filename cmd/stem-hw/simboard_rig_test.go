//go:build rig

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// simBoardLine is what sim board says: its boards, or a device that appeared.
type simBoardLine struct {
	Schema string `json:"schema"`
	Boards []boardRow
	appearedResult
}

// TestRigSimBoard runs sim board in the machine: it attaches its boards to the
// kernel by itself, and again when they restart.
func TestRigSimBoard(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "stem-hw", "sim", "board", "--json", "--boards", "2", "--probe", "--dap", "both", "--serial", "00000000000000A1,00000000000000A2")
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		}
	}()
	lines := bufio.NewScanner(out)
	next := func() (l simBoardLine) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("sim board says no more: %v", lines.Err())
		}
		t.Log(lines.Text())
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := next(); l.Schema != "stem-hw/sim-board/1" || len(l.Boards) != 2 || l.Boards[1].Serial != "00000000000000A2" {
		t.Fatalf("%+v", l)
	}
	seen := map[string]simBoardLine{}
	for range 4 {
		l := next()
		if !l.Configured {
			t.Errorf("%s is not configured", l.Path)
		}
		seen[l.Serial] = l
	}
	board, other := seen["00000000000000A1"], seen["00000000000000A2"]
	if board.ID != "2e8a:000f" || other.ID != "2e8a:000f" || len(board.Nodes) == 0 || !strings.HasPrefix(board.Nodes[0], "/dev/sd") {
		t.Errorf("boards %+v, %+v", board, other)
	}
	for serial, l := range seen {
		if l.ID == "2e8a:000c" && (len(l.Nodes) != 2 || !strings.HasPrefix(l.Nodes[0], "/dev/hidraw") || !strings.HasPrefix(l.Nodes[1], "/dev/ttyACM")) {
			t.Errorf("probe %s: %v", serial, l.Nodes)
		}
	}
	rig.Run(t, "picotool", "info", "-a", "--ser", board.Serial)
	rig.Run(t, "picotool", "reboot", "-u", "--ser", board.Serial)
	if l := next(); l.Path != board.Path || l.Serial != board.Serial || l.Node == board.Node {
		t.Errorf("after a restart: %+v, before it %+v", l.Appearance, board.Appearance)
	}
	stats := exec.Command("stem-hw", "sim", "stats", "--json", board.Serial)
	stats.Env = cmd.Env
	b, err := stats.Output()
	var s usbStatsResult
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil || len(s.USB) != 1 || s.USB[0].Enumerations != 2 || s.USB[0].Transfers < 50 || s.USB[0].Time.Boot != 1200*time.Millisecond {
		t.Errorf("%v: %s", err, b)
	}
	ended = true
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Logf("it ends with %v", err)
	}
}
