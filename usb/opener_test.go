package usb

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpener(t *testing.T) {
	root := t.TempDir()
	fd := filepath.Join(root, "proc", "4711", "fd")
	if err := os.MkdirAll(fd, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "proc", "4711", "comm"), []byte("openocd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/bus/usb/001/005", filepath.Join(fd, "7")); err != nil {
		t.Fatal(err)
	}
	if got := opener(root, "/dev/bus/usb/001/005"); got != "process 4711 (openocd)" {
		t.Errorf("%q", got)
	}
	if got := opener(root, "/dev/bus/usb/001/006"); got != "" {
		t.Errorf("%q has a node that nobody has", got)
	}
}
