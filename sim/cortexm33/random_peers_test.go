//go:build peers

package cortexm33

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// qemu runs an image of this package on QEMU's mps2-an505 in an empty folder
// and returns what it printed. loads are files placed at addresses.
func qemu(tb testing.TB, dir, elf string, loads map[uint32]string) []byte {
	tb.Helper()
	bin := os.Getenv("STEM_HW_QEMU_ARM")
	if bin == "" {
		bin = "qemu-system-arm"
	}
	path, err := exec.LookPath(bin)
	if err != nil {
		tb.Skipf("%s is not installed", bin)
	}
	elf, err = filepath.Abs(elf)
	if err != nil {
		tb.Fatal(err)
	}
	args := []string{"-M", "mps2-an505", "-nographic", "-monitor", "none", "-serial", "none",
		"-semihosting-config", "enable=on,target=native", "-kernel", elf}
	for addr, f := range loads {
		args = append(args, "-device", fmt.Sprintf("loader,file=%s,addr=%#x,force-raw=on", f, addr))
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Logf("%s: %v", path, err)
	}
	return out
}

// onQEMU runs the batch on QEMU and returns the output file.
func (b *batch) onQEMU(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	loads := map[uint32]string{}
	for addr, p := range map[uint32][]byte{rndHeader: b.header, rndCode: b.code, rndIn: b.in, rndData: b.data} {
		f := filepath.Join(dir, fmt.Sprintf("%x", addr))
		if err := os.WriteFile(f, p, 0o600); err != nil {
			t.Fatal(err)
		}
		loads[addr] = f
	}
	out := qemu(t, dir, "testdata/elf/random.elf", loads)
	data, err := os.ReadFile(filepath.Join(dir, "out.bin"))
	if err != nil {
		t.Fatalf("%v; QEMU printed %q", err, out)
	}
	return data
}

// TestRandomQEMU compares random instructions with QEMU: 50,000 of them, or as
// many as STEM_HW_SOAK says, from STEM_HW_SEED on.
func TestRandomQEMU(t *testing.T) {
	total := 50_000
	if s := os.Getenv("STEM_HW_SOAK"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		total = n
	}
	seed, _ := strconv.ParseUint(os.Getenv("STEM_HW_SEED"), 10, 64)
	const insns = 16
	done := 0
	for done < total {
		n := min(rndMax, (total-done+insns-1)/insns)
		b := newBatch(1000+seed, n, insns)
		if b.compare(t, b.run(t, false), b.onQEMU(t), "QEMU") > 0 {
			t.Fatalf("seed %d", seed)
		}
		done += n * insns
		seed++
	}
	t.Logf("%d instructions in blocks of %d", done, insns)
}
