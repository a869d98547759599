package dap

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/usb"
)

// Bulk carries packets of version 2.
type Bulk struct {
	c       usb.Conn
	out, in uint8
	size    int

	wanted  chan struct{}
	answers chan answer
	stop    context.CancelFunc
	done    chan struct{}
	once    sync.Once
	err     error
}

type answer struct {
	packet []byte
	err    error
}

// mostPackets bounds the packets under way: more than any probe holds.
const mostPackets = 256

// staleTime is how long answers that nobody waits for are looked for.
const staleTime = 20 * time.Millisecond

// NewBulk carries packets over an interface that was claimed.
func NewBulk(ctx context.Context, c usb.Conn, i usb.Interface) (*Bulk, error) {
	out, in, size, err := endpoints(i, "bulk")
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	b := &Bulk{c: c, out: out, in: in, size: size, wanted: make(chan struct{}, mostPackets), answers: make(chan answer, mostPackets), done: make(chan struct{})}
	if err := b.forget(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	reading, stop := context.WithCancel(context.Background())
	b.stop = stop
	go b.read(reading)
	return b, nil
}

// forget reads answers that a program before left in the probe.
func (b *Bulk) forget(ctx context.Context) error {
	for range mostPackets {
		wait, cancel := context.WithTimeout(ctx, staleTime)
		_, err := b.c.Read(wait, b.in, make([]byte, b.size))
		cancel()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, usb.ErrGone):
			return err
		case errors.Is(err, usb.ErrStall):
			if err := b.c.ClearHalt(b.in); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// read takes an answer for each packet that was sent.
func (b *Bulk) read(ctx context.Context) {
	defer close(b.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wanted:
		}
		p := make([]byte, b.size)
		n, err := b.c.Read(ctx, b.in, p)
		if ctx.Err() != nil {
			return
		}
		b.answers <- answer{p[:n], err}
		if err != nil {
			return
		}
	}
}

// Send hands one packet over.
func (b *Bulk) Send(ctx context.Context, packet []byte) error {
	if _, err := b.c.Write(ctx, b.out, packet); err != nil {
		return err
	}
	select {
	case b.wanted <- struct{}{}:
		return nil
	default:
		return errors.New("too many packets under way")
	}
}

// Receive waits for the next answer.
func (b *Bulk) Receive(ctx context.Context) ([]byte, error) {
	select {
	case a := <-b.answers:
		return a.packet, a.err
	default:
	}
	select {
	case a := <-b.answers:
		return a.packet, a.err
	case <-b.done:
		return nil, usb.ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close gives the interface back.
func (b *Bulk) Close() error {
	b.once.Do(func() {
		b.stop()
		<-b.done
		b.err = b.c.Close()
	})
	return b.err
}
