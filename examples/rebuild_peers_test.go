//go:build peers

package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPeerRebuild builds every example with Debian's RISC-V compiler and
// compares the result with the committed file, byte for byte.
func TestPeerRebuild(t *testing.T) {
	out := t.TempDir()
	cmd := exec.Command("../scripts/examples", "build", out)
	cmd.Env = append(os.Environ(), "STEM_HW_RISCV_GCC=root")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	elfs, err := filepath.Glob("*/*.elf")
	if err != nil {
		t.Fatal(err)
	}
	if len(elfs) < 10 {
		t.Fatalf("only %d ELF files", len(elfs))
	}
	for _, elf := range elfs {
		t.Run(filepath.Dir(elf), func(t *testing.T) {
			want, err := os.ReadFile(elf)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(out, elf))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes rebuilt, %d committed, and they differ: run make examples", elf, len(got), len(want))
			}
		})
	}
}

// TestPeerRebuildArm does so with the program for the Cortex-M33.
func TestPeerRebuildArm(t *testing.T) {
	gcc, err := exec.Command("arm-none-eabi-gcc", "-dumpversion").Output()
	if err != nil {
		t.Skipf("arm-none-eabi-gcc does not run: %v", err)
	}
	if !bytes.HasPrefix(gcc, []byte("12.")) {
		t.Skipf("the committed file was made with gcc 12, this is %s", bytes.TrimSpace(gcc))
	}
	rebuildBoth(t)
	for _, name := range []string{"hello", "usbecho"} {
		out := filepath.Join(t.TempDir(), name+".elf")
		if b, err := exec.Command("arm/"+name+"/build.sh", out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		elf := "arm/" + name + "/" + name + ".elf"
		want, err := os.ReadFile(elf)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes rebuilt, %d committed, and they differ: run examples/arm/%s/build.sh", elf, len(got), len(want), name)
		}
	}
}

// rebuildBoth builds the programs of both architectures for the Cortex-M33.
func rebuildBoth(t *testing.T) {
	t.Helper()
	out := t.TempDir()
	if b, err := exec.Command("make", "-s", "arm", "OUT="+out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	for _, e := range peripherals {
		elf := filepath.Join("arm", e.name, e.name+".elf")
		want, err := os.ReadFile(elf)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(out, elf))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes rebuilt, %d committed, and they differ: run make -C examples arm", elf, len(got), len(want))
		}
	}
}
