package mi

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of what is read: gdb answers a question about a huge array with one
// line, and nests as deep as the types of the program do.
const (
	MaxLine  = 8 << 20
	maxDepth = 200
)

// SyntaxError is a line that is no record.
type SyntaxError struct {
	// Offset is where in the line it went wrong.
	Offset int
	Why    string
}

// Error says what is wrong and where.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("gdb/MI: %s at byte %d", e.Why, e.Offset)
}

// ErrTooLong is a line beyond MaxLine.
var ErrTooLong = errors.New("gdb/MI: a record of more than 8 MiB")

// Parse reads one record from a line without its line feed.
func Parse(line string) (Record, error) {
	if len(line) > MaxLine {
		return Record{}, ErrTooLong
	}
	line = strings.TrimSuffix(line, "\r")
	if strings.TrimRight(line, " ") == "(gdb)" {
		return Record{Type: Prompt, Token: NoToken}, nil
	}
	p := &parser{s: line}
	return p.record()
}

type parser struct {
	s     string
	i     int
	depth int
}

func (p *parser) fail(format string, args ...any) error {
	return &SyntaxError{p.i, fmt.Sprintf(format, args...)}
}

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *parser) record() (Record, error) {
	r := Record{Token: NoToken}
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		if r.Token < 0 {
			r.Token = 0
		}
		if r.Token > (1<<62)/10 {
			return r, p.fail("a token that is too large")
		}
		r.Token = r.Token*10 + int64(p.s[p.i]-'0')
		p.i++
	}
	r.Type = Type(p.peek())
	p.i++
	switch r.Type {
	case Console, Target, Log:
		if p.i-1 != start {
			return r, p.fail("a token before a stream record")
		}
		text, err := p.cstring()
		if err != nil {
			return r, err
		}
		r.Text = text
		return r, p.end()
	case Result, Exec, Status, Notify:
	default:
		p.i--
		return r, p.fail("no record begins like this")
	}
	r.Class = p.word()
	if r.Class == "" {
		return r, p.fail("a record without a class")
	}
	for p.take(',') {
		f, err := p.field()
		if err != nil {
			return r, err
		}
		r.Results = append(r.Results, f)
	}
	return r, p.end()
}

func (p *parser) end() error {
	if p.i != len(p.s) {
		return p.fail("something follows the record")
	}
	return nil
}

// word reads a class or a variable's name.
func (p *parser) word() string {
	start := p.i
	for p.i < len(p.s) && isWord(p.s[p.i]) {
		p.i++
	}
	return p.s[start:p.i]
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// field reads name=value, or a value without a name.
func (p *parser) field() (f Field, err error) {
	switch p.peek() {
	case '"', '{', '[':
	default:
		f.Name = p.word()
		if f.Name == "" {
			return f, p.fail("a name is missing")
		}
		if !p.take('=') {
			return f, p.fail("= is missing behind %q", f.Name)
		}
	}
	f.Value, err = p.value()
	return f, err
}

func (p *parser) value() (v Value, err error) {
	switch p.peek() {
	case '"':
		v.Text, err = p.cstring()
		return v, err
	case '{':
		v.Kind = Tuple
		v.Fields, err = p.fields('}')
		return v, err
	case '[':
		v.Kind = List
		v.Fields, err = p.fields(']')
		return v, err
	}
	return v, p.fail("a value is missing")
}

// fields reads what stands between brackets.
func (p *parser) fields(closing byte) (out []Field, err error) {
	p.i++
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, p.fail("values nested more than %d deep", maxDepth)
	}
	if p.take(closing) {
		return nil, nil
	}
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		out = append(out, f)
		if p.take(closing) {
			return out, nil
		}
		if !p.take(',') {
			return nil, p.fail("%q or a comma is missing", string(closing))
		}
	}
}

// cstring reads a C string and undoes its escapes.
func (p *parser) cstring() (string, error) {
	if !p.take('"') {
		return "", p.fail("a string is missing")
	}
	start := p.i
	for p.i < len(p.s) && p.s[p.i] != '"' && p.s[p.i] != '\\' {
		p.i++
	}
	if p.peek() == '"' && p.i < len(p.s) {
		s := p.s[start:p.i]
		p.i++
		return s, nil
	}
	b := append(make([]byte, 0, p.i-start+32), p.s[start:p.i]...)
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch c {
		case '"':
			return string(b), nil
		case '\\':
			e, err := p.escape()
			if err != nil {
				return "", err
			}
			b = append(b, e)
		default:
			b = append(b, c)
		}
	}
	return "", p.fail("a string without an end")
}

// simple are the escapes of one character.
var simple = map[byte]byte{
	'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': 0x1b,
	'"': '"', '\\': '\\', '\'': '\'', '?': '?',
}

func (p *parser) escape() (byte, error) {
	if p.i >= len(p.s) {
		return 0, p.fail("a string without an end")
	}
	c := p.s[p.i]
	if c >= '0' && c <= '7' {
		n := 0
		for k := 0; k < 3 && p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '7'; k++ {
			n = n*8 + int(p.s[p.i]-'0')
			p.i++
		}
		if n > 255 {
			return 0, p.fail("an escape beyond one byte")
		}
		return byte(n), nil
	}
	e, ok := simple[c]
	if !ok {
		return 0, p.fail("an unknown escape \\%c", c)
	}
	p.i++
	return e, nil
}
