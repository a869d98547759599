//go:build rig

package debugport_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// armConfig lets a stock OpenOCD, which does not know the chip, reach both
// Cortex-M33s through a probe on the USB.
const armConfig = `
gdb_port disabled
tcl_port disabled
telnet_port disabled
adapter driver cmsis-dap
cmsis_dap_backend BACKEND
adapter serial SERIAL
transport select swd
adapter speed 5000
swd newdap rp2350 cpu -expected-id 0x4c013477
dap create rp2350.dap -adiv6 -chain-position rp2350.cpu
target create rp2350.cm0 cortex_m -dap rp2350.dap -ap-num 0x2000
target create rp2350.cm1 cortex_m -dap rp2350.dap -ap-num 0x4000
proc want {name got value} {
	if {$got ne $value} { echo "MISMATCH $name: $got, want $value" } else { echo "OK $name" }
}
proc value {reg} { return [format 0x%x [lindex [get_reg -force $reg] 1]] }
`

// Core 0 runs the counting program; core 1, which waits in the boot ROM, is
// given a loop in SRAM. Its MPU lets it execute nothing else there.
const armScript = `init
targets rp2350.cm0
halt
want "core 0 counts" [expr {[value pc] >= 0x10000008 && [value pc] < 0x10000014}] 1
bp 0x1000000e 2 hw
resume
wait_halt 20000
want "a breakpoint in flash" [value pc] 0x1000000e
set n [value r0]
step
want "pc behind a step" [value pc] 0x10000010
want "what it counted" [read_memory 0x20030000 32 1] $n
rbp all
targets rp2350.cm1
halt
write_memory 0xe000ed94 32 0
write_memory 0x20040000 32 {0x31013001 0xbf00e7fc}
set_reg {r0 0 r1 0 pc 0x20040000}
step
step
want "core 1 stepped" [value pc] 0x20040004
want "r0 of core 1" [value r0] 0x1
want "r1 of core 1" [value r1] 0x1
bp 0x20040002 2
resume
wait_halt 20000
want "a breakpoint in RAM" [value pc] 0x20040002
want "core 1 went round" [value r0] 0x2
rbp all
targets rp2350.cm0
want "core 0 waited meanwhile" [read_memory 0x20030000 32 1] $n
resume
targets rp2350.cm1
resume
sleep 100
targets rp2350.cm0
halt
want "core 0 goes on" [expr {[read_memory 0x20030000 32 1] > $n}] 1
shutdown`

const armChecks = 11

// probed is a board with a program, whose probe is plugged in.
func probed(t *testing.T, b rig.Board) *rig.Handle {
	t.Helper()
	b.Probe = true
	h := rig.NewBoard(t, b)
	h.PlugProbe(2)
	h.Power(true)
	return h
}

func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// stockOpenOCD runs the machine's OpenOCD, of Debian, over the probe.
func stockOpenOCD(t *testing.T, h *rig.Handle, backend, script string) string {
	t.Helper()
	cfg := strings.NewReplacer("BACKEND", backend, "SERIAL", h.ProbeSerial).Replace(armConfig)
	return rig.Try(t, "openocd", "-f", file(t, "board.cfg", []byte(cfg)), "-c", script).All()
}

func TestRigOpenOCD(t *testing.T) {
	for version, backend := range map[string]string{"v2": "usb_bulk", "v1": "hid"} {
		t.Run(version, func(t *testing.T) {
			h := probed(t, rig.Board{Flash: counting("arm"), ProbeDAP: version})
			out := stockOpenOCD(t, h, backend, armScript)
			if n := strings.Count("\n"+out, "\nOK "); n != armChecks || strings.Contains(out, "MISMATCH") {
				t.Errorf("%d of %d comparisons came out right:\n%s", n, armChecks, out)
			}
			if !strings.Contains(out, "SWD DPIDR 0x4c013477") || !strings.Contains(out, "CMSIS-DAP: FW Version = 2.0.0") {
				t.Errorf("not what the probe says:\n%s", out)
			}
		})
	}
}

// pyocdMain is pyOCD in a system that has no loader cache: Python is told where
// libusb is.
const pyocdMain = `
import ctypes.util, sys
find = ctypes.util.find_library
ctypes.util.find_library = lambda name: "libusb-1.0.so.0" if "usb-1.0" in name else find(name)
from pyocd.__main__ import main
sys.exit(main())
`

// pyOCD runs the later machine's pyOCD, which knows the chip.
func pyOCD(t *testing.T, h *rig.Handle, args ...string) string {
	t.Helper()
	line := rig.Later("python3", append([]string{"-c", pyocdMain, args[0], "-t", "rp2350", "-W", "-u", h.ProbeSerial}, args[1:]...)...)
	return rig.Try(t, line[0], line[1:]...).All()
}

func TestRigPyOCD(t *testing.T) {
	for _, version := range []string{"v2", "v1"} {
		t.Run(version, func(t *testing.T) {
			h := probed(t, rig.Board{ProbeDAP: version})
			image := counting("arm")
			out := pyOCD(t, h, "flash", "--base-address", "0x10000000", file(t, "counting.bin", image))
			if got := h.Flash(0, len(image)); !bytes.Equal(got, image) || !strings.Contains(out, "programmed") {
				t.Fatalf("the flash holds % x:\n%s", got, out)
			}
			out = pyOCD(t, h, "cmd",
				"-c", "reset", "-c", "sleep 200", "-c", "halt", "-c", "reg pc", "-c", "break 0x1000000e", "-c", "continue",
				"-c", "sleep 500", "-c", "status", "-c", "reg pc", "-c", "rmbreak 0x1000000e", "-c", "step", "-c", "reg pc",
				"-c", "core 1", "-c", "halt", "-c", "write32 0xe000ed94 0", "-c", "write32 0x20040000 0x31013001 0xbf00e7fc",
				"-c", "wreg pc 0x20040000", "-c", "wreg r0 0", "-c", "wreg r1 0", "-c", "wreg xpsr 0x01000000",
				"-c", "step", "-c", "step", "-c", "reg pc", "-c", "break 0x20040002", "-c", "continue", "-c", "sleep 500",
				"-c", "reg pc", "-c", "reg r0")
			for _, want := range []string{
				"Core 0 (None):  Halted", "pc = 0x1000000e", "pc = 0x10000010",
				"pc = 0x20040004", "pc = 0x20040002", "r0 = 0x00000002",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing:\n%s", want, out)
				}
			}
		})
	}
}

// What a stock OpenOCD says of each trouble over SWD.
func TestRigOpenOCDTroubles(t *testing.T) {
	locked := func(crit1 uint32) map[int]uint32 { // eight copies of CRIT1
		rows := map[int]uint32{}
		for i := range 8 {
			rows[0x40+i] = crit1
		}
		return rows
	}
	trouble := func(name string) rig.Board { return rig.Board{Trouble: []string{name}} }
	for name, c := range map[string]struct {
		board rig.Board
		want  []string
	}{
		"dead":          {trouble("dead"), []string{"Error connecting DP: cannot read IDR"}},
		"no-power":      {trouble("no-power"), []string{"Error connecting DP: cannot read IDR"}},
		"floating":      {trouble("floating"), []string{"Error connecting DP: cannot read IDR", "UNEXPECTED idcode", "SWD DPIDR 0x"}},
		"wrong-chip":    {trouble("wrong-chip"), []string{"SWD DPIDR 0x0bc12477"}},
		"wait":          {trouble("wait"), []string{"xamination failed", "not examined"}},
		"memory-faults": {trouble("memory-faults"), []string{"Failed to read memory at 0xe000ed0"}},
		"locked":        {rig.Board{OTP: locked(1 << 2)}, []string{"Failed to read memory at 0xe000ed0"}},
		"secure-locked": {rig.Board{OTP: locked(1 << 1)}, []string{"Failed to read memory at 0xe000ed0"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.board.Flash = counting("arm")
			h := probed(t, c.board)
			out := stockOpenOCD(t, h, "usb_bulk", "init; halt; read_memory 0x20000000 32 4; echo DONE; shutdown")
			found := false
			for _, want := range c.want {
				found = found || strings.Contains(out, want)
			}
			if !found || strings.Contains(out, "DONE") && name != "wrong-chip" { // of which it tells, and goes on
				t.Errorf("%q is not said:\n%s", c.want, out)
			}
			t.Log(out)
		})
	}
}
