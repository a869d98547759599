package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Service is a process that is meant to outlive whoever starts it: it has a
// session of its own, no terminal, nothing of its starter's streams, and answers
// for its own end (a lock, an idle time). It is the one exception to this
// package's rule.
type Service struct {
	// Program is the path of the executable, and Name what it is called (argv 0).
	Program, Name string
	Args          []string
	// Env is the whole environment; empty means the starter's.
	Env []string
	// Log takes its standard error; nil is nothing.
	Log *os.File
}

// maxReport bounds what a service reports while it starts.
const maxReport = 64 << 10

// ReportFD is the file descriptor on which a service reports how it started. It
// closes it once it is ready.
const ReportFD = 3

// StartService starts a service and returns what it reported on ReportFD when it
// closes that, or ends. A service that has not reported when ctx ends is killed.
func StartService(ctx context.Context, s Service) (report []byte, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for a service: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(s.Program, s.Args...)
	cmd.Args[0] = s.Name
	cmd.Dir, cmd.Env = "/", s.Env
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.Log != nil {
		cmd.Stderr = s.Log
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	// Its end is reaped if it comes while the starter lives.
	go func() { _ = cmd.Wait() }()
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	report, err = io.ReadAll(io.LimitReader(r, maxReport))
	if ctx.Err() != nil {
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		return nil, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return nil, fmt.Errorf("report of %s: %w", s.Name, err)
	}
	return report, nil
}
