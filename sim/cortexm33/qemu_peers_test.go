//go:build peers

package cortexm33

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// TestPeerRandomQEMU compares random instructions with QEMU: 50,000 of them, or as
// many as STEM_HW_SOAK says, from STEM_HW_SEED on.
func TestPeerRandomQEMU(t *testing.T) {
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

// TestPeerPrograms compares the committed output of the test programs with
// QEMU's.
func TestPeerPrograms(t *testing.T) {
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			want := string(qemu(t, t.TempDir(), "testdata/elf/"+name+".elf", nil))
			got, err := os.ReadFile("testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			diffLines(t, string(got), want)
		})
	}
}

// TestPeerRebuild builds the test programs again and compares them with the
// committed ones, if the compiler is the version they were built with.
func TestPeerRebuild(t *testing.T) {
	const version = "12.2.1"
	out, err := exec.Command("arm-none-eabi-gcc", "-dumpfullversion").Output()
	if err != nil {
		t.Skip("arm-none-eabi-gcc is not installed")
	}
	if v := strings.TrimSpace(string(out)); v != version {
		t.Skipf("arm-none-eabi-gcc %s, the programs were built with %s", v, version)
	}
	dir := t.TempDir()
	if out, err := exec.Command("testdata/src/build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := os.ReadDir("testdata/elf")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := os.ReadFile(filepath.Join("testdata/elf", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what its source gives", f.Name())
		}
	}
}
