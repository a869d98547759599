//go:build peers

package debugport_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// stock runs Debian's OpenOCD against a board over JTAG.
func stock(t *testing.T, script string, args ...string) string {
	t.Helper()
	host, port := board(t, "jtag-bitbang", args...)
	return openocd(t, "openocd", "-f", config(t, jtagConfig, host, port), "-c", script)
}

func TestPeerOpenOCDExamine(t *testing.T) {
	out := stock(t, "init; shutdown", example(t, "blink"))
	for _, want := range []string{"hart 0: XLEN=32, misa=0x40901105", "hart 1: XLEN=32, misa=0x40901105", "datacount=1 progbufsize=2"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// A loop in SRAM on both harts: a0 and a1 count.
const loop = `
write_memory 0x20040000 32 {0x00150513 0x00158593 0xff9ff06f 0x00150513 0x00158593 0xff9ff06f}
foreach {hart pc} {rp2350.rv0 0x20040000 rp2350.rv1 0x2004000c} {
	targets $hart
	set_reg [list pc $pc a0 0 a1 0]
}
targets rp2350.rv0
`

func TestPeerOpenOCDRunControl(t *testing.T) {
	out := stock(t, `init; halt;`+loop+`
want "pc of hart 0" [value pc] 0x20040000
targets rp2350.rv1
want "mhartid of hart 1" [value mhartid] 0x1
want "pc of hart 1" [value pc] 0x2004000c
targets rp2350.rv0
step
want "pc after a step" [value pc] 0x20040004
want "a0 after a step" [value a0] 0x1
step
step
want "pc after the jump" [value pc] 0x20040000
bp 0x20040004 4 hw
resume; wait_halt 2000
want "hardware breakpoint" [value pc] 0x20040004
want "a0 there" [value a0] 0x2
rbp all
bp 0x20040008 4
want "software breakpoint in memory" [read_memory 0x20040008 32 1] 0x100073
resume; wait_halt 2000
want "software breakpoint" [value pc] 0x20040008
rbp all
want "the instruction is back" [read_memory 0x20040008 32 1] 0xff9ff06f
set before [value a0]
resume
sleep 50
halt; wait_halt 2000
want "it ran" [expr {[value a0] > $before}] 1
targets rp2350.rv1
want "hart 1 ran" [expr {[value a0] > 0}] 1
shutdown`, example(t, "blink"))
	judge(t, out, 13)
}

func TestPeerOpenOCDMemory(t *testing.T) {
	for _, way := range []string{"progbuf", "sysbus"} {
		out := stock(t, `init; riscv set_mem_access `+way+`; halt
write_memory 0x20040000 32 {0x44332211 0x88776655}
want bytes [read_memory 0x20040000 8 8] "0x11 0x22 0x33 0x44 0x55 0x66 0x77 0x88"
want halfwords [read_memory 0x20040002 16 2] "0x4433 0x6655"
write_memory 0x20040001 8 {0xaa}
write_memory 0x20040006 16 {0xbbcc}
want words [read_memory 0x20040000 32 2] "0x4433aa11 0xbbcc6655"
want "chip identification" [read_memory 0x40000000 32 1] 0x20004927
want "a fault" [catch {read_memory 0x90000000 32 1}] 1
want "and no fault afterwards" [read_memory 0x20040000 32 1] 0x4433aa11
dump_image data.bin 0x10000000 2000
load_image data.bin 0x20041000 bin
want "an image" [catch {verify_image data.bin 0x20041000 bin}] 0
shutdown`, example(t, "blink"))
		judge(t, out, 7)
	}
}

func TestPeerOpenOCDResetHalt(t *testing.T) {
	out := stock(t, `init; reset halt
want "reset vector" [value pc] 0x7dfc
targets rp2350.rv1
want "reset vector of hart 1" [value pc] 0x7dfc
targets rp2350.rv0
resume
sleep 100
halt
want "the program runs again" [expr {[value pc] >= 0x10000000}] 1
shutdown`, example(t, "blink"))
	judge(t, out, 3)
}

// gdb through OpenOCD's port, which here is a pipe.
func TestPeerGDBThroughOpenOCD(t *testing.T) {
	if _, err := exec.LookPath("gdb-multiarch"); err != nil {
		t.Skip("gdb-multiarch is not installed (scripts/setup peers)")
	}
	program := example(t, "blink")
	host, port := board(t, "jtag-bitbang", program)
	cfg := config(t, strings.Replace(jtagConfig, "gdb_port disabled", "gdb_port pipe; log_output openocd.log", 1)+
		"rp2350.rv1 configure -gdb-port disabled\ninit\nhalt\n", host, port)
	out := openocd(t, "gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set osabi none", "-ex", "set remotetimeout 60",
		"-ex", fmt.Sprintf("target extended-remote | openocd -f %s", cfg),
		"-ex", "info threads", "-ex", "hbreak main", "-ex", "monitor reset halt", "-ex", "continue", "-ex", "stepi",
		"-ex", "print $pc == (long) main", "-ex", "x/2i $pc", "-ex", "hbreak print", "-ex", "continue", "-ex", "backtrace", "-ex", "set var $a0=7",
		"-ex", "print $a0", "-ex", "disconnect", program)
	for _, want := range []string{
		"2    Thread", "Hardware assisted breakpoint 1 at", "Breakpoint 1, main ()", "Breakpoint 2, print (", "#1 ", "$1 = 0", "$2 = 7",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// What OpenOCD says of each fault that a board can have over JTAG.
func TestPeerOpenOCDTroubles(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--arch", "arm"}, "Fatal: Hart 0 failed to halt during examine()"},
		{[]string{"--arch", "riscv", "--trouble", "dead"}, "JTAG scan chain interrogation failed: all ones"},
		{[]string{"--arch", "riscv", "--trouble", "no-power"}, "JTAG scan chain interrogation failed: all zeroes"},
		{[]string{"--arch", "riscv", "--trouble", "floating"}, "IR capture error"},
		{[]string{"--arch", "riscv", "--trouble", "locked"}, "Debug Module did not become active"},
		{[]string{"--arch", "riscv", "--trouble", "vanish"}, "remote_bitbang"},
	} {
		out := stock(t, "init; halt; dump_image x.bin 0x20000000 0x10000; echo DONE; shutdown", c.args...)
		if !strings.Contains(out, c.want) || strings.Contains(out, "DONE") {
			t.Errorf("%v: %q is not said:\n%s", c.args, c.want, out)
		}
	}
}
