package mcp

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func TestExpr(t *testing.T) {
	for in, want := range map[string]string{
		"list":                    "list",
		" a + b*2 ":               "a + b * 2",
		"p->next->value":          "p->next->value",
		"s.a[3].b":                "s.a[3].b",
		"*p@4":                    "*p@4",
		"&x":                      "&x",
		"(a + b) * 3 == 0x10":     "(a + b) * 3 == 16",
		"$sp":                     "$sp",
		"c == 'x'":                "c == 120",
		"a<<2 | b>>1":             "a << 2 | b >> 1",
		"!a && ~b != -1":          "!a && ~b != -1",
		"(name)":                  "name",
		"a <= b":                  "a <= b",
		"n - -1":                  "n - -1",
		"buf[i + 1] & 0xffUL":     "buf[i + 1] & 255",
		"a ? 1":                   "",
		"":                        "",
		"main()":                  "",
		"(int)system(\"x\")":      "",
		"(f)(x)":                  "",
		"f (x)":                   "",
		"p->f(1)":                 "",
		"a = 1":                   "",
		"a += 1":                  "",
		"a == b = c":              "",
		"a <<= 1":                 "",
		"a++":                     "",
		"--a":                     "",
		"a--":                     "",
		"$_shell(\"ls\")":         "",
		"$_":                      "",
		"$_exitcode":              "",
		"(char *)x":               "",
		"*(int*)0x40130000":       "",
		"sizeof x":                "",
		"a, b":                    "",
		"a; shell ls":             "",
		"a\nshell ls":             "",
		"a // b":                  "",
		"a /* b */":               "",
		"\"text\"":                "",
		"{int}0x20000000":         "",
		"a::b":                    "",
		"*p@1000":                 "",
		"'\\n'":                   "",
		"ä":                       "",
		"-interpreter-exec x":     "",
		strings.Repeat("(", 99):   "",
		strings.Repeat("a+", 500): "",
	} {
		got, err := parseExpr(in)
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
		if err != nil && faults.StatusOf(err) != faults.StatusRefused {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// FuzzExpr: what is let through is of harmless characters, has no call and no
// assignment, and reads as itself.
func FuzzExpr(f *testing.F) {
	for _, s := range []string{"a", "p->x[3] == 'c' && $sp > 1", "(a)", "f(x)", "a=b", "*p@3", "a<=b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, err := parseExpr(in)
		if err != nil {
			return
		}
		for i := range len(out) {
			c := out[i]
			if !isAlpha(c) && !isDigit(c) && !strings.ContainsRune(" _$.[]()@&|^!~=<>+-*/%", rune(c)) {
				t.Fatalf("%q gives %q", in, out)
			}
			if c == '(' && i > 0 && (isAlpha(out[i-1]) || isDigit(out[i-1]) || out[i-1] == '_' || out[i-1] == ')' || out[i-1] == ']') {
				t.Fatalf("%q gives a call: %q", in, out)
			}
			if c == '=' {
				double := i+1 < len(out) && out[i+1] == '=' || i > 0 && strings.IndexByte("=!<>", out[i-1]) >= 0
				if !double {
					t.Fatalf("%q gives an assignment: %q", in, out)
				}
			}
		}
		if strings.Contains(out, "$_") || strings.Contains(out, "++") || strings.Contains(out, "--") {
			t.Fatalf("%q gives %q", in, out)
		}
		if again, err := parseExpr(out); len(out) <= maxExpr && (err != nil || again != out) {
			t.Fatalf("%q gives %q, which gives %q, %v", in, out, again, err)
		}
	})
}

func TestCondition(t *testing.T) {
	for in, ok := range map[string]bool{
		"i == 5": true, "p->n > 0 && a[3] != 2": true, "$a0 < 3 || x >= y": true,
		"i": false, "i + 1 == 2": false, "*p == 1": false, "f(1) == 2": false, "(a == 1)": false, "a == 1 == 1": false, "!a == 1": false, "a[i+1] == 2": false, "i = 5": false,
	} {
		if _, err := parseCondition(in); (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestLocation(t *testing.T) {
	for in, want := range map[string]string{
		"main.c:12": "--source main.c --line 12", "src/a-b.c:3": "--source src/a-b.c --line 3", "main": "--function main", "*0x10000020": "*0x10000020", "/abs/ü.c:1": "--source /abs/ü.c --line 1",
		"": "", "-interpreter-exec": "", "main if f(1)": "", "../x.c:1": "", "a/../../x.c:1": "", "main.c:0": "", "main.c:x": "", "*main": "", "*0x10+f()": "", "a b.c:1": "", "-x.c:1": "", "probe:x:y": "", "a;b.c:1": "", "sizeof": "",
	} {
		got, err := parseLocation(in)
		if strings.Join(got, " ") != want || (want == "") != (err != nil) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}
