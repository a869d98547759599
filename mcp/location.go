package mcp

import (
	"path"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// parseLocation reads where a breakpoint is to be, FILE:LINE, FUNCTION or
// *ADDRESS, and returns it as explicit parameters of gdb's.
func parseLocation(text string) ([]string, error) {
	if at, ok := strings.CutPrefix(text, "*"); ok {
		v, err := strconv.ParseUint(at, 0, 64)
		if err != nil {
			return nil, badLocation(text)
		}
		return []string{"*0x" + strconv.FormatUint(v, 16)}, nil
	}
	if i := strings.LastIndexByte(text, ':'); i > 0 {
		file, line := text[:i], text[i+1:]
		n, err := strconv.Atoi(line)
		if err != nil || n < 1 || n > 1<<20 || !plainPath(file) {
			return nil, badLocation(text)
		}
		return []string{"--source", file, "--line", strconv.Itoa(n)}, nil
	}
	if !isName(text) {
		return nil, badLocation(text)
	}
	return []string{"--function", text}, nil
}

// plainPath says whether a path is made of letters, digits and . _ - + / alone,
// and goes nowhere upwards.
func plainPath(p string) bool {
	if p == "" || len(p) > 512 || p[0] == '-' {
		return false
	}
	for _, r := range p {
		if r < 0x80 && !isAlpha(byte(r)) && !isDigit(byte(r)) && !strings.ContainsRune("._-+/", r) || r >= 0x80 && r < 0xa0 {
			return false
		}
	}
	return p == path.Clean(p) && p != ".." && !strings.HasPrefix(p, "../")
}

func badLocation(text string) *faults.Fault {
	f := refused("this is no place for a breakpoint", strconv.Quote(text))
	f.Wanted = "FILE:LINE, FUNCTION or *0xADDRESS"
	return f
}

// parseCondition reads a condition: comparisons of variables, fields, registers
// and numbers, joined by && and ||.
func parseCondition(text string) (string, error) {
	out, err := parseExpr(text)
	if err != nil {
		return "", err
	}
	f := refused("a condition only compares", strconv.Quote(text))
	f.Wanted = "for example: i == 5 && p->n > 0"
	joined := strings.ReplaceAll(out, "||", "&&")
	for _, part := range strings.Split(joined, "&&") {
		sides := strings.Fields(part)
		if len(sides) != 3 || !compares(sides[1]) || !operand(sides[0]) || !operand(sides[2]) {
			return "", f
		}
	}
	return out, nil
}

func compares(op string) bool {
	switch op {
	case "==", "!=", "<", ">", "<=", ">=":
		return true
	}
	return false
}

// operand says whether a side of a comparison is a number, a register, or a
// variable with fields and fixed elements.
func operand(s string) bool {
	return s != "" && strings.IndexFunc(strings.ReplaceAll(s, "->", "."), func(r rune) bool {
		return r > 0x7f || !isAlpha(byte(r)) && !isDigit(byte(r)) && !strings.ContainsRune("_.[]$", r)
	}) < 0
}
