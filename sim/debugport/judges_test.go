//go:build judges

package debugport_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
)

// swdConfig reaches the simulated board over SWD with the configuration of the
// RP2350 that an OpenOCD brings.
const swdConfig = `
gdb_port disabled
tcl_port disabled
telnet_port disabled
ADAPTER
transport select swd
adapter speed 5000
set USE_CORE {CORES}
source [find target/rp2350.cfg]
`

var adapters = map[string]string{
	"swd-bitbang": "adapter driver remote_bitbang\nremote_bitbang host HOST\nremote_bitbang port PORT",
	"dap-tcp":     "adapter driver cmsis-dap\ncmsis-dap backend tcp\ncmsis-dap tcp host HOST\ncmsis-dap tcp port PORT",
}

// counting is an image that counts in SRAM, with the block that makes it one of
// its architecture (datasheet 5.9.5).
func counting(arch string) []byte {
	var w []uint32
	switch arch {
	case "arm":
		// Vectors; ldr r1, =0x20030000; l: ldr r0, [r1]; adds r0, #1; str r0, [r1]; b l
		w = []uint32{0x20082000, 0x10000009, 0x68084902, 0x60083001, 0xbf00e7fb, 0x20030000}
		w = append(w, 0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579)
	default:
		// lui a1, 0x20030; l: lw a0, 0(a1); addi a0, a0, 1; sw a0, 0(a1); j l
		w = []uint32{0x200305b7, 0x0005a503, 0x00150513, 0x00a5a023, 0xff5ff06f}
		w = append(w, 0xffffded3, 0x11010142, 0x000001ff, 0, 0xab123579)
	}
	var p []byte
	for _, v := range w {
		p = append(p, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return p
}

// judgements are scripts, each with what must be in what OpenOCD says of it. The
// pauses behind halt let it notice that the other core halted too.
var judgements = []struct{ name, script, want string }{
	{"attach", "init; halt; echo RESULT; shutdown", "RESULT"},
	{"step", `init; halt; FIRST
		write_memory 0x20040000 32 {NOPS}
		set_reg {pc 0x20040000}; step
		echo "PC [format 0x%x [lindex [get_reg -force pc] 1]]"; shutdown`, "PC 0x2004000"},
	{"flash", "init; reset init; flash write_image erase IMAGE 0x10000000; verify_image IMAGE 0x10000000; echo VERIFIED; shutdown", "VERIFIED"},
	{"run", `init; reset run; sleep 300; halt; FIRST; sleep 250
		set a [read_memory 0x20030000 32 1]; resume; sleep 100; halt; FIRST; sleep 250
		echo "RUNS [expr {[read_memory 0x20030000 32 1] > $a && $a > 0}]"; shutdown`, "RUNS 1"},
}

// TestJudges lets each OpenOCD of $OPENOCD (paths, separated by spaces) attach
// to both architectures by every way it knows, flash, verify and run, and prints
// a table.
func TestJudges(t *testing.T) {
	programs := strings.Fields(os.Getenv("OPENOCD"))
	if len(programs) == 0 {
		t.Skip("no OpenOCD was given: make judges OPENOCD=\"/path/to/openocd …\"")
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "openocd\tway\tcores")
	for _, j := range judgements {
		fmt.Fprint(table, "\t", j.name)
	}
	fmt.Fprintln(table)
	for _, program := range programs {
		for _, way := range []string{"swd-bitbang", "dap-tcp"} {
			for _, arch := range []string{"arm", "riscv"} {
				fmt.Fprintf(table, "%s\t%s\t%s", program, way, arch)
				judgeOne(t, table, program, way, arch)
				fmt.Fprintln(table)
			}
		}
	}
	_ = table.Flush()
}

// judgeOne is one row. All judgements are made on one board, in order.
func judgeOne(t *testing.T, table *tabwriter.Writer, program, way, arch string) {
	host, port := board(t, way, "--arch", arch)
	cores, first, nops := "cm0 cm1", "targets rp2350.cm0", "0xbf00bf00 0xbf00bf00"
	if arch == "riscv" {
		cores, first, nops = "rv0 rv1", "targets rp2350.rv0", "0x00000013 0x00000013"
	}
	image := filepath.Join(t.TempDir(), "counting.bin")
	if err := os.WriteFile(image, counting(arch), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, strings.NewReplacer("ADAPTER", adapters[way], "CORES", cores).Replace(swdConfig), host, port)
	for _, j := range judgements {
		script := strings.NewReplacer("FIRST", first, "NOPS", nops, "IMAGE", image).Replace(j.script)
		out := openocd(t, program, "-f", cfg, "-c", script)
		switch {
		case strings.Contains(out, j.want):
			fmt.Fprint(table, "\tyes")
		case lacks(out):
			fmt.Fprint(table, "\tcannot")
		default:
			fmt.Fprint(table, "\tNO")
			t.Errorf("%s, %s, %s: %s\n%s", program, way, arch, j.name, out)
		}
		if path := os.Getenv("TRANSCRIPTS"); path != "" {
			name := strings.Trim(strings.ReplaceAll(program, "/", "-"), "-") + "." + way + "." + arch + "." + j.name + ".txt"
			if err := os.WriteFile(filepath.Join(path, name), []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// lacks reports whether an OpenOCD says that it has no such way or target.
func lacks(out string) bool {
	for _, s := range []string{
		"invalid argument tcp to cmsis-dap backend", "Can't find target/rp2350.cfg", "Unknown param: -dap",
		"Can't change session's transport", "cmsis-dap <cmd>",
	} {
		if strings.Contains(out, s) {
			return true
		}
	}
	return false
}
