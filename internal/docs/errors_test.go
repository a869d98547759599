package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constants returns the values of a file's constants of one type.
func constants(t *testing.T, file, typ string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != typ {
			return true
		}
		for _, val := range v.Values {
			lit, ok := val.(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s: a constant of type %s without a literal", file, typ)
			}
			s := lit.Value
			if lit.Kind == token.STRING {
				if s, err = strconv.Unquote(s); err != nil {
					t.Fatal(err)
				}
			}
			if out[s] {
				t.Errorf("%s: %s twice", file, s)
			}
			out[s] = true
		}
		return true
	})
	return out
}

// rows returns the first cells of a table's rows below a heading.
func rows(t *testing.T, doc, heading string) map[string][]string {
	t.Helper()
	_, part, ok := strings.Cut(doc, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	out := map[string][]string{}
	for _, l := range regexp.MustCompile(`(?m)^\| .*\|$`).FindAllString(part, -1)[1:] {
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		out[cells[0]] = cells
	}
	return out
}

// TestErrorsDocument compares docs/errors.md with package faults.
func TestErrorsDocument(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", "..", "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	faults := filepath.Join("..", "..", "faults")
	for heading, want := range map[string]map[string]bool{
		"Codes":       constants(t, filepath.Join(faults, "codes.go"), "Code"),
		"Exit status": constants(t, filepath.Join(faults, "status.go"), "Status"),
	} {
		have := rows(t, string(src), heading)
		if len(want) < 10 {
			t.Fatalf("%s: only %v", heading, want)
		}
		for _, c := range slices.Sorted(maps.Keys(want)) {
			if have[c] == nil {
				t.Errorf("docs/errors.md does not explain %s", c)
			}
		}
		for c, cells := range have {
			if !want[c] {
				t.Errorf("docs/errors.md explains %s, which does not exist", c)
			}
			if strings.TrimSpace(cells[1]) == "" {
				t.Errorf("docs/errors.md: the row of %s is empty", c)
			}
		}
	}
	// Every status in the table of codes must be one of the contract.
	statuses := constants(t, filepath.Join(faults, "status.go"), "Status")
	for c, cells := range rows(t, string(src), "Codes") {
		for _, s := range regexp.MustCompile(`\d+`).FindAllString(cells[1], -1) {
			if !statuses[s] {
				t.Errorf("docs/errors.md: %s has status %s, which does not exist", c, s)
			}
		}
	}
}
