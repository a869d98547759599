//go:build peers || judges

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/ui"
)

// step is a command line, its exit status, and what it says.
type step struct {
	status int
	want   string
	args   []string
}

// openocdVerbs are all verbs through OpenOCD on one board, in order.
func openocdVerbs(t *testing.T, arch string) []step {
	t.Helper()
	file := func(name string) string { return "../../examples/" + name }
	// One that ends by itself, one that runs for ever, and one that ends by semihosting.
	program, other, calls, ends, says := "hello/hello.elf", "blink/blink.elf", file("semihost/semihost.elf"), 3, "status 3"
	if arch == "arm" {
		program, other, ends, says = "arm/hello/hello.elf", "arm/uart/uart.elf", 0, "hello from Arm"
		calls = filepath.Join(t.TempDir(), "calls.bin")
		if err := os.WriteFile(calls, armProgram(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failed := 20
	if ends == 0 {
		failed = 0
	}
	return []step{
		{0, `"arch"`, []string{"info", "--json"}},
		{0, "to be written", []string{"flash", "--dry-run", file(program)}},
		{0, "verified, started", []string{"flash", file(program)}},
		{0, "was there already", []string{"flash", file(program)}},
		{0, "holds", []string{"verify", file(program)}},
		{9, "does not hold this image", []string{"verify", file(other)}},
		{0, "bytes saved", []string{"save", "--range", "0+8k", filepath.Join(t.TempDir(), "x.bin")}},
		{failed, says, []string{"run", calls}},
		{ends, "", []string{"run", "--exit-status", calls}},
		{124, "did not come", []string{"run", file(other), "--timeout", "1s", "--expect-text", "never"}},
		{0, "$1 = 1", []string{"debug", file(program), "--batch", "--ex", "break main", "--ex", "stepi", "--ex", "print $pc > 0x10000000"}},
		{0, "1 sector erased", []string{"erase", "1M+4k", "--yes"}},
		{0, "halted", []string{"reset", "--arch", arch, "--halt"}},
		{0, "halted", []string{"reset", "--halt"}},
		{0, "running", []string{"reset"}},
		{0, "no RTT control block", []string{"console", "--rtt", "--timeout", "2s"}},
		{7, "no such file", []string{"flash", "nowhere.elf"}},
	}
}

// doVerbs does them with the OpenOCD at a path.
func doVerbs(t *testing.T, openocd, probe string, steps []step) {
	t.Helper()
	for _, c := range steps {
		args := append([]string{c.args[0], "--via", "openocd", "--probe", probe, "--non-interactive"}, c.args[1:]...)
		status, said := saysWith(t, openocd, args...)
		if status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%q: exit status %d, want %d and %q:\n%s", args, status, c.status, c.want, said)
		}
	}
}

// saysWith is says with an OpenOCD that is named.
func saysWith(t *testing.T, openocd string, args ...string) (int, string) {
	t.Helper()
	home := t.TempDir()
	var out bytes.Buffer
	st := execute(args, func(name string) string {
		switch name {
		case "HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR":
			return home
		case "OPENOCD":
			return openocd
		}
		return ""
	}, ui.Streams{Out: &out, Err: &out})
	return int(st), out.String()
}
