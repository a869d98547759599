package udevrules

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Problem is something wrong with a rules file.
type Problem struct {
	Line int
	Text string
}

// String shows it as compilers do.
func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// token is one KEY{attribute}OP"value" of a rule (udev(7), RULES FILES).
type token struct{ key, attribute, op, value string }

var tokenForm = regexp.MustCompile(`^([A-Z_]+)(?:\{([^}]*)\})?\s*(==|!=|\+=|-=|:=|=)\s*"((?:[^"\\]|\\.)*)"`)

// keys are those that the rules may use, with what may be done to them: m match,
// a assign, + add.
var keys = map[string]string{
	"ACTION": "m", "SUBSYSTEM": "m", "SUBSYSTEMS": "m", "KERNEL": "m", "KERNELS": "m", "TEST": "m", "ATTRS": "m",
	"ATTR": "ma", "ENV": "ma", "TAG": "m+", "SYMLINK": "+", "MODE": "a", "GROUP": "a", "GOTO": "a", "LABEL": "a",
}

// firstLate is the number of the file in which uaccess is acted upon.
const firstLate = 73

// Lint checks rules for what udev refuses or silently ignores, and for what this
// project promises about them.
func Lint(name string, src []byte) (problems []Problem) {
	bad := func(line int, format string, args ...any) {
		problems = append(problems, Problem{line, fmt.Sprintf(format, args...)})
	}
	number, _, _ := strings.Cut(path.Base(name), "-")
	if n, err := strconv.Atoi(number); err != nil || n >= firstLate || n < 60 || !strings.HasSuffix(name, ".rules") {
		bad(0, "the file is called %s, but uaccess needs a number from 60 to %d", path.Base(name), firstLate-1)
	}
	labels, jumps := map[string]int{}, map[string]int{}
	for i, line := range strings.Split(string(src), "\n") {
		n := i + 1
		line = strings.TrimRight(line, " \t")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule, err := parseRule(line)
		if err != nil {
			bad(n, "%v", err)
			continue
		}
		for _, p := range lintRule(rule) {
			bad(n, "%s", p)
		}
		for _, t := range rule {
			switch t.key {
			case "LABEL":
				if labels[t.value] != 0 {
					bad(n, "the label %s is there twice", t.value)
				}
				labels[t.value] = n
			case "GOTO":
				jumps[t.value] = n
			}
		}
	}
	for label, n := range jumps {
		switch at := labels[label]; {
		case at == 0:
			bad(n, "there is no label %s", label)
		case at < n:
			bad(n, "the label %s is above: udev only goes on downwards", label)
		}
	}
	return problems
}

// parseRule reads one line.
func parseRule(line string) (rule []token, err error) {
	for rest := line; ; {
		m := tokenForm.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("not KEY==\"value\": %s", rest)
		}
		rule = append(rule, token{m[1], m[2], m[3], m[4]})
		rest = rest[len(m[0]):]
		if rest == "" {
			return rule, nil
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, ", "); !ok {
			return nil, fmt.Errorf("no comma and space before %s", rest)
		}
	}
}

var hexNumber = regexp.MustCompile(`^[0-9a-f]{4}$`)

// lintRule checks the parts of one line.
func lintRule(rule []token) (out []string) {
	var assigns []string
	for _, t := range rule {
		allowed, known := keys[t.key]
		switch {
		case !known:
			out = append(out, "the key "+t.key+" is not one of those that the rules may use")
			continue
		case t.op == "==" || t.op == "!=":
			if !strings.Contains(allowed, "m") {
				out = append(out, t.key+" cannot be matched")
			}
		case t.op == "=":
			if !strings.Contains(allowed, "a") {
				out = append(out, t.key+" cannot be set with =")
			}
			assigns = append(assigns, t.key)
		case t.op == "+=":
			if !strings.Contains(allowed, "+") {
				out = append(out, t.key+" cannot be added to")
			}
			assigns = append(assigns, t.key)
		default:
			out = append(out, "the operator "+t.op+" is not used here")
		}
		if strings.HasPrefix(t.attribute, "id") && !hexNumber.MatchString(t.value) {
			out = append(out, t.attribute+" is four hexadecimal digits in small letters, not "+t.value)
		}
		if t.key == "MODE" && t.value != "0660" {
			out = append(out, "a node of mode "+t.value+": boards are not for everybody on the machine")
		}
	}
	for _, k := range assigns {
		if (k == "GROUP" || k == "TAG") && len(assigns) > 1 {
			out = append(out, k+" stands with other assignments: udev drops the whole line if it does not know the group")
		}
	}
	return out
}
