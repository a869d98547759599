package examples_test

import (
	"strings"
	"testing"
)

// TestArm runs the program for the Cortex-M33 cores: from reset to main as the
// pico-sdk's start-up does it, then an alarm, the coprocessors, both cores.
func TestArm(t *testing.T) {
	const want = `Hello from a Cortex-M33
  the redundancy coprocessor has its salt
  100 ms  LED on
  200 ms  LED off
  300 ms  LED on
  core 1 says 25
`
	r := run(t, "", "arm/hello/hello.elf")
	if r.status != 0 || strings.ReplaceAll(r.stdout, "\r\n", "\n") != want {
		t.Errorf("status %d, stdout:\n%s\nstderr:\n%s", r.status, r.stdout, r.stderr)
	}
}
