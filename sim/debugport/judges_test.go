//go:build judges

package debugport_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// judgements are scripts, each with what must be in what OpenOCD says of it. The
// pauses behind halt let it notice that the other core halted too.
var judgements = []struct{ name, script, want string }{
	{"attach", "init; halt; echo RESULT; shutdown", "RESULT"},
	{"step", `init; FIRST; halt; FIRST
		write_memory 0x20040000 32 {NOPS}
		set_reg {pc 0x20040000}; step
		echo "PC [format 0x%x [lindex [get_reg -force pc] 1]]"; shutdown`, "PC 0x2004000"},
	{"flash", "init; reset init; FIRST; flash write_image erase IMAGE 0x10000000; verify_image IMAGE 0x10000000; echo VERIFIED; shutdown", "VERIFIED"},
	{"run", `init; reset run; sleep 300; FIRST; halt; FIRST; sleep 250
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
		for _, way := range []string{"swd-bitbang", "dap-tcp", "jtag-bitbang"} {
			for _, arch := range []string{"arm", "riscv"} {
				if way == "jtag-bitbang" && arch == "arm" {
					continue // the chain has nothing else
				}
				fmt.Fprintf(table, "%s\t%s\t%s", program, way, arch)
				judgeOne(t, table, program, way, arch)
				fmt.Fprintln(table)
			}
		}
	}
	_ = table.Flush()
}

// apartJTAG takes the harts out of their group: without halt groups in the chip,
// upstream stops what it runs on one of them as soon as it sees the other halted.
const apartJTAG = "target smp rp2350.rv0 rp2350.rv1"

// flashJTAG adds the flash to a board behind the simulation's chain, for an
// OpenOCD that knows it.
const flashJTAG = "\ncatch {flash bank rp2350.flash rp2xxx 0x10000000 0x400000 0 0 rp2350.rv0}\n"

// judgeConfig is the configuration for a way to a board.
func judgeConfig(t *testing.T, way, arch, host, port string) string {
	t.Helper()
	if way == "jtag-bitbang" {
		return config(t, strings.Replace(jtagConfig, apartJTAG, "", 1)+flashJTAG, host, port)
	}
	cores := "cm0 cm1"
	if arch == "riscv" {
		cores = "rv0 rv1"
	}
	return config(t, strings.NewReplacer("ADAPTER", adapters[way], "CORES", cores).Replace(swdConfig), host, port)
}

// judgeOne is one row. All judgements are made on one board, in order.
func judgeOne(t *testing.T, table *tabwriter.Writer, program, way, arch string) {
	host, port := board(t, way, "--arch", arch)
	first, nops := "targets rp2350.cm0", "0xbf00bf00 0xbf00bf00"
	if arch == "riscv" {
		first, nops = "targets rp2350.rv0", "0x00000013 0x00000013"
	}
	image := filepath.Join(t.TempDir(), "counting.bin")
	if err := os.WriteFile(image, counting(arch), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := judgeConfig(t, way, arch, host, port)
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
		if !lacks(out) {
			keep(t, program, way, arch, j.name, out)
		}
	}
}

// faultsSeen are troubles of a board and what OpenOCD says of each over SWD, one
// of the texts.
var faultsSeen = []struct {
	trouble string
	want    []string
}{
	{"dead", []string{"Error connecting DP: cannot read IDR"}},
	{"no-power", []string{"Error connecting DP: cannot read IDR"}},
	{"floating", []string{"Wrong parity detected", "Error connecting DP: cannot read IDR", "SWD DPIDR 0x"}},
	{"no-power-up", []string{"SWD DPIDR 0x4c013477"}},
	{"wrong-chip", []string{"SWD DPIDR 0x0bc12477"}},
	{"wait", []string{"xamination failed", "SWD DPIDR 0x4c013477"}},
	{"memory-faults", []string{"Failed to read memory at 0xe000ed00"}},
	{"parity", []string{"Examination failed", "Wrong parity detected", "Failed to read memory"}},
	{"locked", []string{"Failed to read memory at 0xe000ed00"}},
	{"secure-locked", []string{"Failed to read memory at 0xe000ed00"}},
	{"vanish", []string{"Error on socket 'remote_bitbang", "Error: CMSIS-DAP command"}},
}

// TestJudgesTroubles lets each OpenOCD meet each trouble over SWD: it must not
// come to an end of its script as if nothing was, and say what it says of real
// wiring.
func TestJudgesTroubles(t *testing.T) {
	programs := strings.Fields(os.Getenv("OPENOCD"))
	if len(programs) == 0 {
		t.Skip("no OpenOCD was given: make judges OPENOCD=\"/path/to/openocd …\"")
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "openocd\tway\ttrouble\tit says")
	for _, program := range programs {
		for _, way := range []string{"swd-bitbang", "dap-tcp"} {
			for _, f := range faultsSeen {
				host, port := board(t, way, "--trouble", f.trouble)
				out := openocd(t, program, "-f", judgeConfig(t, way, "arm", host, port),
					"-c", "init; halt; dump_image x.bin 0x20000000 0x20000; echo DONE; shutdown")
				if lacks(out) {
					break
				}
				said := ""
				for _, want := range f.want {
					if said == "" && strings.Contains(out, want) {
						said = want
					}
				}
				if said == "" || strings.Contains(out, "DONE") && f.trouble != "wrong-chip" { // of which it tells, and goes on
					t.Errorf("%s, %s, %s: %q is not said:\n%s", program, way, f.trouble, f.want, out)
					said = "NO"
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", program, way, f.trouble, line(out, said))
				keep(t, program, way, "arm", f.trouble, out)
			}
		}
	}
	_ = table.Flush()
}

// line returns the line of a text that has part in it.
func line(text, part string) string {
	for _, l := range strings.Split(text, "\n") {
		if strings.Contains(l, part) {
			return strings.TrimSpace(l)
		}
	}
	return part
}

// keep writes a transcript to $TRANSCRIPTS: what an OpenOCD said, without what
// says nothing about the chip or differs from run to run.
func keep(t *testing.T, program, way, arch, what, out string) {
	t.Helper()
	dir := os.Getenv("TRANSCRIPTS")
	if dir == "" {
		return
	}
	name := fmt.Sprintf("%s_%s_%s_%s.txt", versionOf(t, program), way, arch, what)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(cleaned(out)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// versionOf names an OpenOCD after what it says of itself: 0.12.0 is a release,
// a version with dev in it upstream's, the Raspberry Pi's one says so.
func versionOf(t *testing.T, program string) string {
	t.Helper()
	out, _ := exec.Command(program, "--version").CombinedOutput()
	v := regexp.MustCompile(`Debugger (\d+\.\d+\.\d+)(\+\S+)?`).FindSubmatch(out)
	switch {
	case v == nil:
		t.Fatalf("%s is no OpenOCD: %s", program, out)
	case len(v[2]) == 0:
		return "openocd-" + string(v[1])
	case strings.Contains(program, "rpi"), bytes.Contains(v[2], []byte("rpi")):
		return "openocd-rpi"
	}
	return "openocd-upstream"
}

var (
	uninteresting = regexp.MustCompile(`(?m)^(Open On-Chip|Licensed under|For bug reports|\s*http://|DEPRECATED|Warn : DEPRECATED|Info : Listening).*\n`)
	aPath         = regexp.MustCompile(`/\S*/`)
	aPort         = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	aTime         = regexp.MustCompile(`in \d+\.\d+s \(\d+\.\d+ KiB/s\)`)
)

func cleaned(out string) string {
	out = uninteresting.ReplaceAllString(out, "")
	out = aPath.ReplaceAllString(out, "")
	out = aPort.ReplaceAllString(out, "127.0.0.1:PORT")
	out = aTime.ReplaceAllString(out, "in a moment")
	// A line that is said again and again counts once.
	var lines []string
	for _, l := range strings.Split(out, "\n") {
		if n := len(lines); l != "" && (n == 0 || lines[n-1] != l) {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// lacks reports whether an OpenOCD says that it has no such way or target.
func lacks(out string) bool {
	for _, s := range []string{
		"invalid argument tcp to cmsis-dap backend", "Can't find target/rp2350.cfg", "Unknown param: -dap",
		"Can't change session's transport", "cmsis-dap <cmd>", "flash driver 'rp2xxx' not found", "invalid command name \"flash\"",
		"flash driver 'rp2xxx'", "no flash bank found",
	} {
		if strings.Contains(out, s) {
			return true
		}
	}
	return false
}
