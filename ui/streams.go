package ui

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Streams are the three standard streams and what is known of them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY say which of them are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Width is the width of the error terminal in columns, 0 if unknown.
	Width int
}

// Standard returns the streams of the process.
func Standard() Streams {
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if s.ErrTTY {
		if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
			s.Width = w
		}
	}
	return s
}
