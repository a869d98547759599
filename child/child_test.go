package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

func supervisor(t *testing.T) *Supervisor {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func sh(script string) Spec { return Spec{Program: "/bin/sh", Args: []string{"-c", script}} }

func start(ctx context.Context, t *testing.T, s *Supervisor, spec Spec) *Process {
	t.Helper()
	p, err := s.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWait(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"success", "exit 0", ""},
		{"status", "echo no board here; exit 3", "sh ended with status 3: no board here"},
		{"signal", "kill -SEGV $$", "sh was ended by signal SIGSEGV"},
		{"silent failure", "exit 1", "sh ended with status 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := start(context.Background(), t, supervisor(t), sh(tt.script)).Wait()
			if got := fmt.Sprint(err); got != tt.want && !(err == nil && tt.want == "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			var ee *ExitError
			if tt.want != "" && !errors.As(err, &ee) {
				t.Errorf("%T is no *ExitError", err)
			}
		})
	}
}

func TestOutputGoesWhereItShould(t *testing.T) {
	var out, errs bytes.Buffer
	spec := sh("cat; echo talk >&2")
	spec.Stdin, spec.Stdout, spec.Stderr = strings.NewReader("data"), &out, &errs
	p := start(context.Background(), t, supervisor(t), spec)
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "data" || errs.String() != "talk\n" || p.Output() != "" {
		t.Errorf("stdout %q, stderr %q, kept %q", out.String(), errs.String(), p.Output())
	}
}

func TestOutputIsBounded(t *testing.T) {
	spec := sh("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done")
	spec.Keep = 100
	p := start(context.Background(), t, supervisor(t), spec)
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if out := p.Output(); len(out) > 100 || !strings.HasSuffix(out, "line 4999\n") || !strings.HasPrefix(out, "line ") {
		t.Errorf("kept %q", out)
	}
}

func TestStopIsGentleFirst(t *testing.T) {
	spec := sh("trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	p := start(context.Background(), t, supervisor(t), spec)
	eventually(t, "ready", func() bool { return strings.Contains(p.Output(), "ready") })
	p.Stop()
	p.Stop()
	if err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	if !strings.Contains(p.Output(), "asked") {
		t.Errorf("SIGTERM did not arrive: %q", p.Output())
	}
}

func TestContextEndsTheWholeGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	spec := sh("trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & while :; do sleep 1; done")
	spec.Grace = 20 * time.Millisecond
	s := supervisor(t)
	p := start(ctx, t, s, spec)
	var grandchild int
	eventually(t, "the grandchild's number", func() bool {
		grandchild, _ = strconv.Atoi(strings.TrimSpace(p.Output()))
		return grandchild != 0
	})
	cancel()
	if err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	eventually(t, "the grandchild is gone", func() bool { return !alive(grandchild) })
	eventually(t, "no child left", func() bool { return s.Running() == 0 })
}

func TestLeftoversEndWithTheChild(t *testing.T) {
	p := start(context.Background(), t, supervisor(t), sh("sleep 1000 >/dev/null 2>&1 & echo $!"))
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(p.Output()))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the leftover is gone", func() bool { return !alive(pid) })
}

func TestDeadlineIsTheReason(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := start(ctx, t, supervisor(t), sh("sleep 1000")).Wait(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait: %v", err)
	}
}

func TestCloseStopsAndRefuses(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	p := start(context.Background(), t, s, sh("sleep 1000"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-p.Done():
	default:
		t.Error("Close returned before its child ended")
	}
	if alive(p.PID()) || alive(s.watcher.cmd.Process.Pid) {
		t.Error("something is left")
	}
	if _, err := s.Start(context.Background(), sh("true")); !errors.Is(err, ErrClosed) {
		t.Errorf("Start after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := supervisor(t)
	var ps []*Process
	for i := range 20 {
		ps = append(ps, start(context.Background(), t, s, sh(fmt.Sprintf("exit %d", i%3))))
	}
	for i, p := range ps {
		err := p.Wait()
		var ee *ExitError
		if i%3 == 0 && err != nil || i%3 != 0 && (!errors.As(err, &ee) || ee.Status != i%3) {
			t.Errorf("child %d: %v", i, err)
		}
	}
}

func TestRun(t *testing.T) {
	s := supervisor(t)
	if out, err := s.Run(context.Background(), sh("echo data; echo talk >&2"), 100); err != nil || string(out) != "data\n" {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := s.Run(context.Background(), sh("yes | head -c 100000"), 100); err == nil || !strings.Contains(err.Error(), "more than 100 bytes") {
		t.Errorf("too much output: %v", err)
	}
	var ee *ExitError
	if _, err := s.Run(context.Background(), sh("echo why >&2; exit 4"), 100); !errors.As(err, &ee) || ee.Status != 4 || strings.Join(ee.Output, "") != "why" {
		t.Errorf("failure: %v", err)
	}
}

func TestMissingTool(t *testing.T) {
	_, err := supervisor(t).Start(context.Background(), Spec{Program: "no-such-tool", Package: "tools"})
	f := faults.Of(err)
	if f == nil || f.Code != faults.CodeMissingTool || faults.StatusOf(err) != faults.StatusMissingTool {
		t.Fatalf("got %v", err)
	}
	if len(f.Try) != 1 || f.Try[0] != "sudo apt-get install tools" {
		t.Errorf("advice %q", f.Try)
	}
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(file, ""); !faults.Is(err, faults.CodeMissingTool) || !strings.Contains(err.Error(), "may not be executed") {
		t.Errorf("a file that is no program: %v", err)
	}
}

func TestBadSpecIsCountedOut(t *testing.T) {
	s := supervisor(t)
	spec := sh("true")
	spec.Dir = filepath.Join(t.TempDir(), "nowhere")
	if _, err := s.Start(context.Background(), spec); err == nil {
		t.Error("started in a folder that does not exist")
	}
	if s.Running() != 0 {
		t.Errorf("%d children running", s.Running())
	}
}

func TestTail(t *testing.T) {
	tail := NewTail(10)
	for _, p := range []string{"one\n", "two\n", "three\n", "4\n"} {
		if n, err := tail.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("Write(%q) = %d, %v", p, n, err)
		}
	}
	if got := tail.String(); got != "three\n4\n" {
		t.Errorf("String() = %q", got)
	}
	if got := tail.Lines(1); len(got) != 1 || got[0] != "4" {
		t.Errorf("Lines(1) = %q", got)
	}
	if n, err := tail.Write(bytes.Repeat([]byte("x"), 100)); n != 100 || err != nil || len(tail.String()) != 10 {
		t.Errorf("a long write: %d, %v, %q", n, err, tail.String())
	}
}
