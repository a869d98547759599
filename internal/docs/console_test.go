package docs

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/built"
	"github.com/stem-hw/stem-hw/internal/docs/replay"
)

func TestMain(m *testing.M) { os.Exit(built.Main(m)) }

// documents are the Markdown files whose console blocks are replayed.
func documents(t *testing.T, root string) (names []string) {
	t.Helper()
	for _, top := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if strings.HasSuffix(p, ".md") {
				rel, err := filepath.Rel(root, p)
				if err != nil {
					return err
				}
				names = append(names, rel)
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return names
}

// goCaches keeps the Go caches outside the thrown-away HOME, for `make run`.
func goCaches(t *testing.T) (env []string) {
	t.Helper()
	for _, k := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", k).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, k+"="+strings.TrimSpace(string(out)))
	}
	return env
}

// TestConsoleBlocks replays every console block of the documents.
func TestConsoleBlocks(t *testing.T) {
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documents(t, root) {
		src, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := replay.Parse(name, string(src))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(blocks) == 0 {
			continue
		}
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			r, err := replay.Prepare(root, t.TempDir(), t.TempDir(), filepath.Dir(built.StemHW(t)))
			if err != nil {
				t.Fatal(err)
			}
			r.Env = append(r.Env, goCaches(t)...)
			for _, b := range blocks {
				if err := r.Run(context.Background(), name, b); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
