package gdbsync

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// terminal keeps the modes of a terminal, which a gdb that was killed leaves
// raw.
type terminal struct {
	fd    int
	modes *unix.Termios
}

func saveTerminal(f *os.File) terminal {
	if f == nil {
		return terminal{}
	}
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return terminal{}
	}
	return terminal{int(f.Fd()), t}
}

func (t terminal) restore() {
	if t.modes != nil {
		_ = unix.IoctlSetTermios(t.fd, unix.TCSETS, t.modes)
	}
}

// AskAgain reads one line from the person: an empty one is yes. The end of the
// input is no.
func AskAgain(ctx context.Context, in *os.File) (bool, error) {
	if in == nil {
		return false, nil
	}
	var line []byte
	for {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 200)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return false, err
		}
		if n <= 0 {
			continue
		}
		var b [1]byte
		k, err := unix.Read(int(in.Fd()), b[:])
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || k == 0:
			return false, nil
		case b[0] == '\n':
			return len(line) == 0 || line[0] != 'q', nil
		}
		line = append(line, b[0])
	}
}
