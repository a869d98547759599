package image

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func TestWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.bin")
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	err := With(path, Options{}, func(im *Image) error {
		b := make([]byte, 8)
		if im.ReadAt(b, 0x10000000+1<<19) != 8 || b[1] != 7 || im.Size() != len(data) {
			t.Errorf("% x, %d bytes", b, im.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		// A file that shrinks under the reader is an error, not a crash.
		err = With(path, Options{}, func(im *Image) error {
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
			var b [1]byte
			im.ReadAt(b[:], 0x10000000+1<<19)
			return nil
		})
		if !faults.Is(err, faults.CodeFileAccess) {
			t.Errorf("shrunk file: %v", err)
		}
	}
	if err := With(filepath.Join("testdata", "cases", "e22_truncated_file.elf"), Options{}, nil); !faults.Is(err, faults.CodeBadImage) {
		t.Error(err)
	}
}
