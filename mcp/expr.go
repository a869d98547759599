package mcp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// The grammar of expressions. It has no call, no assignment, no cast and no
// convenience function; what is parsed is written anew for gdb, so nothing of the
// text passes that the grammar does not know.
//
//	expression  = unary { operator unary }            (C's precedence)
//	unary       = { "!" | "~" | "-" | "*" | "&" } postfix [ "@" number ]
//	postfix     = primary { "[" expression "]" | "." name | "->" name }
//	primary     = name | number | character | "$" register | "(" expression ")"

// Bounds of an expression.
const (
	maxExpr      = 400
	maxExprDepth = 24
	maxRepeat    = 256
)

// parseExpr returns an expression as it is given to gdb.
func parseExpr(text string) (string, error) {
	p := exprParser{s: text}
	if len(text) > maxExpr {
		return "", badExpr(text[:40]+"…", fmt.Sprintf("more than %d characters", maxExpr))
	}
	out, err := p.binary(0, 0)
	if err == nil {
		p.space()
		if p.i < len(p.s) {
			err = p.fail()
		}
	}
	if err != nil {
		return "", badExpr(text, err.Error())
	}
	return out, nil
}

func badExpr(text, why string) *faults.Fault {
	f := refused("this expression is not of the grammar", fmt.Sprintf("%q: %s", text, why))
	f.Wanted = "names, registers, numbers, . -> [] * & and operators: no calls, casts or assignments"
	return f
}

type exprParser struct {
	s string
	i int
}

func (p *exprParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
	}
}

func (p *exprParser) fail() error {
	if p.i >= len(p.s) {
		return fmt.Errorf("it ends too soon")
	}
	if p.s[p.i] == '(' {
		return fmt.Errorf("nothing is called here (character %d)", p.i+1)
	}
	return fmt.Errorf("%q at character %d", p.s[p.i], p.i+1)
}

// levels are the binary operators, weakest first. An assignment is none.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

// operator takes an operator of one level.
func (p *exprParser) operator(level int) string {
	p.space()
	rest := p.s[p.i:]
	for _, op := range levels[level] {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		next := byte(0)
		if len(rest) > len(op) {
			next = rest[len(op)]
		}
		switch {
		case len(op) == 1 && strings.ContainsRune("|&<>", rune(op[0])) && next == op[0]: // a longer operator
		case next == '=' && op != "==" && op != "!=" && op != "<=" && op != ">=": // += and the like, or <= of another level
		case (op == "==" || op == "!=" || op == "<=" || op == ">=") && next == '=':
		case op == "-" && next == '>', op == "-" && next == '-', op == "+" && next == '+', op == "/" && (next == '/' || next == '*'):
		default:
			p.i += len(op)
			return op
		}
	}
	return ""
}

func (p *exprParser) binary(level, depth int) (string, error) {
	if level == len(levels) {
		return p.unary(depth)
	}
	left, err := p.binary(level+1, depth)
	if err != nil {
		return "", err
	}
	for {
		op := p.operator(level)
		if op == "" {
			return left, nil
		}
		right, err := p.binary(level+1, depth)
		if err != nil {
			return "", err
		}
		left += " " + op + " " + right
	}
}

func (p *exprParser) unary(depth int) (string, error) {
	if depth > maxExprDepth {
		return "", fmt.Errorf("it is nested too deeply")
	}
	p.space()
	if p.i < len(p.s) && strings.IndexByte("!~-*&", p.s[p.i]) >= 0 {
		op := p.s[p.i]
		if p.i+1 < len(p.s) && p.s[p.i+1] == op && (op == '-' || op == '&') || p.i+1 < len(p.s) && p.s[p.i+1] == '=' {
			return "", p.fail()
		}
		p.i++
		inner, err := p.unary(depth + 1)
		return string(op) + inner, err
	}
	out, err := p.postfix(depth)
	if err != nil {
		return "", err
	}
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '@' {
		p.i++
		p.space()
		n, err := p.number()
		if err != nil {
			return "", err
		}
		if v, err := strconv.ParseUint(n, 0, 32); err != nil || v < 1 || v > maxRepeat {
			return "", fmt.Errorf("@ takes 1 to %d", maxRepeat)
		}
		out += "@" + n
	}
	return out, nil
}

func (p *exprParser) postfix(depth int) (string, error) {
	out, err := p.primary(depth)
	if err != nil {
		return "", err
	}
	for {
		p.space()
		rest := p.s[p.i:]
		switch {
		case strings.HasPrefix(rest, "["):
			p.i++
			in, err := p.binary(0, depth+1)
			if err != nil {
				return "", err
			}
			p.space()
			if p.i >= len(p.s) || p.s[p.i] != ']' {
				return "", p.fail()
			}
			p.i++
			out += "[" + in + "]"
		case strings.HasPrefix(rest, "->"), strings.HasPrefix(rest, "."):
			op := "."
			if rest[0] == '-' {
				op = "->"
			}
			p.i += len(op)
			p.space()
			name, err := p.name()
			if err != nil {
				return "", err
			}
			out += op + name
		case strings.HasPrefix(rest, "("):
			return "", p.fail()
		default:
			return out, nil
		}
	}
}

func (p *exprParser) primary(depth int) (string, error) {
	p.space()
	if p.i >= len(p.s) {
		return "", p.fail()
	}
	switch c := p.s[p.i]; {
	case c == '(':
		p.i++
		in, err := p.binary(0, depth+1)
		if err != nil {
			return "", err
		}
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != ')' {
			return "", p.fail()
		}
		p.i++
		// (name) in front of something could be read as a cast.
		if inner := strings.TrimSpace(in); isName(inner) {
			return inner, nil
		}
		return "(" + in + ")", nil
	case c == '$':
		p.i++
		start := p.i
		for p.i < len(p.s) && (isAlpha(p.s[p.i]) || isDigit(p.s[p.i]) || p.s[p.i] == '_') {
			p.i++
		}
		name := p.s[start:p.i]
		if name == "" || !isAlpha(name[0]) || len(name) > 16 {
			return "", fmt.Errorf("$%s is no register", name)
		}
		return "$" + name, nil
	case c == '\'':
		if p.i+2 < len(p.s) && p.s[p.i+2] == '\'' && p.s[p.i+1] >= 0x20 && p.s[p.i+1] < 0x7f && p.s[p.i+1] != '\'' && p.s[p.i+1] != '\\' {
			v := p.s[p.i+1]
			p.i += 3
			return strconv.Itoa(int(v)), nil
		}
		return "", p.fail()
	case isDigit(c):
		return p.number()
	case isAlpha(c) || c == '_':
		return p.name()
	}
	return "", p.fail()
}

func (p *exprParser) number() (string, error) {
	start := p.i
	for p.i < len(p.s) && (isAlpha(p.s[p.i]) || isDigit(p.s[p.i])) {
		p.i++
	}
	text := p.s[start:p.i]
	v, err := strconv.ParseUint(strings.TrimRight(strings.ToLower(text), "ul"), 0, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no whole number", text)
	}
	return fmt.Sprintf("%d", v), nil
}

// words mean something else than a name to gdb, in one of its languages.
var words = []string{
	"sizeof", "alignof", "_Alignof", "typeof", "__typeof__", "decltype", "typeid", "new", "delete", "operator", "this", "static_cast",
	"reinterpret_cast", "dynamic_cast", "const_cast", "struct", "union", "enum", "class", "unsigned", "signed", "int", "char", "short", "long",
	"float", "double", "void", "const", "volatile", "template", "_Bool",
}

func (p *exprParser) name() (string, error) {
	start := p.i
	for p.i < len(p.s) && (isAlpha(p.s[p.i]) || p.s[p.i] == '_' || p.i > start && isDigit(p.s[p.i])) {
		p.i++
	}
	name := p.s[start:p.i]
	if name == "" {
		return "", p.fail()
	}
	if slices.Contains(words, name) {
		return "", fmt.Errorf("%s is not of the grammar", name)
	}
	return name, nil
}

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isName says whether a text is one plain name.
func isName(s string) bool {
	for i := range len(s) {
		if !isAlpha(s[i]) && s[i] != '_' && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != "" && len(s) <= 128 && !slices.Contains(words, s)
}
