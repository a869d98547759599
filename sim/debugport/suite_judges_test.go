//go:build judges

package debugport_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stem-hw/stem-hw/internal/built"
)

// inapplicable are the tests of riscv-tests' debug suite that say nothing about
// this chip, and why. Any other test that does not pass is a failure.
var inapplicable = map[string]string{
	"CeaseStepiTest":          "no cease instruction",
	"CustomRegisterTest":      "spike's own debug registers",
	"EtriggerTest":            "no exception triggers",
	"FreeRtosTest":            "a FreeRTOS of spike's",
	"IcountTest":              "no instruction count triggers",
	"InterruptTest":           "the SIO's timer is not laid out as a CLINT",
	"ItriggerTest":            "no interrupt triggers",
	"Mcontrol6Test":           "no triggers of type 6",
	"McontrolTest":            "triggers match execution alone, not loads and stores",
	"MemTestBlockReadInvalid": "reads of nothing fault, and do not give zeros",
	"ProgramHwWatchpoint":     "no data watchpoints",
	"RepeatReadTest":          "the SIO's timer is not laid out as a CLINT",
	"Sv32Test":                "no virtual memory", "Sv39Test": "no virtual memory", "Sv48Test": "no virtual memory",
	"TriggerLoadAddressInstant":  "no data watchpoints",
	"TriggerStoreAddressInstant": "no data watchpoints",
	"UnavailableCycleTest":       "spike's control of availability", "UnavailableHaltedTest": "spike's control of availability",
	"UnavailableMultiTest": "spike's control of availability", "UnavailableRunTest": "spike's control of availability",
	"VectorTest":        "no vectors",
	"SemihostingFileio": "the suite leaves it out with several harts",
}

// Tests that need harts each with a gdb, or as threads of one; the others are run
// on the first kind.
var (
	apart    = []string{"MulticoreRegTest", "MulticoreRunAllHaltOne"}
	together = []string{"MulticoreRtosSwitchActiveHartTest", "SmpSimultaneousRunHalt", "StepThread2Test"}
)

var suiteResult = regexp.MustCompile(`(?m)^\[(\w+)\] (pass|fail|exception|not_applicable) in ([0-9.]+)s`)

// TestJudgesSuite lets riscv-tests' debug suite ($SUITE is the clone) judge both
// harts through the first OpenOCD of $OPENOCD and gdb, and prints a table.
func TestJudgesSuite(t *testing.T) {
	suite := os.Getenv("SUITE")
	if suite == "" {
		t.Skip("no suite was given: make judges SUITE=/path/to/riscv-tests")
	}
	for _, f := range []string{"debug/gdbserver.py", "env/encoding.h"} {
		if _, err := os.Stat(filepath.Join(suite, f)); err != nil {
			t.Fatalf("%s is not riscv-tests with its submodules: %v", suite, err)
		}
	}
	program := "openocd"
	if f := strings.Fields(os.Getenv("OPENOCD")); len(f) > 0 {
		program = f[0]
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "test\tharts\tresult\treason")
	for _, harts := range []string{"apart", "together"} {
		suiteRun(t, table, suite, program, harts)
	}
	_ = table.Flush()
}

// suiteRun runs the suite with the harts apart or together.
func suiteRun(t *testing.T, table *tabwriter.Writer, suite, program, harts string) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	target, only := "rp2350.py", strings.Fields(os.Getenv("SUITETESTS"))
	if harts == "together" {
		target = "rp2350_smp.py"
		if len(only) == 0 {
			only = together
		}
	}
	dir := t.TempDir() // the suite writes programs and logs where it runs
	args := []string{
		filepath.Join(suite, "debug", "gdbserver.py"), "--server_cmd", program + compatible(t, program),
		"--gdb", "gdb-multiarch -iex 'set osabi none'", "--target-timeout", "60", "--logs", filepath.Join(dir, "logs"), "--print-failures",
		filepath.Join(here, "testdata", "riscvtests", target),
	}
	out, err := gdbserver(t, suite, append(args, only...))
	results := suiteResult.FindAllStringSubmatch(out, -1)
	if len(results) == 0 {
		t.Fatalf("the suite says nothing (it needs python3-pexpect, python3-yaml, netcat, gdb-multiarch, gcc-riscv64-unknown-elf and "+
			"picolibc-riscv64-unknown-elf): %v\n%s", err, out)
	}
	bad := false
	for _, r := range results {
		name, result, reason := r[1], r[2], ""
		switch {
		case result == "pass":
		case result != "not_applicable":
			// The suite watches terminals, and misses something on a busy host. What
			// fails twice fails.
			again, _ := gdbserver(t, suite, append(args, name))
			if strings.Contains(again, "["+name+"] pass") {
				result, reason = "pass", "the second time"
			} else {
				bad = true
			}
		case harts == "apart" && slices.Contains(together, name), harts == "together" && slices.Contains(apart, name):
			continue // it has its turn
		default:
			if reason = inapplicable[name]; reason == "" {
				reason, bad = "not expected to be skipped", true
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, harts, strings.ReplaceAll(result, "_", " "), reason)
	}
	if bad {
		t.Errorf("riscv-tests, harts %s:\n%s", harts, out)
	}
	fmt.Printf("harts %s: %d tests\n", harts, len(results))
}

// gdbserver runs the suite's program.
func gdbserver(t *testing.T, suite string, args []string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", args...)
	cmd.Dir = filepath.Join(suite, "debug")
	cmd.Env = append(os.Environ(), "STEM_HW="+built.StemHW(t), "PYTHONDONTWRITEBYTECODE=1", "TERM=dumb")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// compatible are words with which OpenOCD 0.12.0 understands the commands of its
// successors that the suite uses.
func compatible(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command(program, "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	if !regexp.MustCompile(`Debugger 0\.1[0-2]\.[0-9]+\s`).Match(append(out, '\n')) {
		return ""
	}
	return ` -c "proc gdb {what args} {gdb_\$what {*}\$args}; proc tcl {what args} {tcl_\$what {*}\$args}; proc telnet {what args} {telnet_\$what {*}\$args}"`
}
