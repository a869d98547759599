package umockdev

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Preload is the part of the library that has to be in a process from its start.
const Preload = "libumockdev-preload.so.0"

// Main is the TestMain of a package that uses a Testbed: it starts the test
// binary anew with the preload part. Where the library is not installed the tests
// run without it, and Need skips them.
func Main(m *testing.M) int {
	if !Preloaded() && installed() {
		exe, err := os.Executable()
		if err == nil {
			err = syscall.Exec(exe, os.Args, append(os.Environ(), "LD_PRELOAD="+Preload))
		}
		panic("the test binary cannot be started with " + Preload + ": " + err.Error())
	}
	return m.Run()
}

// Preloaded says that this process sees the made-up machine.
func Preloaded() bool { return strings.Contains(os.Getenv("LD_PRELOAD"), Preload) }

func installed() bool {
	for _, pattern := range []string{"/usr/lib/*/" + Preload, "/usr/lib/" + Preload, "/usr/lib64/" + Preload, "/usr/local/lib/" + Preload} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// Need skips a test where the library is not installed.
func Need(t testing.TB) {
	t.Helper()
	if !Preloaded() {
		t.Skip("umockdev is not installed (apt-get install umockdev)")
	}
}
