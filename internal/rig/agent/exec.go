//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
)

// execute runs a program, its output going to the stream.
func execute(s *wire.Stream, e *wire.Exec) wire.Goodbye {
	if len(e.Args) == 0 {
		return wire.Goodbye{Code: -1, Error: "no program"}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if e.Limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, e.Limit)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, e.Args[0], e.Args[1:]...)
	cmd.Dir = e.Dir
	cmd.Env = append(os.Environ(), e.Env...)
	cmd.Stdout, cmd.Stderr = s, s
	// Everything it starts shares its process group, so that all of it can be
	// ended. It leads no session: a terminal that a test opens would become its
	// own, and hang up on it when the board is pulled out.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	g := wire.Goodbye{}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		g.Code, g.Error = -1, "the time was up: "+e.Limit.String()
	case errors.As(err, &exit):
		if g.Code = exit.ExitCode(); g.Code < 0 {
			g.Error = exit.String()
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		g.Code, g.Error = -1, err.Error()
	}
	return g
}
