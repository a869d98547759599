package main

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"
	"sort"
	"strings"
)

// event is one line of `go test -json` (go doc cmd/test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

// skip is one skipped test with its reason.
type skip struct{ pkg, test, reason string }

// suite gathers the events of one run.
type suite struct {
	passed, failed int
	skips          []skip
	failures       []string            // "pkg TestName", or "pkg" for a package that does not build
	output         map[string][]string // by "pkg test", kept until the test's verdict
	perPackage     map[string]int
	say            func(format string, args ...any)
	verbose        bool
}

func newSuite(say func(string, ...any)) *suite {
	return &suite{output: map[string][]string{}, perPackage: map[string]int{}, say: say}
}

// read consumes the stream. Lines that are not JSON (a compiler's words) are
// shown as they are.
func (s *suite) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 16<<20)
	for sc.Scan() {
		line := sc.Bytes()
		var e event
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil {
			s.say("%s\n", line)
			continue
		}
		s.handle(e)
	}
	return sc.Err()
}

func (s *suite) handle(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		s.say("%s", e.Output)
	case "output":
		s.output[key] = append(s.output[key], e.Output)
	case "pass":
		s.verdict(e, key, false)
	case "fail":
		s.verdict(e, key, true)
	case "skip":
		if e.Test == "" { // a package without test files
			delete(s.output, key)
			return
		}
		s.skips = append(s.skips, skip{e.Package, e.Test, reason(s.output[key])})
		delete(s.output, key)
	}
}

func (s *suite) verdict(e event, key string, failed bool) {
	out := s.output[key]
	delete(s.output, key)
	if e.Test == "" {
		s.packageVerdict(e, out, failed)
		return
	}
	s.perPackage[e.Package]++
	if !failed {
		s.passed++
		if s.verbose {
			s.say("  pass  %s %s\n", short(e.Package), e.Test)
		}
		return
	}
	s.failed++
	s.failures = append(s.failures, short(e.Package)+" "+e.Test)
	s.say("FAIL  %s %s\n%s", short(e.Package), e.Test, strings.Join(out, ""))
}

func (s *suite) packageVerdict(e event, out []string, failed bool) {
	n := s.perPackage[e.Package]
	if !failed {
		if n > 0 {
			s.say("ok    %-36s %4d tests %7.1f s\n", short(e.Package), n, e.Elapsed)
		}
		return
	}
	// A package fails without a failed test when it does not build, panics, or
	// runs into the time limit; then its output is the only witness.
	blamed := false
	for _, f := range s.failures {
		blamed = blamed || strings.HasPrefix(f, short(e.Package)+" ")
	}
	if !blamed {
		s.failed++
		s.failures = append(s.failures, short(e.Package))
	}
	s.say("FAIL  %s\n%s", short(e.Package), strings.Join(out, ""))
	for key, lines := range s.output {
		if strings.HasPrefix(key, e.Package+" ") {
			s.say("  unfinished: %s\n%s", key, strings.Join(lines, ""))
			delete(s.output, key)
		}
	}
}

var reasonLine = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

// reason finds what a test gave t.Skip.
func reason(output []string) string {
	r := ""
	for _, l := range output {
		if m := reasonLine.FindStringSubmatch(l); m != nil {
			r = strings.TrimSpace(m[1])
		}
	}
	if r == "" {
		return "no reason given"
	}
	return r
}

// skipTable groups the skips by reason, most frequent first.
func (s *suite) skipTable() (rows []string) {
	by := map[string][]string{}
	for _, k := range s.skips {
		by[k.reason] = append(by[k.reason], short(k.pkg)+" "+k.test)
	}
	reasons := make([]string, 0, len(by))
	for r := range by {
		reasons = append(reasons, r)
	}
	sort.Slice(reasons, func(i, j int) bool {
		a, b := reasons[i], reasons[j]
		if len(by[a]) != len(by[b]) {
			return len(by[a]) > len(by[b])
		}
		return a < b
	})
	for _, r := range reasons {
		names := by[r]
		sort.Strings(names)
		rows = append(rows, r+": "+strings.Join(names, ", "))
	}
	return rows
}

// module is stripped from package paths in what is shown.
const module = "github.com/stem-hw/stem-hw/"

func short(pkg string) string { return strings.TrimPrefix(pkg, module) }
