package main

import (
	"os/exec"
	"syscall"
	"testing"
)

// onTerminal starts stem-hw on a terminal with an environment.
func (c *terminal) onTerminal(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := boardCommand(env, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.tty, c.tty, c.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func (c *terminal) typed(t *testing.T, text string) {
	t.Helper()
	if _, err := c.host.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestConsoleKeys(t *testing.T) {
	env := append(boardEnv(t), "NO_COLOR=1")
	if _, errs, status := stemHW(t, env, "flash", "../../examples/echo/echo.elf"); status != 0 {
		t.Fatal(errs)
	}
	term := newTerminal(t)
	before := term.settings(t)
	cmd := term.onTerminal(t, env, "console", "--log", t.TempDir()+"/log")
	term.until(t, "[attached to sim; ctrl-t ? for help, ctrl-t q to quit]")
	term.until(t, "type something")
	term.typed(t, "one\r")
	term.until(t, "ONE")
	term.typed(t, "\x14?")
	term.until(t, "[ctrl-t: q quit, t timestamps")
	term.typed(t, "\x14x")
	term.until(t, "ctrl-t 'x' means nothing")
	term.typed(t, "\x14t")
	term.until(t, "[timestamps on]")
	term.typed(t, "\x14b")
	term.until(t, "takes no break")
	term.typed(t, "\x14f")
	term.until(t, "log off]")
	term.typed(t, "\x14o")
	term.until(t, "[hexadecimal on]")
	term.typed(t, "two\r")
	term.until(t, "54 57 4f")
	// ctrl-c is a byte for the board, nothing ends.
	term.typed(t, "\x03\x14o")
	term.until(t, "[hexadecimal off]")
	term.typed(t, "\x14r")
	term.until(t, "[reset]")
	term.typed(t, "\x14q")
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit status %d; %q", got, term.screen())
	}
	if after := term.settings(t); after != before {
		t.Errorf("the terminal is left as %+v, was %+v", after, before)
	}
}

func TestEraseAsks(t *testing.T) {
	env := append(boardEnv(t), "NO_COLOR=1")
	if _, errs, status := stemHW(t, env, "flash", "--no-start", timerELF); status != 0 {
		t.Fatal(errs)
	}
	for answer, want := range map[string]int{"\r": 13, "yes\r": 13, "SIM\r": 0, "7a3c51e80b29d4f6\r": 0} {
		term := newTerminal(t)
		cmd := term.onTerminal(t, env, "erase", "--all")
		term.until(t, "Type its name or serial number to go on:")
		term.typed(t, answer)
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%q: exit status %d, want %d; %s", answer, got, want, term.screen())
		}
		if want != 0 {
			term.until(t, "[refused]") // the terminal may be read after the end
		}
	}
}
