package arch

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines is the hard limit of a Go file: one idea each.
const maxLines = 600

// packageComment may stand in the only file of a small package, or a generated one.
var packageComment = regexp.MustCompile(`(?m)^// (Package|Command) `)

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

// goFiles visits every Go file of the project. Reading them also tells the go
// command's test cache what these tests depend on.
func goFiles(t *testing.T, visit func(rel string, src []byte)) {
	t.Helper()
	root := filepath.Join("..", "..")
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin" || name == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		n++
		visit(filepath.ToSlash(rel), src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Fatalf("only %d Go files seen", n)
	}
}

func TestFiles(t *testing.T) {
	docs := map[string]bool{}
	dirs := map[string]string{}
	goFiles(t, func(rel string, src []byte) {
		d := filepath.Dir(rel)
		if strings.HasSuffix(rel, "_test.go") {
			if _, ok := dirs[d]; !ok && filepath.Base(d) != "examples" {
				dirs[d] = rel
			}
		} else {
			dirs[d] = rel
		}
		if filepath.Base(rel) == "doc.go" || packageComment.Match(src) {
			docs[d] = true
		}
		if lines := bytes.Count(src, []byte("\n")); lines > maxLines && !bytes.Contains(src, []byte("DO NOT EDIT")) {
			t.Errorf("%s has %d lines, at most %d: one idea a file", rel, lines, maxLines)
		}
		if rel == "internal/arch/files_test.go" {
			return
		}
		if m := unfinished.Find(src); m != nil {
			t.Errorf("%s contains %s", rel, m)
		}
	})
	for d := range dirs {
		if !docs[d] {
			t.Errorf("%s has no doc.go that says what it owns", d)
		}
	}
}
