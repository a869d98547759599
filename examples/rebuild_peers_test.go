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
