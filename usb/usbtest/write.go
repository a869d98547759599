package usbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Umockdev writes gadgets as umockdev reads them.
func Umockdev(gadgets ...Gadget) string {
	var b strings.Builder
	for _, g := range gadgets {
		for _, e := range g.entries() {
			fmt.Fprintf(&b, "P: %s\n", e.path)
			switch {
			case e.data != nil:
				fmt.Fprintf(&b, "N: %s=%X\n", e.node, e.data)
			case e.node != "":
				fmt.Fprintf(&b, "N: %s\n", e.node)
			}
			for _, p := range e.properties {
				fmt.Fprintf(&b, "E: %s=%s\n", p[0], escape(p[1]))
			}
			for _, a := range e.attributes {
				fmt.Fprintf(&b, "A: %s=%s\\n\n", a[0], escape(a[1]))
			}
			for name, data := range e.binary {
				fmt.Fprintf(&b, "H: %s=%X\n", name, data)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r").Replace(s)
}

// Machine writes gadgets into a folder that stands for "/".
func Machine(t testing.TB, dir string, gadgets ...Gadget) {
	t.Helper()
	put := func(name string, data []byte) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range gadgets {
		for _, e := range g.entries() {
			if e.node != "" {
				put("dev/"+e.node, e.data)
			}
			var u strings.Builder
			for _, p := range e.properties {
				fmt.Fprintf(&u, "%s=%s\n", p[0], p[1])
			}
			put("sys"+e.path+"/uevent", []byte(u.String()))
			for _, a := range e.attributes {
				put("sys"+e.path+"/"+a[0], []byte(a[1]+"\n"))
			}
			for name, data := range e.binary {
				put("sys"+e.path+"/"+name, data)
			}
		}
	}
}

// Unplug removes a gadget from the folder of Machine.
func Unplug(t testing.TB, dir string, g Gadget) {
	t.Helper()
	for _, e := range g.entries() {
		if e.node != "" {
			_ = os.Remove(filepath.Join(dir, "dev", e.node))
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "sys", g.Syspath())); err != nil {
		t.Fatal(err)
	}
}
