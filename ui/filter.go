package ui

import (
	"io"
	"unicode/utf8"
)

// Filter passes text and colours on to a terminal and drops every other control
// sequence, so that what a firmware prints cannot move the cursor, change the
// title, fill the clipboard or make the terminal answer. It works on a stream: a
// sequence may be spread over any number of writes.
//
// Colours are CSI ... m with numbers only (ECMA-48, SGR). Of the control
// characters line feed, carriage return, tab, backspace and bell pass. C1
// controls are dropped, as bytes and in UTF-8.
type Filter struct {
	w       io.Writer
	state   filterState
	seq     []byte // of a CSI that may be a colour
	wide    []byte // of an incomplete UTF-8 character
	length  int    // bytes of the control string so far
	colored bool
	out     []byte
}

type filterState uint8

const (
	inText filterState = iota
	inEscape
	inEscapeMore // ESC with intermediate bytes
	inCSI
	inString // OSC, DCS, SOS, PM, APC
	inStringEscape
)

// Limits on sequences that never end.
const (
	maxSGR    = 64
	maxString = 4096
)

// NewFilter returns a filter in front of w.
func NewFilter(w io.Writer) *Filter { return &Filter{w: w} }

// Write filters p.
func (f *Filter) Write(p []byte) (int, error) {
	f.out = f.out[:0]
	for _, b := range p {
		f.byte(b)
	}
	if len(f.out) == 0 {
		return len(p), nil
	}
	if _, err := f.w.Write(f.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends the stream: colours are switched off if some are on.
func (f *Filter) Close() error {
	f.out = f.out[:0]
	f.flushWide()
	if f.colored {
		f.out = append(f.out, reset...)
		f.colored = false
	}
	if len(f.out) == 0 {
		return nil
	}
	_, err := f.w.Write(f.out)
	return err
}

func (f *Filter) byte(b byte) {
	switch f.state {
	case inText:
		f.text(b)
	case inEscape:
		f.escape(b)
	case inEscapeMore:
		if b < 0x20 || b > 0x2f {
			f.state = inText
			if b < 0x20 {
				f.text(b)
			}
		}
	case inCSI:
		f.csi(b)
	case inString:
		f.length++
		switch {
		case b == 0x1b:
			f.state = inStringEscape
		case b == 0x07, b == 0x18, b == 0x1a, b == 0x9c:
			f.state = inText
		case b == '\n', f.length > maxString:
			// No control string goes over a line end: this one is broken, and
			// the text behind it is not to be lost.
			f.state = inText
			f.text(b)
		}
	case inStringEscape:
		f.state = inText
		if b != '\\' {
			f.escape(b)
		}
	}
}

// escape takes the byte behind ESC.
func (f *Filter) escape(b byte) {
	switch {
	case b == '[':
		f.state, f.seq = inCSI, append(f.seq[:0], 0x1b, '[')
	case b == ']', b == 'P', b == 'X', b == '^', b == '_':
		f.state, f.length = inString, 0
	case b >= 0x20 && b <= 0x2f:
		f.state = inEscapeMore
	case b == 0x1b:
		f.state = inEscape
	case b < 0x20:
		f.state = inText
		f.text(b)
	default:
		f.state = inText
	}
}

func (f *Filter) csi(b byte) {
	f.seq = append(f.seq, b)
	switch {
	case b >= '0' && b <= '9', b == ';', b == ':':
		if len(f.seq) > maxSGR {
			f.seq = append(f.seq[:0], 0) // no colour any more
		}
	case b >= 0x40 && b <= 0x7e:
		f.state = inText
		if b == 'm' && f.seq[0] == 0x1b {
			f.out = append(f.out, f.seq...)
			f.colored = !isReset(f.seq)
		}
	case b == 0x1b:
		f.state = inEscape
	case b < 0x20:
		// Control characters inside a sequence act as if they came first; a
		// line end or a cancel ends it here.
		f.state = inText
		f.text(b)
	default:
		f.seq = append(f.seq[:0], 0) // parameters of a private kind
	}
}

func isReset(seq []byte) bool {
	s := string(seq)
	return s == "\x1b[m" || s == "\x1b[0m"
}

// text takes a byte outside of sequences.
func (f *Filter) text(b byte) {
	if len(f.wide) > 0 || b >= 0x80 {
		f.utf8(b)
		return
	}
	switch {
	case b == 0x1b:
		f.state = inEscape
	case b >= 0x20 && b < 0x7f, b == '\n', b == '\r', b == '\t', b == '\b', b == 0x07:
		f.out = append(f.out, b)
	}
}

// utf8 collects a character of several bytes.
func (f *Filter) utf8(b byte) {
	if len(f.wide) > 0 && b&0xc0 != 0x80 {
		f.flushWide()
		f.text(b)
		return
	}
	f.wide = append(f.wide, b)
	if !utf8.FullRune(f.wide) {
		return
	}
	r, n := utf8.DecodeRune(f.wide)
	switch {
	case r == utf8.RuneError && n <= 1:
		f.flushWide()
		return
	case r == 0x9b:
		// CSI as one character.
		f.state, f.seq = inCSI, append(f.seq[:0], 0)
	case r == 0x90, r == 0x98, r == 0x9d, r == 0x9e, r == 0x9f:
		f.state, f.length = inString, 0
	case r >= 0x80 && r < 0xa0:
	default:
		f.out = append(f.out, f.wide...)
	}
	f.wide = f.wide[:0]
}

// flushWide passes bytes that are no UTF-8, without those that are C1 controls.
func (f *Filter) flushWide() {
	for _, b := range f.wide {
		if b >= 0xa0 {
			f.out = append(f.out, b)
		}
	}
	f.wide = f.wide[:0]
}
