package session

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/container"
	"github.com/stem-hw/stem-hw/gdbsync"
)

// testFolder is a runtime folder with a short path.
func testFolder(t *testing.T) Folder {
	t.Helper()
	dir, err := os.MkdirTemp("", "si")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f, err := NewFolder(dir, "0123abcd", "x", "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStateIsReadInTheFolder(t *testing.T) {
	f := testFolder(t)
	good := &gdbsync.State{Schema: gdbsync.Schema, Version: gdbsync.Version, State: gdbsync.Stopped}
	if err := good.Write(f.State()); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadState(f); err != nil || s.State != gdbsync.Stopped {
		t.Fatalf("%v, %v", s, err)
	}
	outside := filepath.Join(t.TempDir(), "state.json")
	if err := good.Write(outside); err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func() error{
		"a link":        func() error { return os.Symlink(outside, f.State()) },
		"a folder":      func() error { return os.Mkdir(f.State(), 0o700) },
		"a device":      func() error { return os.Symlink("/dev/zero", f.State()) },
		"another thing": func() error { return os.WriteFile(f.State(), []byte(`{"schema":"x"}`), 0o600) },
	} {
		_ = os.RemoveAll(f.State())
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadState(f); err == nil {
			t.Errorf("%s was read", what)
		}
	}
	// The folder itself is replaced by a link that leads out.
	if err := os.RemoveAll(f.Dir); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(outside)
	if err := os.Rename(outside, filepath.Join(dir, "gdb-sync.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, f.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadState(f); err == nil {
		t.Error("a link out of the folder was followed")
	}
}

func TestSocketIsTheFoldersOwn(t *testing.T) {
	f, other := testFolder(t), testFolder(t)
	h, err := newHub(other.Console())
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := os.Symlink(other.Console(), f.Console()); err != nil {
		t.Fatal(err)
	}
	if c, err := dialInside(f, "c.sock"); err == nil {
		_ = c.Close()
		t.Error("a link to another socket was followed")
	}
	c, err := dialInside(other, "c.sock")
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestHubBringsBothWays(t *testing.T) {
	f := testFolder(t)
	h, err := newHub(f.Console())
	if err != nil {
		t.Fatal(err)
	}
	in := h.typed()
	c, err := net.Dial("unix", f.Console())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("typed")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(in, b); err != nil || string(b) != "typed" {
		t.Fatalf("%q, %v", b, err)
	}
	if _, err := h.Write([]byte("print")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "print" {
		t.Fatalf("%q, %v", b, err)
	}
	h.close()
	if _, err := c.Read(b); err == nil {
		t.Error("the connection outlives the hub")
	}
}

func TestWhatOfACardIsMounted(t *testing.T) {
	card := t.TempDir()
	for _, name := range []string{"stem.toml", "main.c"} {
		if err := os.WriteFile(filepath.Join(card, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := func(binds []container.Bind, path string) *container.Bind {
		for i := range binds {
			if binds[i].Source == path {
				return &binds[i]
			}
		}
		return nil
	}
	binds := cardBinds(card, filepath.Join(card, "build/x.elf"), "/home/u")
	if b := find(binds, card); b == nil || b.ReadOnly || b.Target != card {
		t.Errorf("%+v", binds)
	}
	if b := find(binds, filepath.Join(card, "stem.toml")); b == nil || !b.ReadOnly {
		t.Errorf("what steers can be written: %+v", binds)
	}
	// A program in a home does not bring the home along.
	for _, dir := range []string{"/home/u", "/home", "/", "/tmp"} {
		binds := cardBinds(dir, filepath.Join(dir, "x.elf"), "/home/u")
		if len(binds) != 1 || !binds[0].ReadOnly || !strings.HasSuffix(binds[0].Source, "/x.elf") {
			t.Errorf("%s: %+v", dir, binds)
		}
	}
	if wide("/home/u/card", "/home/u") {
		t.Error("a card in a home is no home")
	}
}
