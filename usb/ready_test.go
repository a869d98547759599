package usb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// udevRoot is a machine on which udev runs, with one device node.
func udevRoot(t *testing.T) (root, record string) {
	t.Helper()
	root = t.TempDir()
	for _, d := range []string{"dev", "run/udev/data"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A device that is there everywhere, as anybody may not make one.
	if err := os.Symlink("/dev/null", filepath.Join(root, "dev/node")); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat("/dev/null", &st); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "run/udev/control"), "")
	return root, filepath.Join(root, fmt.Sprintf("run/udev/data/c%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func isRefusal(err error) bool { return errors.Is(err, fs.ErrPermission) }

// TestWhenReady lets udev give a node away while it is waited for.
func TestWhenReady(t *testing.T) {
	root, record := udevRoot(t)
	steps := []func(){
		func() {}, // no record yet
		func() { put(t, record, "E:ID_PROCESSING=1\n") },
		func() { put(t, record, "I:4711\nE:ID_PROCESSING=1\n") },
		func() { put(t, filepath.Join(root, "run/udev/queue"), ""); put(t, record, "I:4711\nE:ID_BUS=usb\n") },
	}
	tries := 0
	err := WhenReady(t.Context(), root, "/dev/node", isRefusal, func() error {
		if tries++; tries <= len(steps) {
			steps[tries-1]()
			return fs.ErrPermission
		}
		return nil
	})
	if err != nil || tries != len(steps)+1 {
		t.Errorf("%v after %d tries, want none after %d", err, tries, len(steps)+1)
	}
}

// TestNotReady is about nodes for which there is nothing to wait: the second try
// is the last one.
func TestNotReady(t *testing.T) {
	gone := func(name string) func(*testing.T, string, string) {
		return func(t *testing.T, root, record string) {
			put(t, record, "I:1\n")
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, prepare := range map[string]func(t *testing.T, root, record string){
		"done":    func(t *testing.T, _, record string) { put(t, record, "S:serial/by-id/x\nI:4711\n") },
		"no udev": gone("run/udev/control"),
		"no node": gone("dev/node"),
		"no device at all": func(t *testing.T, root, record string) {
			gone("dev/node")(t, root, record)
			put(t, filepath.Join(root, "dev/node"), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, record := udevRoot(t)
			prepare(t, root, record)
			tries := 0
			err := WhenReady(t.Context(), root, "/dev/node", isRefusal, func() error {
				tries++
				return fs.ErrPermission
			})
			if !isRefusal(err) || tries != 2 {
				t.Errorf("%v after %d tries, want the refusal after 2", err, tries)
			}
		})
	}
	t.Run("another error", func(t *testing.T) {
		root, _ := udevRoot(t)
		tries := 0
		err := WhenReady(t.Context(), root, "/dev/node", isRefusal, func() error { tries++; return fs.ErrNotExist })
		if !errors.Is(err, fs.ErrNotExist) || tries != 1 {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		root, _ := udevRoot(t)
		ctx, cancel := context.WithCancel(t.Context())
		err := WhenReady(ctx, root, "/dev/node", isRefusal, func() error { cancel(); return fs.ErrPermission })
		if !isRefusal(err) {
			t.Errorf("%v, want the refusal", err)
		}
	})
}
