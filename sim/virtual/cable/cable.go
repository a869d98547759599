package cable

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/virtual"
	"github.com/stem-hw/stem-hw/usb"
)

// Board is a simulated board at the end of a cable.
type Board struct {
	// Printed, which may be nil, gets what the program prints on its UARTs.
	Printed func(stream string, c byte)
	// Before, which may be nil, is called before the n-th transfer, from 1; it
	// may pull the plug.
	Before func(n int)
	// Transfers counts those of open connections.
	Transfers int
	// Port is the port path.
	Port string

	mu    sync.Mutex
	chip  *rp2350.Chip
	port  virtual.Port
	board *virtual.Board
	// out says that the plug is pulled, lost that it is about to be.
	out, lost bool
	// seen is the device that was looked at last; each gets a number of its own.
	seen   virtual.Device
	number int
}

// New powers a chip up and plugs it in. opt.Bootsel is set by New.
func New(opt rp2350.Options) *Board {
	opt.Bootsel = func(*rp2350.Chip) {}
	b := &Board{chip: rp2350.New(opt), Port: "1-1"}
	b.chip.SetHooks(machine.Hooks{Output: func(stream string, c byte) {
		if b.Printed != nil {
			b.Printed(stream, c)
		}
	}})
	b.board = virtual.NewBoard(b.chip, &b.port)
	b.Pass(5 * time.Millisecond)
	return b
}

// Chip is the chip; it stands still between calls.
func (b *Board) Chip() *rp2350.Chip { return b.chip }

// Clock is what transfers and flash would have taken on hardware.
func (b *Board) Clock() *virtual.Clock { return &b.board.Clock }

// step lets a millisecond pass.
func (b *Board) step() {
	end := b.chip.Seconds() + 1e-3
	for n := 0; b.chip.Seconds() < end && n < 1000; n++ {
		b.chip.Run(b.chip.Now() + 100_000)
	}
	if b.out {
		return
	}
	b.board.Poll()
	if d := b.port.Device(); d != nil {
		d.Poll()
	}
}

// Pass lets simulated time pass.
func (b *Board) Pass(t time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range t / time.Millisecond {
		b.step()
	}
}

// Unplug pulls the plug: the board loses power. PlugIn gives it back.
func (b *Board) Unplug() {
	b.out, b.lost = true, false
	b.port.Unplug()
	b.seen = nil
}

// Halt halts an endpoint of what is plugged in, as a fault of the line.
func (b *Board) Halt(address uint8) {
	if g, ok := b.port.Device().(*virtual.Gadget); ok {
		g.Halt(address)
	}
}

// LosePower takes the power away from within a flash operation (nor.Flash's Cut):
// the plug counts as pulled as soon as the transfer ends that it came in.
func (b *Board) LosePower() { b.lost = true }

// PlugIn powers the board up again; flash and fuses are as they were.
func (b *Board) PlugIn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chip.Reset()
	b.out = false
	b.board = virtual.NewBoard(b.chip, &b.port)
	for range 5 {
		b.step()
	}
}

// Look says what is plugged in now, as an enumeration would; ok is false for
// nothing.
func (b *Board) Look() (d usb.Device, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dev := b.port.Device()
	if dev == nil {
		b.seen = nil
		return d, false
	}
	c := &conn{b: b, dev: dev, quiet: true}
	if dev != b.seen {
		b.seen = dev
		b.number++
		_, _ = c.control(0, 9, 1, 0, nil) // SET_CONFIGURATION
	}
	about, config := dev.Descriptors()
	le := binary.LittleEndian
	d = usb.Device{
		Port: b.Port, Bus: 1, Num: b.number,
		Vendor: le.Uint16(about[8:]), Product: le.Uint16(about[10:]), Release: le.Uint16(about[12:]),
		Manufacturer: c.text(about[14]), Name: c.text(about[15]), Serial: c.text(about[16]),
		Role: board.RoleBoard, Mode: board.ModeRunning, Chip: "rp2350",
		Interfaces: parseConfig(config),
		Node:       usb.Node{Path: fmt.Sprintf("/dev/bus/usb/001/%03d", b.number), Access: true},
	}
	if b.chip.BootselMode() != nil {
		d.Mode = board.ModeBootsel
	}
	return d, true
}

// Open opens an interface of what is plugged in, if it is what was seen.
func (b *Board) Open(_ context.Context, d usb.Device, iface int) (usb.Conn, error) {
	now, ok := b.Look()
	if !ok || now.Num != d.Num {
		return nil, usb.ErrGone
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range now.Interfaces {
		if i.Number == iface {
			return &conn{b: b, dev: b.port.Device()}, nil
		}
	}
	return nil, fmt.Errorf("there is no interface %d", iface)
}

// parseConfig reads a configuration descriptor with all that follows it (USB 2.0,
// 9.6.3), which a simulated device made.
func parseConfig(b []byte) []usb.Interface {
	const (
		kindInterface = 4
		kindEndpoint  = 5
	)
	kinds := [...]string{"control", "isochronous", "bulk", "interrupt"}
	var out []usb.Interface
	for len(b) >= 2 && int(b[0]) >= 2 && int(b[0]) <= len(b) {
		d := b[:b[0]]
		b = b[b[0]:]
		switch {
		case d[1] == kindInterface && len(d) >= 9:
			out = append(out, usb.Interface{Number: int(d[2]), Class: d[5], Subclass: d[6], Protocol: d[7]})
		case d[1] == kindEndpoint && len(d) >= 7 && len(out) > 0:
			i := &out[len(out)-1]
			i.Endpoints = append(i.Endpoints, usb.Endpoint{
				Address: d[2], Type: kinds[d[3]&3], MaxPacket: int(binary.LittleEndian.Uint16(d[4:])),
			})
		}
	}
	return out
}

// conn is an open device.
type conn struct {
	b      *Board
	dev    virtual.Device
	closed bool
	// quiet transfers, those of enumeration, are not counted.
	quiet bool
}

// Close implements usb.Conn.
func (c *conn) Close() error {
	c.closed = true
	return nil
}

// patience is how much simulated time a transfer may wait.
const patience = 2 * time.Second

// transfer makes one and waits for it.
func (c *conn) transfer(ctx context.Context, u *virtual.URB) error {
	if !c.quiet {
		c.b.Transfers++
		if c.b.Before != nil {
			c.b.Before(c.b.Transfers)
		}
	}
	if c.closed || c.b.port.Device() != c.dev {
		return usb.ErrGone
	}
	c.dev.Submit(u)
	if c.b.lost {
		c.b.Unplug()
		return usb.ErrGone
	}
	for i := 0; !u.Complete(); i++ {
		if ctx.Err() != nil || i == int(patience/time.Millisecond) {
			c.dev.Unlink(u)
			return context.DeadlineExceeded
		}
		c.b.step()
	}
	switch u.Status {
	case virtual.StatusOK:
		return nil
	case virtual.StatusStall:
		return usb.ErrStall
	case virtual.StatusOverflow:
		return usb.ErrOverflow
	case virtual.StatusGone, virtual.StatusProtocol:
		return usb.ErrGone
	default:
		return fmt.Errorf("the transfer ended with status %d", u.Status)
	}
}

func (c *conn) control(kind, request uint8, value, index uint16, data []byte) (int, error) {
	u := &virtual.URB{
		In: kind&0x80 != 0, Length: len(data),
		Setup: virtual.Setup{Type: kind, Request: request, Value: value, Index: index, Length: uint16(len(data))},
	}
	if !u.In {
		u.Data = data
	}
	err := c.transfer(context.Background(), u)
	if u.In {
		copy(data, u.Data)
		return min(len(data), len(u.Data)), err
	}
	return u.Actual, err
}

// text reads a string descriptor.
func (c *conn) text(n uint8) string {
	const english = 0x409
	b := make([]byte, 255)
	got, err := c.control(0x80, 6, 0x300|uint16(n), english, b)
	if n == 0 || err != nil || got < 2 {
		return ""
	}
	var u []uint16
	for i := 2; i+1 < got; i += 2 {
		u = append(u, binary.LittleEndian.Uint16(b[i:]))
	}
	return string(utf16.Decode(u))
}

// Control implements usb.Conn.
func (c *conn) Control(_ context.Context, kind, request uint8, value, index uint16, data []byte) (int, error) {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.control(kind, request, value, index, data)
}

// Write implements usb.Conn.
func (c *conn) Write(ctx context.Context, endpoint uint8, p []byte) (int, error) {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	u := &virtual.URB{Endpoint: endpoint & 15, Data: p}
	err := c.transfer(ctx, u)
	return u.Actual, err
}

// Read implements usb.Conn.
func (c *conn) Read(ctx context.Context, endpoint uint8, p []byte) (int, error) {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	u := &virtual.URB{Endpoint: endpoint & 15, In: true, Length: len(p)}
	err := c.transfer(ctx, u)
	return copy(p, u.Data), err
}

// ClearHalt implements usb.Conn.
func (c *conn) ClearHalt(endpoint uint8) error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	_, err := c.control(2, 1, 0, uint16(endpoint), nil)
	return err
}
