package rig

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Result is how a command ended.
type Result struct {
	// Out is standard output, Err standard error, Code the exit status.
	Out, Err string
	Code     int
}

// All is everything it said.
func (r Result) All() string { return r.Out + r.Err }

// commandLimit is how long a command may take.
const commandLimit = 10 * time.Minute

// Try runs a command and returns how it ended.
func Try(t testing.TB, name string, args ...string) Result {
	t.Helper()
	need(t)
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	r := Result{Out: out.String(), Err: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%s %s: not done after %s\n%s", name, strings.Join(args, " "), commandLimit, r.All())
	case errors.As(err, &exit):
		r.Code = exit.ExitCode()
	case err != nil:
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return r
}

// Run runs a command that has to succeed, and returns what it printed.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	r := Try(t, name, args...)
	if r.Code != 0 {
		t.Fatalf("%s %s: exit status %d\n%s", name, strings.Join(args, " "), r.Code, r.All())
	}
	return r.Out
}

// Later returns a command line that runs a program of the later Debian.
func Later(name string, args ...string) []string {
	return append([]string{"chroot", "/later", name}, args...)
}
