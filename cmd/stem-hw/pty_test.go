package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what is written to host is typed.
type terminal struct {
	host, tty *os.File

	mu     sync.Mutex
	shown  strings.Builder
	arrive chan struct{}
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	host, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	n, err := unix.IoctlGetInt(int(host.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(host.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	term := &terminal{host: host, tty: tty, arrive: make(chan struct{}, 1)}
	t.Cleanup(func() { host.Close(); tty.Close() })
	go func() {
		p := make([]byte, 1024)
		for {
			k, err := host.Read(p)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.shown.Write(p[:k])
			term.mu.Unlock()
			select {
			case term.arrive <- struct{}{}:
			default:
			}
		}
	}()
	return term
}

func (c *terminal) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

// until waits for a text on the screen.
func (c *terminal) until(t *testing.T, text string) {
	t.Helper()
	late := time.After(60 * time.Second)
	for !strings.Contains(c.screen(), text) {
		select {
		case <-c.arrive:
		case <-late:
			t.Fatalf("%q is not shown; the screen has %q", text, c.screen())
		}
	}
}

// run starts stem-hw on the terminal, as a shell does.
func (c *terminal) run(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestMainAsProcess$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), "STEM_HW_TEST_MAIN=1", "TERM=xterm", "NO_COLOR=", "XDG_STATE_HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.tty, c.tty, c.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func (c *terminal) settings(t *testing.T) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(c.tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

func TestTerminal(t *testing.T) {
	term := newTerminal(t)
	before := term.settings(t)
	cmd := term.run(t, "run", "testdata/prog/echo.elf")
	term.until(t, "running on a simulated hazard3-tb")
	// Keys arrive one by one and are not echoed: only the program shows them.
	for !strings.Contains(term.screen(), "H") {
		if s := term.settings(t); s.Lflag&(unix.ICANON|unix.ECHO) == 0 {
			if _, err := term.host.WriteString("h"); err != nil {
				t.Fatal(err)
			}
			term.until(t, "H")
		}
	}
	if strings.Contains(strings.TrimPrefix(term.screen(), "running on a simulated hazard3-tb: an ELF file at address 0"), "h") {
		t.Errorf("keys are echoed: %q", term.screen())
	}
	if _, err := term.host.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("ctrl-c: exit status %d, want 130; %q", got, term.screen())
	}
	// The talk behind an unfinished line of output begins a new one, in colour.
	term.until(t, "H\r\n")
	term.until(t, "\x1b[1;31merror:\x1b[0m interrupted")
	if after := term.settings(t); after != before {
		t.Errorf("the terminal is left as %+v, was %+v", after, before)
	}
}
