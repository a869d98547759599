package child

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test program play the owner that is killed.
func TestMain(m *testing.M) {
	if script := os.Getenv("CHILD_TEST_OWNER"); script != "" {
		playOwner(script)
	}
	os.Exit(m.Run())
}

// playOwner starts a child, prints the process numbers it knows, and waits to
// be killed.
func playOwner(script string) {
	s, err := New()
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	_, err = s.Start(context.Background(), Spec{
		Program: "/bin/sh", Args: []string{"-c", script}, Stdout: os.Stdout,
	})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("pid", s.watcher.cmd.Process.Pid)
	time.Sleep(time.Hour)
}

// alive looks in /proc. A zombie is dead: it only waits for its parent.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, ok := strings.Cut(string(stat), ") ")
	return ok && !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

// eventually waits for a condition with patience for a busy machine.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Errorf("%s: still not so", what)
}

func TestNothingSurvivesAKilledOwner(t *testing.T) {
	tests := []struct{ name, script string }{
		{"a child", `echo pid $$; echo ready; exec sleep 1000`},
		{"grandchildren", `sleep 1000 & echo pid $!; (sleep 1000 & echo pid $!; sleep 1000) & echo pid $!; echo pid $$; sleep 0.1; echo ready; wait`},
		{"deaf to signals", `trap '' TERM HUP INT; sleep 1000 & echo pid $!; echo pid $$; echo ready; while :; do sleep 1; done`},
		{"an orphan", `(sh -c 'sleep 1000 & echo pid $!'); echo pid $$; echo ready; sleep 1000`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			owner := exec.Command(os.Args[0])
			owner.Env = append(os.Environ(), "CHILD_TEST_OWNER="+tt.script)
			out, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			pids := readPIDs(t, bufio.NewScanner(out))
			if len(pids) < 2 {
				t.Fatalf("only %v", pids)
			}
			for _, pid := range pids {
				if !alive(pid) {
					t.Errorf("process %d was not alive before", pid)
				}
			}
			if err := owner.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait()
			for _, pid := range pids {
				eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
			}
		})
	}
}

// readPIDs reads until the script is ready and the owner told its watcher's
// number.
func readPIDs(t *testing.T, sc *bufio.Scanner) (pids []int) {
	t.Helper()
	ready, watched := false, false
	for !(ready && watched) && sc.Scan() {
		word, rest, _ := strings.Cut(sc.Text(), " ")
		switch word {
		case "ready":
			ready = true
		case "pid":
			pid, err := strconv.Atoi(rest)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
			if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(comm), "read -r op id") {
				watched = true
			}
		default:
			t.Fatalf("the owner said %q", sc.Text())
		}
	}
	return pids
}
