package examples_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/built"
	"github.com/stem-hw/stem-hw/internal/docs/replay"
)

func TestMain(m *testing.M) { os.Exit(built.Main(m)) }

// result is how a run ended.
type result struct {
	stdout, stderr string
	status         int
}

// run runs an example on a simulated board of its own.
func run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.Command(built.StemHW(t), append([]string{"run", "-b", "sim", "--timeout", "10m"}, args...)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "NO_COLOR=1")
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// examples are all of them: what they print, and how they end. "…" stands for
// any text, as in the documents.
var examples = []struct {
	name   string
	stdin  string
	args   []string
	status int
	stdout string
	stderr string
}{
	{name: "hello", stdout: `Hello from a Pico 2!
  chip    RP2350, revision 2, part 0004
  core 0  Hazard3 RISC-V at 150 MHz
  core 1  is up and counts primes
  250 ms  LED on   168 primes below 1000
  500 ms  LED off  303 primes below 2000
  750 ms  LED on   430 primes below 3000
  1000 ms  LED off  550 primes below 4000
Goodbye.`},
	{name: "debugme", args: []string{"--cycles", "50000000"}, stdout: `patched: 42
depth: 15`},
	{name: "tasks", stdout: "6 tasks"},
	{name: "usbecho", stdout: "usbecho: a serial port over USB"},
	{name: "blink", args: []string{"--cycles", "400000000"}, stdout: `LED on
LED off
LED on
LED off
LED on
LED off`},
	{name: "timer", stdout: `slept 5 ms: yes
one-shot alarm fired
late alarm fired
10 beats, 9 intervals of 10 ms: no drift
machine timer ticked 5 times`},
	{name: "irq", stdout: `the most urgent first:   .cCbBaA
C comes in while A runs: acCA
A waits until C is done: cCaA
software interrupt:      s
rising edges of a pin:   1p2p3p`},
	{name: "multicore", stdout: `core 1 answers 2 5 10 17 26
doorbells: 50 rung, 50 answered
atomic counter: 2000
locked counter: 2000`},
	{name: "flash", stdout: `erased: all ones
programmed: one page, the rest untouched
programmed again: zeros stay zeros
erased again: all ones
this program has run 1 times on this board`},
	{name: "watchdog", stdout: `power-up, reason 0
fed for 100 ms, now it starves
boot 2 after the watchdog, reason 1
fed for 100 ms, now it starves
boot 3 after the watchdog, reason 1
enough`},
	{name: "ram", stdout: `main is at 0x2000…: RAM
data 42, bss 0
written code: 42 43`},
	{name: "zcmp", stdout: `mix 0958d56d
ackermann(2, 9) = 21
-8 -3 0 1 5 7 12`},
	{name: "crash", status: 20, stdout: `walking a list that does not end`, stderr: `…
error: the program crashed: load access fault at 0xa5a5a5a0      [firmware-crash]
  core 0 at 0x1000… in sum_list, crash.c:21
…
  #0  0x1000…  sum_list+…  crash.c:21
  #1  0x1000…  report+…  crash.c:29
  #2  0x1000…  main+…  crash.c:38
…`},
	{name: "semihost", status: 20, stdout: `written by semihosting
one at a time
the clock of the host does not run backwards`, stderr: `…
error: the program ended with status 3                           [firmware-failed]
…`},
	{name: "semihost", args: []string{"--exit-status"}, status: 3, stdout: "written by semihosting\n…"},
	{name: "echo", stdin: "hello\nworld\n\n", stdout: `type something; an empty line ends
HELLO
WORLD
bye`},
	{name: "asleep", stdout: "good night", stderr: "…"},
}

func TestExamples(t *testing.T) {
	for _, e := range examples {
		t.Run(strings.Join(append([]string{e.name}, e.args...), "_"), func(t *testing.T) {
			t.Parallel()
			r := run(t, e.stdin, append(e.args, filepath.Join(e.name, e.name+".elf"))...)
			if r.status != e.status {
				t.Errorf("status %d, want %d", r.status, e.status)
			}
			if ok, _ := replay.Match(replay.Lines(e.stdout), replay.Lines(r.stdout)); !ok {
				t.Errorf("standard output:\n%s\nwant:\n%s", r.stdout, e.stdout)
			}
			if e.stderr == "" {
				e.stderr = "…"
			}
			if ok, _ := replay.Match(replay.Lines(e.stderr), replay.Lines(r.stderr)); !ok {
				t.Errorf("standard error:\n%s\nwant:\n%s", r.stderr, e.stderr)
			}
			if t.Failed() {
				t.Logf("standard error:\n%s", r.stderr)
			}
		})
	}
}

// TestEveryExampleIsTested compares the folders with the table above.
func TestEveryExampleIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, e := range examples {
		tested[e.name] = true
	}
	for _, e := range peripherals {
		tested[e.name] = true
	}
	elfs, err := filepath.Glob("*/*.elf")
	if err != nil {
		t.Fatal(err)
	}
	if len(elfs) < 10 {
		t.Fatalf("only %d ELF files", len(elfs))
	}
	for _, elf := range elfs {
		if name := filepath.Dir(elf); !tested[name] {
			t.Errorf("%s is not tested", elf)
		}
	}
}

// TestPrebuiltFilesAreClean looks for what a prebuilt file must not contain:
// folders of the machine it was built on.
func TestPrebuiltFilesAreClean(t *testing.T) {
	elfs, err := filepath.Glob("*/*.elf")
	if err != nil {
		t.Fatal(err)
	}
	for _, elf := range elfs {
		b, err := os.ReadFile(elf)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"/home/", "/root/", "/usr/", "/tmp/"} {
			if bytes.Contains(b, []byte(bad)) {
				t.Errorf("%s contains %q", elf, bad)
			}
		}
		if len(b) > 64<<10 {
			t.Errorf("%s has %d bytes", elf, len(b))
		}
	}
}

// TestDeterministic runs the example with the most traffic between the cores
// twice: every count must be the same.
func TestDeterministic(t *testing.T) {
	a := run(t, "", "-v", "multicore/multicore.elf")
	b := run(t, "", "-v", "multicore/multicore.elf")
	if a.status != 0 || a.stdout != b.stdout || counts(a.stderr) == "" || counts(a.stderr) != counts(b.stderr) {
		t.Errorf("two runs differ:\n%s%s\n%s%s", a.stdout, a.stderr, b.stdout, b.stderr)
	}
}

// counts keeps the lines of -v that count instructions and cycles.
func counts(stderr string) string {
	var keep []string
	for _, l := range strings.Split(stderr, "\n") {
		if strings.Contains(l, "instructions") || strings.Contains(l, "cycles") {
			keep = append(keep, l)
		}
	}
	return strings.Join(keep, "\n")
}
