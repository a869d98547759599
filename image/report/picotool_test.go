package report

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// picotool returns a function that runs picotool in a folder: the one of
// STEM_PICOTOOL (a command with its words), the one on the PATH, or that of a
// root made for it, if makeRoot allows to make it.
func picotool(t testing.TB, makeRoot bool) func(dir string, args ...string) (string, error) {
	t.Helper()
	words := picotoolWords(t, makeRoot)
	run := func(dir string, args ...string) (string, error) {
		// On some files it takes all memory, or never ends.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		line := append([]string{"-c", `ulimit -v 4194304; exec "$@"`, "sh"}, append(words, args...)...)
		cmd := exec.CommandContext(ctx, "sh", line...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	v, err := run(t.TempDir(), "version")
	if err != nil {
		t.Skipf("picotool does not run: %v\n%s", err, v)
	}
	t.Log(strings.TrimSpace(v))
	return run
}

func picotoolWords(t testing.TB, makeRoot bool) []string {
	t.Helper()
	var words []string
	if p := os.Getenv("STEM_PICOTOOL"); p != "" {
		words = strings.Fields(p)
	} else if p, err := exec.LookPath("picotool"); err == nil {
		words = []string{p}
	} else if !makeRoot {
		t.Skip("no picotool: STEM_PICOTOOL is not set, and it is not on the PATH")
	} else {
		root, err := filepath.Abs("../../scripts/root")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath("mmdebstrap"); err != nil {
			t.Skip("no picotool: STEM_PICOTOOL is not set, it is not on the PATH, and mmdebstrap is not installed to get it")
		}
		if out, err := exec.Command(root, "path", "picotool").CombinedOutput(); err != nil {
			t.Skipf("no picotool: its root cannot be made: %s", out)
		}
		words = []string{root, "exec", "picotool", "picotool"}
	}
	return words
}
