//go:build peers

package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tool runs a program of another project and returns what it prints.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: scripts/setup peers", name)
	}
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, &stderr)
	}
	return string(out)
}

var targetWires = []string{"--wire", "4-6", "--wire", "5-7", "--wire", "19-8", "--wire", "17-9", "--wire", "18-10", "--wire", "11-16"}

// TestPeerLogicAnalyser lets sigrok's protocol decoders read the waveforms: what
// PIO sends as a serial line, what passes on I2C and on SPI.
func TestPeerLogicAnalyser(t *testing.T) {
	for _, tt := range []struct {
		name    string
		args    []string
		decoder string
		shown   string
		want    string // a regular expression over the decoded values
	}{
		{"pio", []string{"--wire", "2-3"}, "uart:rx=gpio2:baudrate=1000000:format=ascii", "uart=rx-data",
			"^P I O   s a y s   h e l l o$"},
		{"uart", []string{"--wire", "8-9"}, "uart:rx=gpio8:baudrate=9600:format=ascii", "uart=rx-data", "^t h e r e   a n d   b a c k"},
		{"i2c", []string{"--wiring", "i2c/board.toml"}, "i2c:sda=gpio4:scl=gpio5", "i2c=address-write:address-read:data-write:data-read",
			"Write Address write: 50 Data write: 01 Data write: 20 Read Address read: 50 Data read: 6B Data read: 65 Data read: 70 Data read: 74"},
		{"spi", []string{"--wiring", "spi/board.toml"}, "spi:clk=gpio18:mosi=gpio19:miso=gpio16:cs=gpio17:cpol=1:cpha=1", "spi=mosi-data:miso-data",
			"00 8F 33 00.*20 00 5A 00 .*21 00 A5 00"},
		{"targets", targetWires, "i2c:sda=gpio6:scl=gpio7", "i2c=address-write:address-read:data-write:data-read",
			"Write Address write: 17 Data write: 40 Data write: 66 Data write: 72 .*Read Address read: 17 Data read: 63 Data read: 6F"},
		{"targets", targetWires, "spi:clk=gpio10:mosi=gpio8:miso=gpio11:cs=gpio9:cpha=1:wordsize=16", "spi=mosi-data:miso-data",
			"A000 5000 A001 5001|5000 A000 5001 A001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "run.vcd")
			r := run(t, "", append([]string{"--vcd", whole, tt.name + "/" + tt.name + ".elf"}, tt.args...)...)
			if r.status != 0 {
				t.Fatalf("status %d\n%s", r.status, r.stderr)
			}
			b, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			// libsigrok 0.5.2 stops at the first value of several bits.
			var pins strings.Builder
			for l := range strings.Lines(string(b)) {
				if l[0] != 'b' {
					pins.WriteString(l)
				}
			}
			path := filepath.Join(t.TempDir(), "pins.vcd")
			if err := os.WriteFile(path, []byte(pins.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			out := tool(t, "sigrok-cli", "-I", "vcd:downsample=10000", "-i", path, "-P", tt.decoder, "-A", tt.shown)
			var got []string
			for l := range strings.Lines(out) {
				_, v, _ := strings.Cut(strings.TrimRight(l, "\n"), ": ")
				got = append(got, v)
			}
			if text := strings.Join(got, " "); !regexp.MustCompile(tt.want).MatchString(text) {
				t.Errorf("decoded: %q\nwant:    %s", text, tt.want)
			}
		})
	}
}

// TestPeerGenhtml makes pages of a coverage file, whose numbers are those of the
// file.
func TestPeerGenhtml(t *testing.T) {
	dir := t.TempDir()
	info := filepath.Join(dir, "timer.info")
	if r := run(t, "", "--coverage", info, "timer/timer.elf"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	b, err := os.ReadFile(info)
	if err != nil {
		t.Fatal(err)
	}
	lines, hit := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^DA:\d+,(\d+)`).FindAllStringSubmatch(string(b), -1) {
		lines++
		if m[1] != "0" {
			hit++
		}
	}
	if hit < 50 || hit == lines {
		t.Errorf("%d of %d lines were executed", hit, lines)
	}
	// The file names are those of the build; the sources are in this folder.
	out := tool(t, "genhtml", "--legend", "-o", filepath.Join(dir, "html"), info)
	want := regexp.MustCompile(`lines\.*: [0-9.]+% \(` + strconv.Itoa(hit) + " of " + strconv.Itoa(lines) + ` lines\)`)
	if !want.MatchString(out) {
		t.Errorf("genhtml says\n%s\nwant %d of %d lines", out, hit, lines)
	}
	page, err := os.ReadFile(filepath.Join(dir, "html/timer/timer.c.gcov.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "int main(void)") {
		t.Error("the page of timer.c does not show its source")
	}
}

// TestPeerPprof asks go tool pprof for the shares of functions, of lines and of
// the cores.
func TestPeerPprof(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hello.pprof")
	if r := run(t, "", "--pprof", file, "hello/hello.elf"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	top := tool(t, "go", "tool", "pprof", "-top", "-sample_index=instructions", file)
	if !strings.Contains(top, "count_primes") || !strings.Contains(top, "Type: instructions") {
		t.Errorf("-top:\n%s", top)
	}
	cycles := tool(t, "go", "tool", "pprof", "-top", "-tagfocus", "core=1", file)
	if !strings.Contains(cycles, "count_primes") || strings.Contains(cycles, " main\n") {
		t.Errorf("-tagfocus core=1:\n%s", cycles)
	}
	lines := tool(t, "go", "tool", "pprof", "-top", "-lines", file)
	if !regexp.MustCompile(`count_primes .*hello\.c:\d+`).MatchString(lines) {
		t.Errorf("-lines:\n%s", lines)
	}
	list := tool(t, "go", "tool", "pprof", "-list", "count_primes", "-source_path", ".", file)
	if !regexp.MustCompile(`\d+ms|\d+ .*for \(`).MatchString(list) {
		t.Errorf("-list:\n%s", list)
	}
}
