package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/stem-hw/stem-hw"

// pkg is what the test needs of `go list -json`.
type pkg struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
	GoFiles    []string
}

// list asks the go command for every package of the module, and all they need.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,CgoFiles,GoFiles", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("go list: %v\n%s", err, ee.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var ps []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

// dir returns the folder of a package of this module, "" for others.
func dir(importPath string) string {
	d, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	return d
}

func under(d, folder string) bool { return d == folder || strings.HasPrefix(d, folder+"/") }

func groupOf(d string) (group, bool) {
	for _, g := range groups {
		for _, top := range g.dirs {
			if under(d, top) {
				return g, true
			}
		}
	}
	return group{}, false
}

// check returns every arrow that the rules do not allow.
func check(ps []pkg) (wrong []string) {
	for _, p := range ps {
		from := dir(p.ImportPath)
		if from == "" {
			continue
		}
		g, ok := groupOf(from)
		if !ok {
			wrong = append(wrong, from+": a folder that no group of internal/arch/rules_test.go names")
			continue
		}
		if len(p.CgoFiles) > 0 && !under(from, "usb") {
			wrong = append(wrong, from+" uses cgo: only usb/ may")
		}
		for _, imp := range p.Imports {
			wrong = append(wrong, checkImport(from, g, imp)...)
		}
		for _, f := range p.GoFiles {
			if slices.Contains([]string{"util.go", "utils.go", "common.go", "helper.go", "helpers.go"}, path.Base(f)) {
				wrong = append(wrong, from+"/"+f+": the name says nothing")
			}
		}
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers"}, path.Base(from)) {
			wrong = append(wrong, from+": the name says nothing")
		}
	}
	return wrong
}

func checkImport(from string, g group, imp string) (wrong []string) {
	for _, o := range onlyIn {
		if under(imp, o.prefix) && !slices.ContainsFunc(o.dirs, func(d string) bool { return under(from, d) }) {
			wrong = append(wrong, from+" imports "+imp+": "+o.why)
		}
	}
	to := dir(imp)
	if to == "" {
		return wrong
	}
	for _, f := range forbidden {
		if under(from, f.from) && under(to, f.to) {
			wrong = append(wrong, from+" imports "+to+": "+f.why)
		}
	}
	tg, ok := groupOf(to)
	if !ok || tg.name == g.name || slices.Contains(g.below, tg.name) {
		return wrong
	}
	return append(wrong, from+" ("+g.name+") imports "+to+" ("+tg.name+"): arrows run downwards")
}

func TestArrows(t *testing.T) {
	goFiles(t, func(string, []byte) {}) // so that a cached verdict is never stale
	ps := list(t)
	own := 0
	for _, p := range ps {
		if dir(p.ImportPath) != "" {
			own++
		}
	}
	if own < 5 {
		t.Fatalf("go list named only %d packages of %s", own, module)
	}
	for _, w := range check(ps) {
		t.Error(w)
	}
}

// TestRulesCanFail feeds the rules arrows that must be refused.
func TestRulesCanFail(t *testing.T) {
	m := module + "/"
	tests := []struct {
		name string
		p    pkg
		want string
	}{
		{"upwards", pkg{ImportPath: m + "image", Imports: []string{m + "target"}}, "image (written) imports target (reach)"},
		{"from the bottom", pkg{ImportPath: m + "faults", Imports: []string{m + "ui"}}, "arrows run downwards"},
		{"between siblings", pkg{ImportPath: m + "uf2", Imports: []string{m + "board"}}, "arrows run downwards"},
		{"how a core is reached must not know sim", pkg{ImportPath: m + "gdbserver", Imports: []string{m + "sim/rp2350"}}, "arrows run downwards"},
		{"agents must not know sim", pkg{ImportPath: m + "mcp", Imports: []string{m + "sim/rp2350"}}, "arrows run downwards"},
		{"cobra", pkg{ImportPath: m + "session", Imports: []string{"github.com/spf13/cobra"}}, "only cmd"},
		{"cgo", pkg{ImportPath: m + "console", CgoFiles: []string{"tty.go"}}, "only usb/"},
		{"single edge", pkg{ImportPath: m + "sim/hazard3", Imports: []string{m + "sim/rp2350"}}, "must not know the chip"},
		{"unknown folder", pkg{ImportPath: m + "misc"}, "no group"},
		{"folder's name", pkg{ImportPath: m + "sim/util"}, "says nothing"},
		{"tools are not for import", pkg{ImportPath: m + "session", Imports: []string{m + "internal/citool"}}, "arrows run downwards"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(check([]pkg{tt.p}), "\n")
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want something with %q", got, tt.want)
			}
		})
	}
	ok := pkg{ImportPath: m + "cmd/stem-hw", Imports: []string{m + "sim/rp2350", m + "faults", "github.com/spf13/cobra", "fmt"}}
	if got := check([]pkg{ok}); len(got) != 0 {
		t.Errorf("allowed arrows refused: %v", got)
	}
}
