package resetiface

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/usb"
)

// conn notes control requests and answers them with err.
type conn struct {
	usb.Conn
	err  error
	seen [][5]uint16
}

func (c *conn) Control(_ context.Context, kind, request uint8, value, index uint16, data []byte) (int, error) {
	c.seen = append(c.seen, [5]uint16{uint16(kind), uint16(request), value, index, uint16(len(data))})
	return 0, c.err
}

func TestRequests(t *testing.T) {
	ctx := context.Background()
	i := usb.Interface{Number: 2, Class: 0xff, Protocol: 1}
	c := &conn{}
	if err := errors.Join(Bootsel(ctx, c, i, 0), Bootsel(ctx, c, i, NoDrive|NoPicoboot), Restart(ctx, c, i)); err != nil {
		t.Fatal(err)
	}
	want := [][5]uint16{{0x21, 1, 0, 2, 0}, {0x21, 1, 3, 2, 0}, {0x21, 2, 0, 2, 0}}
	for n, w := range want {
		if c.seen[n] != w {
			t.Errorf("request %d: %v, want %v", n, c.seen[n], w)
		}
	}
	// A board that leaves before it answers does as it was told.
	for _, err := range []error{usb.ErrGone, context.DeadlineExceeded, errors.New("input/output error")} {
		if err := Bootsel(ctx, &conn{err: err}, i, 0); err != nil {
			t.Error(err)
		}
	}
	if err := Bootsel(ctx, &conn{err: usb.ErrStall}, i, 0); !errors.Is(err, usb.ErrStall) {
		t.Errorf("a refusal: %v", err)
	}
}

func TestTouch(t *testing.T) {
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	defer m.Close()
	n, err := unix.IoctlGetInt(int(m.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(m.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := Touch(context.Background(), "/dev/pts/"+strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	s, err := unix.IoctlGetTermios(int(m.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if s.Cflag&unix.CBAUD != unix.B1200 {
		t.Errorf("the port is at %#x", s.Cflag&unix.CBAUD)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := Touch(ctx, "/nowhere/tty"); err == nil {
		t.Error("no such port")
	}
}
