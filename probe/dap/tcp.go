package dap

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Framing over TCP: a word that reads "DAP", the length, the type and a reserved
// byte before each packet.
const (
	tcpMagic    uint32 = 0x00504144
	tcpRequest         = 1
	tcpResponse        = 2
	tcpHead            = 8
)

// Stream is a Transport over a byte stream in the framing of CMSIS-DAP over TCP.
type Stream struct {
	c   net.Conn
	r   *bufio.Reader
	out []byte
}

// dialTime bounds how long a server may take to accept.
const dialTime = 5 * time.Second

// Dial connects to a server of CMSIS-DAP over TCP at host:port.
func Dial(ctx context.Context, address string) (*Stream, error) {
	d := net.Dialer{Timeout: dialTime}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return NewStream(c), nil
}

// NewStream returns a Transport over a connection.
func NewStream(c net.Conn) *Stream {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetNoDelay(true)
	}
	return &Stream{c: c, r: bufio.NewReader(c)}
}

// Send implements Transport.
func (s *Stream) Send(ctx context.Context, packet []byte) error {
	if len(packet) > MaxPacket {
		return fmt.Errorf("a packet of %d bytes", len(packet))
	}
	s.out = binary.LittleEndian.AppendUint32(s.out[:0], tcpMagic)
	s.out = binary.LittleEndian.AppendUint16(s.out, uint16(len(packet)))
	s.out = append(append(s.out, tcpRequest, 0), packet...)
	return s.during(ctx, func() error {
		_, err := s.c.Write(s.out)
		return err
	})
}

// Receive implements Transport.
func (s *Stream) Receive(ctx context.Context) (packet []byte, err error) {
	err = s.during(ctx, func() error {
		var head [tcpHead]byte
		if _, err := io.ReadFull(s.r, head[:]); err != nil {
			return err
		}
		n := int(binary.LittleEndian.Uint16(head[4:]))
		if binary.LittleEndian.Uint32(head[:]) != tcpMagic || head[6] != tcpResponse || n > MaxPacket {
			return fmt.Errorf("%w: a frame that begins % x", ErrAnswer, head)
		}
		packet = make([]byte, n)
		_, err := io.ReadFull(s.r, packet)
		return err
	})
	return packet, err
}

// during lets ctx interrupt f.
func (s *Stream) during(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d, ok := ctx.Deadline(); ok {
		_ = s.c.SetDeadline(d)
	} else {
		_ = s.c.SetDeadline(time.Time{})
	}
	stop := context.AfterFunc(ctx, func() { _ = s.c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := f()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrAnswer):
		return err
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return context.DeadlineExceeded
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// Close implements Transport.
func (s *Stream) Close() error { return s.c.Close() }
