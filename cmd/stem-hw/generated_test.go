package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/stem-hw/stem-hw/ui"
)

// tree is the whole command tree as a user has it.
func tree(t *testing.T) *cobra.Command {
	t.Helper()
	s := ui.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	u, err := ui.New(s, ui.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root := (&app{ui: u, streams: s, getenv: func(string) string { return "" }}).root()
	root.InitDefaultCompletionCmd()
	walk(root, func(c *cobra.Command) { c.DisableAutoGenTag = true })
	return root
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

// pages generates the manual: man pages and docs/cli, by path in the project.
func pages(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for dir, generate := range map[string]func(string) error{
		"docs/man": func(dir string) error {
			// A fixed date: the page changes when the command does.
			date := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
			return doc.GenManTree(tree(t), &doc.GenManHeader{Title: "STEM-HW", Section: "1", Source: "stem-hw", Manual: "stem-hw", Date: &date}, dir)
		},
		"docs/cli": func(dir string) error { return doc.GenMarkdownTree(tree(t), dir) },
	} {
		tmp := t.TempDir()
		if err := generate(tmp); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(tmp, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[dir+"/"+f.Name()] = append(bytes.TrimRight(b, "\n"), '\n')
		}
	}
	return out
}

// TestGeneratedDocs fails when docs/man or docs/cli is stale. With
// STEM_HW_DOCS=write (`make docs`) it writes them instead.
func TestGeneratedDocs(t *testing.T) {
	want := pages(t)
	root := filepath.Join("..", "..")
	write := os.Getenv("STEM_HW_DOCS") == "write"
	for _, dir := range []string{"docs/man", "docs/cli"} {
		if write {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range have {
			if path := dir + "/" + f.Name(); want[path] == nil {
				if write {
					if err := os.Remove(filepath.Join(root, path)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				t.Errorf("%s describes a command that does not exist: run make docs", path)
			}
		}
	}
	for path, text := range want {
		file := filepath.Join(root, path)
		if write {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, text) {
			t.Errorf("%s is stale (%v): run make docs", path, err)
		}
	}
}

// TestHelpTexts holds every verb's help to the house's form.
func TestHelpTexts(t *testing.T) {
	root := tree(t)
	n := 0
	walk(root, func(c *cobra.Command) {
		path := c.CommandPath()
		if c == root || c.Hidden || strings.HasPrefix(path, "stem-hw completion") {
			return
		}
		n++
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > 76 {
			t.Errorf("%s: Short is one phrase without a full stop: %q", path, c.Short)
		}
		if first := c.Short; first != "" && strings.ToLower(first[:1]) != first[:1] {
			t.Errorf("%s: Short begins with a small letter: %q", path, first)
		}
		if c.Runnable() && !c.HasSubCommands() && !strings.Contains(c.Example, path) {
			t.Errorf("%s: no example that shows it", path)
		}
		if c.HasParent() && c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s belongs to no group of the help", path)
		}
		if strings.ContainsAny(c.Name(), "-_ ") && c.Name() != "ssh-wrapper" { // it is in files of sshd's
			t.Errorf("%s: a verb is one word", path)
		}
		for _, l := range strings.Split(c.Long+"\n"+c.Example, "\n") {
			if len(l) > 100 {
				t.Errorf("%s: a line of %d characters: %q", path, len(l), l)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: the usage is one phrase without a full stop: %q", path, f.Name, f.Usage)
			}
		})
	})
	if n < 3 {
		t.Fatalf("only %d verbs seen", n)
	}
}
