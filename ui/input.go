package ui

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// CharacterInput makes a terminal on standard input deliver every key at once
// and without echo, as a serial console does; ctrl-c and ctrl-z still work, and
// ctrl-d is read as a byte. restore puts everything back; it may be called
// twice. Nothing happens if standard input is no terminal.
func (u *UI) CharacterInput() (restore func(), err error) {
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
	t.Lflag &^= unix.ICANON | unix.ECHO
	t.Iflag &^= unix.ICRNL
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
