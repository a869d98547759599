package picoboot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/usb"
)

// Sizes of flash, and the largest piece that one command reads, writes or erases:
// progress and ctrl-c stay lively, and the transfers are large enough that what
// surrounds them costs nothing.
const (
	PageSize   = 256
	SectorSize = 4096
	StepSize   = 64 << 10
)

// Timeouts. A command, and what surrounds it, is answered in microseconds; the
// rest is for hosts that are busy.
const (
	controlTime = time.Second
	commandTime = 3 * time.Second
	// Per page: 3 ms is the longest that flash takes to program one (W25Q32JV
	// data sheet, 9.6: tPP), the boot ROM adds about as much.
	pageTime = 6 * time.Millisecond
	// Per sector: 400 ms is the longest erase (same table: tSE).
	sectorTime = 400 * time.Millisecond
)

// Exclusive says who else may use the board.
type Exclusive uint8

// The kinds of exclusive access.
const (
	NotExclusive Exclusive = 0
	// IsExclusive refuses writes of the drive.
	IsExclusive Exclusive = 1
	// ExclusiveEject takes the drive away besides.
	ExclusiveEject Exclusive = 2
)

// Event is one command, for a transcript.
type Event struct {
	Command Command
	Args    []byte
	Length  uint32
	Took    time.Duration
	Err     error
}

// String is a line of a transcript.
func (e Event) String() string {
	s := fmt.Sprintf("%s args [% x] %d bytes, %.1f ms", e.Command, e.Args, e.Length, float64(e.Took.Microseconds())/1000)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Device is the PICOBOOT interface of a board in BOOTSEL mode. Its methods are
// for one goroutine at a time.
type Device struct {
	// Trace, which may be nil, hears of each command.
	Trace func(Event)

	conn    usb.Conn
	itf     uint16
	out, in uint8
	token   uint32
	// exclusive is what was taken, to be taken again after a failure.
	exclusive Exclusive
	rebooted  bool
}

// IsInterface reports whether an interface is PICOBOOT's. It is told by its
// class and endpoints: vendors give the device other numbers.
func IsInterface(i usb.Interface) bool {
	return i.Class == 0xff && i.Subclass == 0 && i.Protocol == 0 &&
		i.Endpoint(false, "bulk") != 0 && i.Endpoint(true, "bulk") != 0
}

// Open begins to speak over an interface that was opened: whatever another
// program left half done is ended, and flash made readable. It does not take
// exclusive access.
func Open(ctx context.Context, conn usb.Conn, i usb.Interface) (*Device, error) {
	if !IsInterface(i) {
		return nil, fmt.Errorf("interface %d is not PICOBOOT", i.Number)
	}
	d := &Device{
		conn: conn, itf: uint16(i.Number), token: 1,
		out: i.Endpoint(false, "bulk"), in: i.Endpoint(true, "bulk"),
	}
	if err := d.recover(ctx); err != nil {
		return nil, fmt.Errorf("PICOBOOT does not answer: %w", err)
	}
	if err := d.ExitXIP(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// recover makes the ROM take commands again.
func (d *Device) recover(ctx context.Context) error {
	// A halt that is not there may be cleared as well.
	for _, ep := range []uint8{d.out, d.in} {
		if err := d.conn.ClearHalt(ep); err != nil && !errors.Is(err, usb.ErrStall) {
			return err
		}
	}
	_, err := d.control(ctx, vendorToInterface, requestReset, nil)
	return err
}

func (d *Device) control(ctx context.Context, kind, request uint8, data []byte) (int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), controlTime)
	defer cancel()
	return d.conn.Control(ctx, kind, request, 0, d.itf, data)
}

// Status asks how the last command ended.
func (d *Device) Status(ctx context.Context) (Status, error) {
	b := make([]byte, statusSize)
	n, err := d.control(ctx, vendorToInterface|toHost, requestStatus, b)
	if err != nil {
		return Status{}, err
	}
	return parseStatus(b[:n])
}

// do makes a command. data is sent, or filled. took bounds what the ROM has to do.
func (d *Device) do(ctx context.Context, c Command, args, data []byte, took time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	// What has begun is finished: the ROM would be left in the middle of it.
	whole := context.WithoutCancel(ctx)
	err := d.transfer(whole, c, args, data, took)
	if err != nil {
		err = d.explain(whole, c, args, err)
	}
	// A halt that the ROM has no reason for is a fault of the line. All commands
	// but a restart may be made again.
	if errors.Is(err, usb.ErrStall) && c != Reboot2 {
		if err = d.transfer(whole, c, args, data, took); err != nil {
			err = d.explain(whole, c, args, err)
		}
	}
	if d.Trace != nil {
		d.Trace(Event{c, args, uint32(len(data)), time.Since(start), err})
	}
	return err
}

// transfer moves what a command consists of.
func (d *Device) transfer(ctx context.Context, c Command, args, data []byte, took time.Duration) error {
	d.token++
	if err := d.send(ctx, packet(d.token, c, uint32(len(data)), args), commandTime); err != nil {
		return err
	}
	took += commandTime
	switch {
	case len(data) == 0:
		return d.acknowledged(ctx, took)
	case !c.toHost():
		if err := d.send(ctx, data, took); err != nil {
			return err
		}
		return d.acknowledged(ctx, took)
	}
	ctx, cancel := context.WithTimeout(ctx, took)
	defer cancel()
	for got := 0; got < len(data); {
		n, err := d.conn.Read(ctx, d.in, data[got:])
		if err != nil {
			return err
		}
		if got += n; got < len(data) && n%64 != 0 || n == 0 {
			return fmt.Errorf("%s brought %d of %d bytes", c, got, len(data))
		}
	}
	return d.send(ctx, nil, commandTime)
}

func (d *Device) send(ctx context.Context, p []byte, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	n, err := d.conn.Write(ctx, d.out, p)
	if err == nil && n < len(p) {
		err = fmt.Errorf("%d of %d bytes were taken", n, len(p))
	}
	return err
}

// acknowledged waits for the empty packet.
func (d *Device) acknowledged(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := d.conn.Read(ctx, d.in, make([]byte, 64))
	return err
}

// explain asks the ROM what was wrong, and lets it go on.
func (d *Device) explain(ctx context.Context, c Command, args []byte, err error) error {
	if errors.Is(err, usb.ErrGone) {
		return err
	}
	s, serr := d.Status(ctx)
	if serr == nil && s.Token == d.token && s.Command == c && s.Code != OK {
		e := &StatusError{Command: c, Code: s.Code}
		if len(args) >= 8 {
			p := parseArgs(args)
			e.Addr, e.Size = p[0], p[1]
		}
		err = e
	}
	if errors.Is(serr, usb.ErrGone) {
		return fmt.Errorf("%s: %w", c, usb.ErrGone)
	}
	if rerr := d.recover(ctx); rerr != nil {
		return errors.Join(err, fmt.Errorf("and the board does not go on: %w", rerr))
	}
	if x := d.exclusive; x != NotExclusive && c != ExclusiveAccess {
		if xerr := d.Exclusive(ctx, x); xerr != nil {
			return errors.Join(err, xerr)
		}
	}
	var st *StatusError
	if errors.As(err, &st) {
		return err
	}
	return fmt.Errorf("%s: %w", c, err)
}

// Close gives exclusive access back and leaves the connection to
// who opened it.
func (d *Device) Close() error {
	if d.exclusive == NotExclusive || d.rebooted {
		return nil
	}
	err := d.Exclusive(context.Background(), NotExclusive)
	if errors.Is(err, usb.ErrGone) {
		return nil
	}
	return err
}
