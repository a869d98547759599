package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const p = module + "x"

// stream plays a file of events through citool by way of cat.
func stream(t *testing.T, lines ...string) (out string, status int, report string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "events")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, "report")
	var buf, stderr bytes.Buffer // two: the child writes to the second meanwhile
	status = run([]string{"-report", rows, "unit", "--", "cat", file}, &buf, &stderr)
	b, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	return buf.String(), status, string(b)
}

func ev(action, test, output string) string {
	return fmt.Sprintf(`{"Action":%q,"Package":%q,"Test":%q,"Output":%q}`, action, p, test, output)
}

func TestVerdicts(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string
		status int
		want   []string
		report string
	}{
		{
			"pass",
			[]string{ev("run", "TestA", ""), ev("pass", "TestA", ""), ev("pass", "", "")},
			0, []string{"ok    x", "unit: 1 passed, 0 failed, 0 skipped"}, "unit\t1\t0\t0\t",
		},
		{
			"failure shows its output",
			[]string{ev("output", "TestA", "x_test.go:3: seven is not eight\n"), ev("fail", "TestA", ""), ev("fail", "", "")},
			1, []string{"seven is not eight", "x TestA", "unit: 0 passed, 1 failed, 0 skipped"}, "unit\t0\t1\t0\t",
		},
		{
			"skip keeps its reason",
			[]string{ev("output", "TestA", "    x_test.go:9: needs two boards\n"), ev("skip", "TestA", ""), ev("pass", "TestB", ""), ev("pass", "", "")},
			0, []string{"needs two boards: x TestA", "1 passed, 0 failed, 1 skipped"}, "unit\t1\t0\t1\t",
		},
		{
			"package that does not build",
			[]string{`{"ImportPath":"x","Action":"build-output","Output":"x.go:1: undefined: y\n"}`, ev("fail", "", "")},
			1, []string{"undefined: y", "0 passed, 1 failed"}, "unit\t0\t1\t0\t",
		},
		{
			"package that panics",
			[]string{ev("output", "TestA", "panic: out of luck\n"), ev("fail", "", "")},
			1, []string{"out of luck"}, "unit\t0\t1\t0\t",
		},
		{
			"nothing ran",
			[]string{ev("skip", "", "")},
			1, []string{"no test was run"}, "unit\t0\t0\t0\t",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, status, report := stream(t, tt.lines...)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			for _, w := range tt.want {
				if !strings.Contains(out, w) {
					t.Errorf("output lacks %q:\n%s", w, out)
				}
			}
			if !strings.HasPrefix(report, tt.report) {
				t.Errorf("report %q, want %q", report, tt.report)
			}
		})
	}
}

func TestCommandFailureIsFailure(t *testing.T) {
	var buf, stderr bytes.Buffer
	if got := run([]string{"unit", "--", "sh", "-c", `echo '{"Action":"pass","Package":"x","Test":"T"}'; exit 3`}, &buf, &stderr); got != 1 {
		t.Errorf("status %d, want 1:\n%s", got, buf.String())
	}
}

func TestUsage(t *testing.T) {
	var buf bytes.Buffer
	if got := run([]string{"unit"}, &buf, &buf); got != 2 {
		t.Errorf("status %d, want 2", got)
	}
}
