package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMainAsProcess is not a test: it is stem-hw itself, for tests that need a
// process they can send signals to.
func TestMainAsProcess(*testing.T) {
	if os.Getenv("STEM_HW_TEST_MAIN") == "" {
		return
	}
	for i, a := range os.Args {
		if a == "--" {
			os.Args = append(os.Args[:1], os.Args[i+1:]...)
			break
		}
	}
	main()
}

// process starts stem-hw as a process of its own and reads its output up to the
// line want.
func process(t *testing.T, want string, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestMainAsProcess$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), "STEM_HW_TEST_MAIN=1", "XDG_STATE_HOME="+t.TempDir())
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// An open standard input, so that nothing ends by itself.
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	errs := &strings.Builder{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == want {
			go func() {
				for lines.Scan() {
				}
			}()
			return cmd, errs
		}
	}
	t.Fatalf("%q did not come; standard error: %s", want, errs)
	return nil, nil
}

func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, prog := range []struct{ file, line string }{
			{"testdata/prog/busy.elf", "busy"},
			{"testdata/prog/texts.elf", "behind it"}, // sleeps, waits for input
		} {
			cmd, errs := process(t, prog.line, "run", prog.file)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 130 {
				t.Errorf("%v while %s runs: exit status %d, want 130; %s", sig, prog.file, got, errs)
			}
			if !strings.Contains(errs.String(), "[interrupted]") {
				t.Errorf("%v while %s runs: %q", sig, prog.file, errs)
			}
		}
	}
}
