package console

import (
	"bytes"
	"strings"
)

// Ending is how a line ends.
type Ending string

// The endings. Keep changes nothing.
const (
	Keep Ending = "keep"
	CR   Ending = "cr"
	LF   Ending = "lf"
	CRLF Ending = "crlf"
)

// Endings are the words for them.
func Endings() []string { return []string{string(Keep), string(CR), string(LF), string(CRLF)} }

func (e Ending) bytes() []byte {
	switch e {
	case CR:
		return []byte("\r")
	case CRLF:
		return []byte("\r\n")
	case LF, Keep:
	}
	return []byte("\n")
}

// Translator rewrites the ends of lines in a stream. The zero value is not usable.
type Translator struct {
	to Ending
	// from are the bytes that end a line.
	from string
	cr   bool // the last byte was a CR that was translated
}

// ForSending turns every end of line that is typed or read from a file into to.
func ForSending(to Ending) *Translator { return &Translator{to: to, from: "\r\n"} }

// ForShowing makes lines of what a board sends whose lines end with from.
func ForShowing(from Ending) *Translator {
	t := &Translator{to: LF}
	switch from {
	case CR:
		t.from = "\r"
	case LF:
		t.from = "\n"
	case CRLF:
		t.from = "\r\n"
	case Keep:
		t.to = Keep
	}
	return t
}

// Apply translates the next piece.
func (t *Translator) Apply(p []byte) []byte {
	if t.to == Keep {
		return p
	}
	var out bytes.Buffer
	for _, b := range p {
		pair := t.cr && b == '\n' // CR LF is one end
		t.cr = false
		switch {
		case pair:
		case strings.IndexByte(t.from, b) >= 0:
			out.Write(t.to.bytes())
			t.cr = b == '\r' && strings.IndexByte(t.from, '\n') >= 0
		default:
			out.WriteByte(b)
		}
	}
	return out.Bytes()
}
