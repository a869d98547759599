package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/ui"
)

// says runs a command line and returns its exit status and all it says.
func says(t *testing.T, args ...string) (int, string) {
	t.Helper()
	home := t.TempDir()
	var out bytes.Buffer
	st := execute(args, func(name string) string {
		switch name {
		case "HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR":
			return home
		}
		return ""
	}, ui.Streams{Out: &out, Err: &out})
	return int(st), out.String()
}

// TestProbeVerbs does every verb through a probe over TCP.
func TestProbeVerbs(t *testing.T) {
	const examples = "../../examples/"
	r := probed.New(t, probed.Board{Arch: image.ArchARM})
	at := "tcp:" + r.Listen()
	recording := filepath.Join(t.TempDir(), "packets")
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{0, "RP2350 A2, id 7A3C51E80B29D4F6", []string{"info"}},
		{0, "1 of 1 sector to be written", []string{"flash", "--dry-run", examples + "hello/hello.elf"}},
		{0, "written, 0 unchanged, verified, started", []string{"flash", examples + "hello/hello.elf", "--dap-record", recording}},
		{0, "was there already", []string{"flash", examples + "hello/hello.elf"}},
		{0, `"schema": "stem-hw/flash/1"`, []string{"flash", "--full", examples + "hello/hello.elf", "--json"}},
		{0, "holds hello.elf", []string{"verify", examples + "hello/hello.elf"}},
		{9, "does not hold this image", []string{"verify", examples + "timer/timer.elf"}},
		{0, "bytes saved", []string{"save", filepath.Join(t.TempDir(), "x.uf2")}},
		{0, "riscv", []string{"info", "--json"}},
		{20, "the program ended with status 3", []string{"run", examples + "semihost/semihost.elf"}},
		{3, "one at a time", []string{"run", "--exit-status", examples + "semihost/semihost.elf"}},
		{20, "in sum_list, crash.c:21", []string{"run", examples + "crash/crash.elf"}},
		{124, "did not come", []string{"run", examples + "asleep/asleep.elf", "--timeout", "300ms", "--expect-text", "never"}},
		{2, "is for simulated boards", []string{"run", "--cycles", "7", examples + "hello/hello.elf"}},
		{13, "was not confirmed", []string{"erase", "1M+4k"}},
		{0, "1 sector erased", []string{"erase", "1M+4k", "--yes"}},
		{0, "halted", []string{"reset", "--halt"}},
		{0, "bootsel", []string{"reset", "--bootsel"}},
		{0, "halted", []string{"reset", "--rescue"}},
		{0, "halted", []string{"reset", "--arch", "arm", "--halt"}},
		{2, "exclude each other", []string{"reset", "--rescue", "--bootsel"}},
		{0, "running", []string{"reset"}},
		{0, "no RTT control block", []string{"console", "--rtt", "--timeout", "100ms"}},
		{2, "needs --rtt", []string{"console"}},
		{0, "dap: > info f0", []string{"info", "--log", "dap"}},
		{7, "no such file", []string{"flash", "nowhere.elf"}},
	} {
		args := append(append([]string{c.args[0], "--probe", at}, c.args[1:]...), "--non-interactive")
		status, said := says(t, args...)
		if status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%q: exit status %d, want %d and %q:\n%s", args, status, c.status, c.want, said)
		}
	}
	if data, err := os.ReadFile(recording); err != nil || !bytes.HasPrefix(data, []byte("stem-hw/dap-recording/1\n> 00f0\n")) {
		t.Errorf("the recording begins with %.60q, %v", data, err)
	}
	if !strings.Contains(r.Printed(), "Hello from a Pico 2!") {
		t.Errorf("the program never printed; %q", r.Printed())
	}
}

// TestProbeFaults: no failure is exit status 0.
func TestProbeFaults(t *testing.T) {
	dead := probed.New(t, probed.Board{Trouble: debugport.Trouble{Line: debugport.LineHigh}})
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{10, "no chip answers it", []string{"info", "--probe", "tcp:" + dead.Listen()}},
		{10, "no debug probe at", []string{"flash", "--probe", "tcp:127.0.0.1:1", "../../examples/hello/hello.elf"}},
		{2, "needs an address", []string{"flash", "--probe", "tcp:x", "../../examples/hello/hello.elf"}},
		{2, "not reached through a probe", []string{"info", "-b", "sim", "--via", "probe"}},
		{3, "no board matches", []string{"info", "--probe", "E661"}},
	} {
		if status, said := says(t, c.args...); status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%q: exit status %d, want %d and %q:\n%s", c.args, status, c.status, c.want, said)
		}
	}
}

// TestRollback refuses an image that burns fuses before anything is opened.
func TestRollback(t *testing.T) {
	words := []uint32{
		0x20082000, 0x10000101, // vectors
		0xffffded3, 0x10210142, // an executable for Arm
		0x01000348, 1 << 16, 0x00500002, // version 1.0, rollback 2, its row
		0x000004ff, 0, 0xab123579,
	}
	data := make([]byte, 512)
	for i, w := range words {
		binary.LittleEndian.PutUint32(data[4*i:], w)
	}
	path := filepath.Join(t.TempDir(), "burns.bin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, said := says(t, "flash", "--probe", "tcp:127.0.0.1:1", path); status != 13 || !strings.Contains(said, "--allow-rollback") {
		t.Errorf("exit status %d: %s", status, said)
	}
	if status, said := says(t, "flash", "--allow-rollback", "--probe", "tcp:127.0.0.1:1", path); status != 10 || !strings.Contains(said, "no debug probe") {
		t.Errorf("exit status %d: %s", status, said)
	}
}
