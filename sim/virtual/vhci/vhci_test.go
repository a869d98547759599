package vhci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const heading = "hub port sta spd dev      sockfd local_busid\n"

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "vhci_hcd.0")
}

func TestPorts(t *testing.T) {
	dir := tree(t, map[string]string{
		"vhci_hcd.0/attach":       "",
		"vhci_hcd.0/status":       heading + "hs  0000 004 000 00000000 000000 0-0\nhs  0001 006 002 00010002 000009 1-2\nss  0015 004 000 00000000 000000 0-0\n",
		"vhci_hcd.0/status.1":     heading + "hs  0030 004 000 00000000 000000 0-0\nss  0045 004 000 00000000 000000 0-0\n",
		"vhci_hcd.0/usb3/busnum":  "3\n",
		"vhci_hcd.0/usb4/busnum":  "4\n",
		"vhci_hcd.1/usb10/busnum": "10\n",
		"vhci_hcd.1/usb9/busnum":  "9\n",
		"vhci_hcd.2/usb11/busnum": "11\n",
	})
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Ports()
	if err != nil {
		t.Fatal(err)
	}
	want := []Port{{0, true, "3-1"}, {1, false, "3-2"}, {30, true, "9-1"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := c.AwaitFree(context.Background(), 30); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := c.AwaitFree(ctx, 1); !errors.Is(err, ErrBusy) {
		t.Errorf("a used port: %v", err)
	}
	if err := c.AwaitFree(context.Background(), 15); err == nil || !strings.Contains(err.Error(), "no full-speed port") {
		t.Errorf("a SuperSpeed port: %v", err)
	}
}

func TestNoController(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "vhci_hcd.0")); !errors.Is(err, ErrNoController) {
		t.Errorf("%v", err)
	}
}

func TestStatusThatMakesNoSense(t *testing.T) {
	for _, line := range []string{"hs 1", "hs one 004", "hs 0001 free"} {
		if _, err := parseStatus([]byte(heading + line + "\n")); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
}

// TestAttach attaches to a controller that is a folder.
func TestAttach(t *testing.T) {
	dir := tree(t, map[string]string{"vhci_hcd.0/attach": ""})
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Attach(3, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b, err := os.ReadFile(filepath.Join(dir, "attach"))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b))
	if len(f) != 4 || f[0] != "3" || f[2] != "65538" || f[3] != "2" {
		t.Errorf("wrote %q", b)
	}
}
