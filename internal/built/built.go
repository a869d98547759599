package built

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is stem-hw as one kind of build makes it.
type program struct {
	once sync.Once
	path string
	fail error
}

var plain, withUSB program

// Root returns the project's top folder, found from the working folder up.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working folder")
		}
		dir = up
	}
}

// StemHW returns the path of a freshly built stem-hw. The first call of a test
// process builds it; the folder it is in is removed by Cleanup of TestMain's
// caller, or left to the temporary folder.
func StemHW(t testing.TB) string { return plain.get(t, "0") }

// WithUSB is StemHW built with cgo, for tests that show it a machine with USB
// devices.
func WithUSB(t testing.TB) string { return withUSB.get(t, "1") }

func (p *program) get(t testing.TB, cgo string) string {
	t.Helper()
	p.once.Do(func() { p.path, p.fail = build(cgo) })
	if p.fail != nil {
		t.Fatal(p.fail)
	}
	return p.path
}

// Cleanup removes what was built. Call it at the end of TestMain.
func Cleanup() {
	for _, p := range []*program{&plain, &withUSB} {
		if p.path != "" {
			os.RemoveAll(filepath.Dir(p.path))
		}
	}
}

// Main runs a package's tests and removes the program afterwards:
//
//	func TestMain(m *testing.M) { os.Exit(built.Main(m)) }
func Main(m *testing.M) int {
	defer Cleanup()
	return m.Run()
}

func build(cgo string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	if err := touch(root); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "stem-hw-built-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "stem-hw")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/stem-hw")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("go build ./cmd/stem-hw: %w\n%s", err, out)
	}
	return bin, nil
}

// touch opens every file that the program is built from.
func touch(root string) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".toml", ".mod", ".sum", ".rules":
		default:
			return nil
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		return f.Close()
	})
}
