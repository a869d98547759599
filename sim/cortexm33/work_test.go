package cortexm33

import (
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWork runs the workload in both loops: the checksum is the one that every
// machine and instruction set gives, and cycles and instructions agree.
func TestWork(t *testing.T) {
	type result struct {
		out             string
		cycles, instret uint64
	}
	var got [2]result
	for i, plain := range []bool{false, true} {
		m := newBare(t)
		m.core.Plain = plain
		m.load(t, "testdata/elf/work1.elf")
		m.run(100_000_000)
		got[i] = result{string(m.out), m.core.Cycle, m.core.Instret()}
		if want := "CHECKSUM a8c2f539\nDONE\n"; got[i].out != want {
			t.Fatalf("plain %v: output %q, want %q; pc %#x, trap %+v", plain, got[i].out, want, m.core.PC(), m.core.lastTrap)
		}
	}
	if got[0] != got[1] {
		t.Errorf("fast %+v, plain %+v", got[0], got[1])
	}
}

// BenchmarkWork reports million instructions per second of processor time, as
// the benchmark of the same name in sim/hazard3 does for the same C program.
func BenchmarkWork(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var n uint64
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		m := newBare(b)
		m.load(b, "testdata/elf/work24.elf")
		b.StartTimer()
		start := threadTime()
		m.run(1 << 40)
		used += threadTime() - start
		n += m.core.Instret()
		if string(m.out) != "CHECKSUM 3aafb2d7\nDONE\n" {
			b.Fatalf("output %q", m.out)
		}
	}
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

// BenchmarkWorkQEMU is the same program on QEMU's mps2-an505, with more rounds.
func BenchmarkWorkQEMU(b *testing.B) {
	path, err := exec.LookPath("qemu-system-arm")
	if err != nil {
		b.Skip("qemu-system-arm is not installed")
	}
	const rounds, perRound = 1600, 30914506 / 24 // instructions, as TestWork's machine counts them
	for b.Loop() {
		cmd := exec.Command(path, "-M", "mps2-an505", "-nographic", "-monitor", "none", "-serial", "none",
			"-semihosting-config", "enable=on,target=native", "-kernel", "testdata/elf/work1600.elf")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "CHECKSUM c2025d7f") {
			b.Fatalf("qemu: %v\n%s", err, out)
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		b.ReportMetric(rounds*perRound/used.Seconds()/1e6, "MIPS")
	}
}
