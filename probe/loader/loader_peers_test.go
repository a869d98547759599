//go:build peers

package loader

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPeerAssemble assembles the loader anew and compares it with what is kept.
func TestPeerAssemble(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		tool string
		kept []byte
	}{"arm.bin": {"arm-none-eabi-as", armCode}, "riscv.bin": {"riscv64-unknown-elf-as", riscvCode}} {
		if _, err := exec.LookPath(c.tool); err != nil {
			t.Skipf("%s is not installed (scripts/setup peers)", c.tool)
		}
		if out, err := exec.Command("make", "-s", "-B", "OUT="+dir, filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, c.kept) {
			t.Errorf("%s is not what its source gives", name)
		}
	}
}
