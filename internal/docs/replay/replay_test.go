package replay

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		name, want, got string
		ok              bool
	}{
		{"same", "a\nb", "a\nb", true},
		{"different", "a\nb", "a\nc", false},
		{"missing line", "a\nb", "a", false},
		{"surplus line", "a", "a\nb", false},
		{"in a line", "ran … cycles", "ran 1234 cycles", true},
		{"twice in a line", "… of … MHz", "150 of 150 MHz", true},
		{"nothing in a line", "a…b", "ab", true},
		{"overlap is no match", "aba…aba", "aba", false},
		{"lines", "a\n…\nz", "a\nb\nc\nz", true},
		{"no lines", "a\n…\nz", "a\nz", true},
		{"lines, then a repeated line", "…\nz", "z\nz", true},
		{"at the end", "a\n…", "a\nb", true},
		{"three dots are themselves", "a...", "abc", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if ok, _ := Match(Lines(tt.want), Lines(tt.got)); ok != tt.ok {
				t.Errorf("Match(%q, %q) = %v", tt.want, tt.got, ok)
			}
		})
	}
}

func runner(t *testing.T) *Runner {
	t.Helper()
	root, dir, home := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "story"), []byte("once\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Prepare(root, dir, home, home)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, doc, wrong string
	}{
		{"output", "```console\n$ echo a; echo b >&2\na\nb\n```\n", ""},
		{"wrong output", "```console\n$ echo a\nb\n```\n", `line "b" does not come out`},
		{"surplus output", "```console\n$ echo a; echo b\na\n```\n", "more comes out"},
		{"silent failure", "```console\n$ exit 3\n```\n", "exits with 3 and the document does not show it"},
		{"shown failure", "```console\n$ exit 3\n$ echo $?\n3\n```\n", ""},
		{"wrong status", "```console\n$ exit 3\n$ echo $?\n4\n```\n", `line "4"`},
		{"continued", "```console\n$ echo a \\\n> b\na b\n```\n", ""},
		{"indented", "- item\n  ```console\n  $ cat story\n  once\n  ```\n", ""},
		{"other fences are left alone", "```sh\n$ exit 1\n```\n```console\n$ true\n```\n", ""},
		{"empty line at the end of output", "```console\n$ echo a\na\n\n$ true\n```\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			blocks, err := Parse("x.md", tt.doc)
			if err != nil {
				t.Fatal(err)
			}
			if len(blocks) != 1 {
				t.Fatalf("%d blocks", len(blocks))
			}
			err = runner(t).Run(context.Background(), "x.md", blocks[0])
			switch {
			case tt.wrong == "" && err != nil:
				t.Error(err)
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
				t.Errorf("got %v, want %q", err, tt.wrong)
			}
		})
	}
}

func TestRunEndsSlowCommands(t *testing.T) {
	blocks, err := Parse("x.md", "```console\n$ sleep 600\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	r := runner(t)
	r.Limit = 50 * time.Millisecond
	if err := r.Run(context.Background(), "x.md", blocks[0]); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("got %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	if blocks, err := Parse("x.md", "    ```console\n    $ exit 1\n    ```\n"); err != nil || len(blocks) != 0 {
		t.Errorf("a fence shown as code is no fence: %v %v", blocks, err)
	}
	for name, doc := range map[string]string{
		"open":          "```console\n$ true\n",
		"empty":         "```console\n```\n",
		"output before": "```console\nhello\n$ true\n```\n",
	} {
		if _, err := Parse(name, doc); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("```console\n$ true\n```\n")
	f.Add("- a\n  ````console x\n  $ a \\\n  > b\n  …\n  ````\n")
	f.Fuzz(func(t *testing.T, src string) {
		blocks, err := Parse("x.md", src)
		if err != nil {
			return
		}
		for _, b := range blocks {
			if len(b.Steps) == 0 || b.Line < 1 {
				t.Fatalf("block %+v", b)
			}
		}
	})
}
