package dap

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/usb"
)

// fakeConn is a probe that answers each packet with the same bytes in order.
type fakeConn struct {
	mu      sync.Mutex
	answers [][]byte
	gone    bool
	closed  int
	wake    chan struct{}
}

func (c *fakeConn) Control(context.Context, uint8, uint8, uint16, uint16, []byte) (int, error) {
	return 0, usb.ErrStall
}

func (c *fakeConn) Write(_ context.Context, ep uint8, p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone || ep != 0x04 {
		return 0, usb.ErrGone
	}
	c.answers = append(c.answers, append([]byte(nil), p...))
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (c *fakeConn) Read(ctx context.Context, _ uint8, p []byte) (int, error) {
	for {
		c.mu.Lock()
		if c.gone {
			c.mu.Unlock()
			return 0, usb.ErrGone
		}
		if len(c.answers) > 0 {
			n := copy(p, c.answers[0])
			c.answers = c.answers[1:]
			c.mu.Unlock()
			return n, nil
		}
		c.mu.Unlock()
		select {
		case <-c.wake:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (c *fakeConn) ClearHalt(uint8) error { return nil }

func (c *fakeConn) Close() error {
	c.closed++
	return nil
}

var iface = usb.Interface{Endpoints: []usb.Endpoint{
	{Address: 0x04, Type: "bulk", MaxPacket: 64}, {Address: 0x85, Type: "bulk", MaxPacket: 64},
}}

func TestBulk(t *testing.T) {
	ctx := context.Background()
	c := &fakeConn{wake: make(chan struct{}, 1), answers: [][]byte{{1}, {2, 3}}} // left by a program before
	b, err := NewBulk(ctx, c, iface)
	if err != nil {
		t.Fatal(err)
	}
	for i := range byte(6) {
		if err := b.Send(ctx, []byte{5, i}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(6) {
		if a, err := b.Receive(ctx); err != nil || !bytes.Equal(a, []byte{5, i}) {
			t.Errorf("answer %d is % x, %v", i, a, err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := b.Receive(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without an answer: %v", err)
	}
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	if err := b.Send(ctx, []byte{5}); !errors.Is(err, usb.ErrGone) {
		t.Errorf("a probe that is gone: %v", err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if c.closed != 1 {
		t.Errorf("closed %d times", c.closed)
	}
	if _, err := NewBulk(ctx, c, usb.Interface{}); err == nil {
		t.Error("an interface without endpoints is taken")
	}
}

func TestHID(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	probe := os.NewFile(uintptr(fds[1]), "probe")
	if _, err := probe.Write(make([]byte, 64)); err != nil { // a stale answer
		t.Fatal(err)
	}
	ctx := context.Background()
	h, err := NewHID(ctx, os.NewFile(uintptr(fds[0]), "hidraw"), 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Send(ctx, []byte{0, 4}); err != nil {
		t.Fatal(err)
	}
	report := make([]byte, 100)
	n, err := probe.Read(report)
	if err != nil || n != 65 || report[0] != 0 || report[1] != 0 || report[2] != 4 || report[64] != 0 {
		t.Errorf("a report of %d bytes: % x, %v", n, report[:4], err)
	}
	if _, err := probe.Write([]byte{0, 2, 'a', 'b'}); err != nil {
		t.Fatal(err)
	}
	if a, err := h.Receive(ctx); err != nil || !bytes.Equal(a, []byte{0, 2, 'a', 'b'}) {
		t.Errorf("% x, %v", a, err)
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := h.Receive(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without an answer: %v", err)
	}
	if err := h.Send(ctx, make([]byte, 65)); err == nil {
		t.Error("a packet that is longer than a report is sent")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := h.Send(ctx, []byte{1}); !errors.Is(err, usb.ErrGone) {
		t.Errorf("behind Close: %v", err)
	}
	_ = probe.Close()
}
