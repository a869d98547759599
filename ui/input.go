package ui

import (
	"fmt"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"
)

// CharacterInput makes a terminal on standard input deliver every key at once
// and without echo, as a serial console does; ctrl-c and ctrl-z still work, and
// ctrl-d is read as a byte. restore puts everything back; it may be called
// twice. Nothing happens if standard input is no terminal.
func (u *UI) CharacterInput() (restore func(), err error) {
	return u.characterInput(unix.ICANON|unix.ECHO, unix.ICRNL)
}

// ConsoleInput is CharacterInput where every key counts as itself: ctrl-c, ctrl-z
// and ctrl-s are read as bytes too.
func (u *UI) ConsoleInput() (restore func(), err error) {
	return u.characterInput(unix.ICANON|unix.ECHO|unix.ISIG|unix.IEXTEN, unix.ICRNL|unix.IXON)
}

func (u *UI) characterInput(local, input uint32) (restore func(), err error) {
	f, ok := u.s.In.(*os.File)
	if !ok || !u.s.InTTY {
		return func() {}, nil
	}
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("reading the terminal's settings: %w", err)
	}
	t := *old
	t.Lflag &^= local
	t.Iflag &^= input
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &t); err != nil {
		return nil, fmt.Errorf("changing the terminal's settings: %w", err)
	}
	// A closed pipe on standard output would end the process with the terminal
	// as it is now; let the write fail instead.
	signal.Ignore(unix.SIGPIPE)
	return func() {
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, old)
		signal.Reset(unix.SIGPIPE)
	}, nil
}

// Ask asks a question on standard error and returns the line that is typed,
// without spaces around it. It must only be called if Interactive.
func (u *UI) Ask(question string) (string, error) {
	u.mu.Lock()
	u.clearBar()
	u.freshLine()
	u.logLines(question)
	u.toErr(Escape(question) + " ")
	u.mu.Unlock()
	var line []byte
	var b [1]byte
	for len(line) < 4096 {
		n, err := u.s.In.Read(b[:])
		if n > 0 && b[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, b[:n]...)
		if err != nil {
			return strings.TrimSpace(string(line)), fmt.Errorf("reading the answer: %w", err)
		}
	}
	return "", fmt.Errorf("the answer is too long")
}
