package gdbsync

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// PTY is a pseudoterminal: two ends and the name of the second one.
type PTY struct {
	Master *os.File
	// Slave is held open so that the master can be read before anybody opened
	// the other end, and after everybody closed it.
	Slave *os.File
	Name  string
}

// OpenPTY makes a pseudoterminal in raw mode: bytes pass as they are.
func OpenPTY() (*PTY, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("a pseudoterminal: %w", err)
	}
	// The file is made of a descriptor that does not block, so that Close ends
	// a pending read.
	p := &PTY{Master: os.NewFile(uintptr(fd), "/dev/ptmx")}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a pseudoterminal: %w", err), p.Close())
	}
	p.Name = fmt.Sprintf("/dev/pts/%d", n)
	if p.Slave, err = os.OpenFile(p.Name, os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
		err = MakeRaw(p.Slave)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a pseudoterminal: %w", err), p.Close())
	}
	return p, nil
}

// MakeRaw lets the bytes of a terminal pass as they are.
func MakeRaw(f *os.File) error {
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, t)
}

// Close closes both ends. It may be called twice.
func (p *PTY) Close() error {
	var errs []error
	for _, f := range []*os.File{p.Master, p.Slave} {
		if f != nil {
			if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// MakeCooked gives a terminal the modes that a program expects: lines, echo,
// signals.
func MakeCooked(f *os.File) error {
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag |= unix.ICRNL | unix.IXON
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag |= unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ICANON | unix.ISIG | unix.IEXTEN
	return unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, t)
}
