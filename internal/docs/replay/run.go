package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Runner runs blocks in a folder of their own.
type Runner struct {
	// Dir is the working folder.
	Dir string
	// Env is the whole environment of the commands.
	Env []string
	// Limit is the longest time of one command.
	Limit time.Duration
}

// Prepare fills dir with links to everything at the top of root and returns a
// runner whose PATH begins with binDir and whose HOME is inside home.
func Prepare(root, dir, home, binDir string) (*Runner, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" {
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	var env []string
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(k, "XDG_") || strings.HasPrefix(k, "STEM_HW_") ||
			k == "HOME" || k == "PATH" || k == "TERM" || k == "NO_COLOR" || strings.HasPrefix(k, "LC_") || k == "LANG" {
			continue
		}
		env = append(env, kv)
	}
	env = append(env,
		"HOME="+home,
		"PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"),
		"TERM=dumb", "LC_ALL=C.UTF-8", "STEM_HW_BOARD=sim",
	)
	return &Runner{Dir: dir, Env: env, Limit: time.Minute}, nil
}

// Run runs a block's steps in order and returns what differs, or nil.
func (r *Runner) Run(ctx context.Context, name string, b Block) error {
	status := 0
	for i, s := range b.Steps {
		out, code, err := r.command(ctx, s.Command, status)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, s.Line, err)
		}
		got := Lines(out)
		want := trimEnd(s.Want)
		if ok, bad := Match(want, got); !ok {
			return fmt.Errorf("%s:%d: $ %s\n%s", name, s.Line, s.Command, report(want, got, bad))
		}
		shown := i+1 < len(b.Steps) && strings.TrimSpace(b.Steps[i+1].Command) == "echo $?"
		if code != 0 && !shown {
			return fmt.Errorf("%s:%d: $ %s\nexits with %d and the document does not show it (add \"$ echo $?\")\noutput:\n  %s",
				name, s.Line, s.Command, code, strings.Join(got, "\n  "))
		}
		status = code
	}
	return nil
}

// command runs one command after one that ended with status.
func (r *Runner) command(ctx context.Context, command string, status int) (out string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	script := fmt.Sprintf("(exit %d)\n%s", status, command)
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = r.Dir
	cmd.Env = append(r.Env, "PWD="+r.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	b, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", 0, fmt.Errorf("$ %s\ndid not end within %s; output so far:\n%s", command, r.Limit, b)
	}
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		return string(b), ee.ExitCode(), nil
	}
	return string(b), 0, err
}

func trimEnd(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func report(want, got []string, bad int) string {
	var b strings.Builder
	if bad < len(want) {
		fmt.Fprintf(&b, "the document's line %q does not come out; shown:\n", want[bad])
	} else {
		b.WriteString("more comes out than the document shows; shown:\n")
	}
	for _, l := range want {
		b.WriteString("  " + l + "\n")
	}
	b.WriteString("came out:\n")
	for _, l := range got {
		b.WriteString("  " + l + "\n")
	}
	return b.String()
}
