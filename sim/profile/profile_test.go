package profile_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/profile"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/symbols"
)

// collect runs a program and counts.
func collect(t *testing.T, path string, cycles uint64) (*profile.Collector, *rp2350.Chip) {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	syms, err := symbols.Load(img.ELF)
	if err != nil {
		t.Fatal(err)
	}
	chip := rp2350.New(rp2350.Options{})
	if err := chip.Load(img); err != nil {
		t.Fatal(err)
	}
	c := profile.New(chip, syms, img.Arch == image.ArchARM)
	chip.SetHooks(machine.Hooks{Trace: c.Step})
	for chip.Now() < cycles {
		if e := chip.Run(min(cycles, chip.Now()+50_000)); e.Kind != machine.EventLimit && e.Kind != machine.EventReset {
			break
		}
	}
	c.Close()
	return c, chip
}

// TestCoverage: the lines of the example have the counts that its text says.
func TestCoverage(t *testing.T) {
	for _, tt := range []struct {
		path, file string
		lines      map[string]uint64 // by a text in the line
	}{
		{"../../examples/hello/hello.elf", "hello/hello.c", map[string]uint64{
			"print(\"Hello from a Pico 2!": 1, "pin_put(LED_PIN": 4, "print(\"Goodbye": 1,
		}},
		{"../../examples/arm/hello/hello.elf", "hello.c", map[string]uint64{"Hello from a Cortex-M33": 1}},
	} {
		c, _ := collect(t, tt.path, 400_000_000)
		var b bytes.Buffer
		if lines, err := c.Coverage(&b); err != nil || !lines {
			t.Fatalf("%s: %v %v", tt.path, lines, err)
		}
		counts := record(t, b.String(), tt.file)
		source, err := os.ReadFile(filepath.Join(filepath.Dir(tt.path), filepath.Base(tt.file)))
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range tt.lines {
			found := false
			for i, l := range strings.Split(string(source), "\n") {
				if n, ok := counts[i+1]; ok && strings.Contains(l, text) {
					found = true
					if n != want {
						t.Errorf("%s:%d %q executed %d times, want %d", tt.file, i+1, l, n, want)
					}
				}
			}
			if !found {
				t.Errorf("%s: no line with %q is in the record", tt.file, text)
			}
		}
	}
}

// record returns the line counts of one file and checks the totals.
func record(t *testing.T, info, file string) map[int]uint64 {
	t.Helper()
	for _, r := range strings.Split(info, "end_of_record\n") {
		if !strings.Contains(r, "SF:") || !strings.HasSuffix(regexp.MustCompile(`SF:(.*)`).FindStringSubmatch(r)[1], file) {
			continue
		}
		counts := map[int]uint64{}
		hit := 0
		for _, m := range regexp.MustCompile(`(?m)^DA:(\d+),(\d+)$`).FindAllStringSubmatch(r, -1) {
			l, _ := strconv.Atoi(m[1])
			n, _ := strconv.ParseUint(m[2], 10, 64)
			counts[l] = n
			if n > 0 {
				hit++
			}
		}
		if !strings.Contains(r, "\nLF:"+strconv.Itoa(len(counts))+"\nLH:"+strconv.Itoa(hit)+"\n") {
			t.Errorf("%s: totals do not fit:\n%s", file, r)
		}
		return counts
	}
	t.Fatalf("no record of %s in\n%s", file, info)
	return nil
}

// TestPprof: the real `go tool pprof` reads the profile, knows functions and
// lines, tells the cores apart, and no cycle is lost.
func TestPprof(t *testing.T) {
	for _, path := range []string{"../../examples/hello/hello.elf", "../../examples/arm/hello/hello.elf"} {
		c, chip := collect(t, path, 400_000_000)
		file := filepath.Join(t.TempDir(), "p.pprof")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Pprof(f, "hello.elf", 1e9); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		top := pprof(t, "-top", "-nodecount=0", "-nodefraction=0", file)
		if !regexp.MustCompile(`(?m) main$`).MatchString(top) {
			t.Errorf("%s: main is not in\n%s", path, top)
		}
		lines := pprof(t, "-top", "-lines", "-nodefraction=0", "-nodecount=1000", file)
		if !regexp.MustCompile(` main .*hello\.c:\d+`).MatchString(lines) {
			t.Errorf("%s: no lines in\n%s", path, lines)
		}
		total := func(args ...string) uint64 {
			out := pprof(t, append(args, "-top", "-sample_index=instructions", file)...)
			m := regexp.MustCompile(`Total samples = (\d+)|of (\d+) total`).FindStringSubmatch(out)
			if m == nil {
				t.Fatalf("no total in\n%s", out)
			}
			n, _ := strconv.ParseUint(m[1]+m[2], 10, 64)
			return n
		}
		var retired uint64
		for _, core := range chip.Cores() {
			retired += core.Instret()
		}
		// The two differ where the ROM is emulated and where exceptions come.
		if n := total(); n < retired-retired/1000-100 || n > retired+retired/1000+100 {
			t.Errorf("%s: %d instructions in the profile, the cores executed %d", path, n, retired)
		}
		one := pprof(t, "-top", "-tagfocus", "core=1", "-nodefraction=0", file)
		if regexp.MustCompile(`(?m) main$`).MatchString(one) || !regexp.MustCompile(`(?m)^ *\d.* \S+`).MatchString(one) {
			t.Errorf("%s: core 1 executes main, or nothing:\n%s", path, one)
		}
	}
}

func pprof(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command("go", append([]string{"tool", "pprof"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("go tool pprof %v: %v\n%s", args, err, out)
	}
	return string(out)
}
