//go:build unix

package bench

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/built"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/testbench"
)

// TestMain removes the program that benchmarks build.
func TestMain(m *testing.M) { os.Exit(built.Main(m)) }

// programs are compiled for both machines from one source. A unit is a
// repetition of its main loop.
var programs = []struct {
	name   string
	ours   string
	units  float64 // units of one run on the testbench machine
	theirs float64 // units of one run on QEMU's virt machine
	want   string  // what QEMU prints
}{
	{"work", "work_b_24.elf", 24, 1600, "CHECKSUM c2025d7f"},
	{"copies", "copies.elf", 200, 20000, "bca60154"},
	{"bits", "bits.elf", 400000, 40000000, "fd5ffedf"},
}

const (
	rounds  = 5
	atLeast = time.Second // of processor time for one round of ours
	chipMHz = 150
)

// BenchmarkBesideQEMU runs each program on the simulated core, with exact
// instruction and cycle counts, and on qemu-system-riscv32, in turns. MIPS are
// millions of instructions in a second of processor time; the ratio is ours over
// QEMU's, of the median rounds and the extremes.
func BenchmarkBesideQEMU(b *testing.B) {
	for _, p := range programs {
		b.Run(p.name, func(b *testing.B) {
			var ours, theirs []float64 // units in a second
			var perUnit float64
			for b.Loop() {
				for range rounds {
					n, s := runOurs(b, p.ours)
					perUnit = float64(n.instructions) / float64(n.runs) / p.units
					ours = append(ours, p.units*float64(n.runs)/s)
					if t, ok := runQEMU(b, p.name+".elf", p.want); ok {
						theirs = append(theirs, p.theirs/t)
					}
				}
			}
			slices.Sort(ours)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(ours)*perUnit/1e6, "MIPS")
			b.ReportMetric(middle(ours)*perUnit/1e6/chipMHz, "x-150MHz")
			if len(theirs) == 0 {
				b.Log("qemu-system-riscv32 is not installed: no comparison")
				return
			}
			slices.Sort(theirs)
			b.ReportMetric(middle(theirs)*perUnit/1e6, "qemu-MIPS")
			b.ReportMetric(middle(ours)/middle(theirs), "ratio")
			b.ReportMetric(ours[0]/theirs[len(theirs)-1], "ratio-min")
			b.ReportMetric(ours[len(ours)-1]/theirs[0], "ratio-max")
		})
	}
}

func middle(sorted []float64) float64 { return sorted[len(sorted)/2] }

// count is what ran.
type count struct {
	runs         int
	instructions uint64
}

// runOurs runs a program on the testbench machine until enough time has passed,
// and returns the seconds of processor time it took.
func runOurs(b *testing.B, file string) (n count, seconds float64) {
	b.Helper()
	data, err := os.ReadFile("../../sim/testbench/testdata/work/" + file)
	if err != nil {
		b.Fatal(err)
	}
	img, err := image.Parse(file, data, image.Options{HasBase: true})
	if err != nil {
		b.Fatal(err)
	}
	m := testbench.NewHazard3(1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var used time.Duration
	for used < atLeast {
		if err := m.Load(img); err != nil {
			b.Fatal(err)
		}
		start := threadTime()
		if e := m.Run(1 << 40); e.Kind != machine.EventExit || e.Code != 0 {
			b.Fatalf("%s ended with %+v", file, e)
		}
		used += threadTime() - start
		n.instructions += m.Cores()[0].Instret()
		n.runs++
	}
	return n, used.Seconds()
}

// threadTime is the processor time of this thread, which a busy machine does not
// disturb.
func threadTime() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runQEMU runs a program on the virt machine and returns the seconds of
// processor time; ok is false if there is no QEMU.
func runQEMU(b *testing.B, file, want string) (seconds float64, ok bool) {
	b.Helper()
	words := strings.Fields(os.Getenv("STEM_QEMU_RISCV32"))
	if len(words) == 0 {
		words = []string{"qemu-system-riscv32"}
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return 0, false
	}
	args := append(words[1:], "-M", "virt", "-bios", "none", "-nographic", "-cpu", "rv32,zba=on,zbb=on,zbs=on",
		"-kernel", "testdata/"+file)
	cmd := exec.Command(words[0], args...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		b.Fatalf("qemu: %v\n%s", err, out)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), true
}

// BenchmarkFirstByte reports the time from the start of the process to the first
// byte that the firmware sends on its UART.
func BenchmarkFirstByte(b *testing.B) {
	stem := built.StemHW(b)
	var all []float64
	for b.Loop() {
		for range 20 {
			all = append(all, firstByte(b, stem).Seconds()*1000)
		}
	}
	slices.Sort(all)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(all[0], "ms-min")
	b.ReportMetric(middle(all), "ms-median")
	b.ReportMetric(all[len(all)*9/10], "ms-p90")
}

func firstByte(b *testing.B, stem string) time.Duration {
	b.Helper()
	cmd := exec.Command(stem, "run", "-q", "--machine", "rp2350", "../../examples/hello/hello.elf")
	// No board: a simulated one is made for the run. A lasting one is read first.
	cmd.Env = append(os.Environ(), "STEM_HW_BOARD=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
