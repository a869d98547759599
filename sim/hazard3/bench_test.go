package hazard3_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/testbench"
)

// benchmark runs a program of the testbench over and over and reports million
// instructions per second.
func benchmark(b *testing.B, file string, plain bool) {
	data, err := os.ReadFile("../testbench/testdata/work/" + file)
	if err != nil {
		b.Fatal(err)
	}
	img, err := image.Parse(file, data, image.Options{HasBase: true})
	if err != nil {
		b.Fatal(err)
	}
	m := testbench.NewHazard3(1)
	core := m.Cores()[0].(interface {
		Instret() uint64
		SetPlain(bool)
	})
	core.SetPlain(plain)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var n uint64
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		if err := m.Load(img); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		start := threadTime()
		if e := m.Run(1 << 40); e.Kind != machine.EventExit || e.Code != 0 {
			b.Fatalf("ended with %+v", e)
		}
		used += threadTime() - start
		n += core.Instret()
	}
	// Processor time, not time of day: the machine may be busy otherwise.
	b.ReportMetric(float64(n)/used.Seconds()/1e6, "MIPS")
	b.ReportMetric(0, "ns/op")
}

// threadTime is the processor time of this thread.
func threadTime() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkWork(b *testing.B)      { benchmark(b, "work_b_24.elf", false) }
func BenchmarkCopies(b *testing.B)    { benchmark(b, "copies.elf", false) }
func BenchmarkBits(b *testing.B)      { benchmark(b, "bits.elf", false) }
func BenchmarkWorkPlain(b *testing.B) { benchmark(b, "work_b_24.elf", true) }
