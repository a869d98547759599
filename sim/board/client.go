package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// Client is a connection to the server of a board. One request at a time.
type Client struct {
	place Place
	w     *wire
	// PID is the server's process, by the kernel's word.
	PID int
	// Version is the server's.
	Version string
}

// Dial connects to the server of a board that is served. errors.Is(err,
// ErrNotServed) says that none is.
func Dial(ctx context.Context, p Place, version, verb string) (*Client, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", p.Socket)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", ErrNotServed, err)
	}
	cl := &Client{place: p, w: &wire{c: c}}
	cl.PID = peerPID(c, 0)
	late := time.Now().Add(helloTime)
	if d, ok := ctx.Deadline(); ok && d.Before(late) {
		late = d
	}
	_ = c.SetDeadline(late)
	err = cl.w.sendJSON(hello{Protocol: Protocol, Version: version, PID: os.Getpid(), Verb: verb})
	var h hello
	if err == nil {
		err = cl.w.readJSON(&h)
	}
	if err != nil {
		_ = c.Close()
		return nil, cl.lost(err)
	}
	_ = c.SetDeadline(time.Time{})
	switch {
	case h.Protocol != Protocol:
		_ = c.Close()
		return nil, versionFault(p, version, Protocol, h.Version, h.Protocol)
	case h.Fault != nil:
		_ = c.Close()
		return nil, h.Fault.fault()
	case h.Dir != p.Dir:
		_ = c.Close()
		return nil, &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "the socket of the simulated board serves another one",
			Seen: h.Dir, Wanted: p.Dir, Try: []string{"set XDG_RUNTIME_DIR to a folder of its own"},
		}
	}
	cl.Version = h.Version
	return cl, nil
}

// ErrNotServed says that no process serves a board.
var ErrNotServed = errors.New("no process serves this board")

// Close hangs up: what was held is released.
func (c *Client) Close() error { return c.w.c.Close() }

// lost explains an error of the connection.
func (c *Client) lost(err error) error {
	if faults.Of(err) != nil {
		return err
	}
	return &faults.Fault{
		Code: faults.CodeLost, Status: faults.StatusLost,
		Summary: "the simulated board " + c.place.Selector() + " went away", Err: err,
		Details: []string{"its process wrote messages to " + c.place.LogPath()},
		Try:     []string{"run the same command again: it starts the board if need be"},
	}
}

// ask sends a request and returns the answer.
func (c *Client) ask(ctx context.Context, r request, data []byte) (answer, []byte, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.w.c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	fail := func(err error) (answer, []byte, error) {
		if ctx.Err() != nil {
			return answer{}, nil, ctx.Err()
		}
		return answer{}, nil, c.lost(err)
	}
	r.Data = len(data)
	if err := c.w.sendJSON(r); err != nil {
		return fail(err)
	}
	if len(data) > 0 {
		if err := c.w.send(kindData, data); err != nil {
			return fail(err)
		}
	}
	var a answer
	if err := c.w.readJSON(&a); err != nil {
		return fail(err)
	}
	if a.Fault != nil {
		return a, nil, a.Fault.fault()
	}
	var out []byte
	if a.Data > 0 {
		var err error
		if out, err = c.w.readData(a.Data); err != nil {
			return fail(err)
		}
	}
	return a, out, nil
}

// Describe says what the board is and does.
func (c *Client) Describe(ctx context.Context) (*Info, error) {
	a, _, err := c.ask(ctx, request{Op: opDescribe}, nil)
	if err == nil && a.Info == nil {
		err = c.lost(errFrame)
	}
	return a.Info, err
}

// Stats counts what ran since power-up.
func (c *Client) Stats(ctx context.Context) (*Info, target.Stats, error) {
	a, _, err := c.ask(ctx, request{Op: opStats}, nil)
	if err != nil {
		return nil, target.Stats{}, err
	}
	if a.Stats == nil || a.Info == nil {
		return nil, target.Stats{}, c.lost(errFrame)
	}
	return a.Info, *a.Stats, nil
}

// Hold makes this connection the board's only user and resets the board.
func (c *Client) Hold(ctx context.Context, to ResetTo) error {
	_, _, err := c.ask(ctx, request{Op: opHold, Reset: to}, nil)
	return err
}

// Release ends Hold and Lend.
func (c *Client) Release(ctx context.Context) error {
	_, _, err := c.ask(ctx, request{Op: opRelease}, nil)
	return err
}

// Lend makes the server give up the board's file until Release or Close.
func (c *Client) Lend(ctx context.Context) error {
	_, _, err := c.ask(ctx, request{Op: opLend}, nil)
	return err
}

// ReadFlash implements flashing.Device.
func (c *Client) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), maxRead)
		_, out, err := c.ask(ctx, request{Op: opRead, Addr: addr, N: uint32(n)}, nil)
		if err != nil {
			return err
		}
		if copy(p, out) != n {
			return c.lost(errFrame)
		}
		p, addr = p[n:], addr+uint32(n)
	}
	return nil
}

// EraseFlash implements flashing.Device.
func (c *Client) EraseFlash(ctx context.Context, addr, n uint32) error {
	_, _, err := c.ask(ctx, request{Op: opErase, Addr: addr, N: n}, nil)
	return err
}

// ProgramFlash implements flashing.Device.
func (c *Client) ProgramFlash(ctx context.Context, addr uint32, p []byte) error {
	_, _, err := c.ask(ctx, request{Op: opProgram, Addr: addr}, p)
	return err
}

// maxELF is the largest ELF file whose symbols a board keeps.
const maxELF = 32 << 20

// Adopt tells the board what was put into its flash; elf may be nil.
func (c *Client) Adopt(ctx context.Context, a Adoption, elf []byte) error {
	if len(elf) > maxELF {
		elf = nil
	}
	_, _, err := c.ask(ctx, request{Op: opAdopt, Adopt: &a}, elf)
	return err
}

// LoadRAM puts an image into RAM, from where Reset starts it.
func (c *Client) LoadRAM(ctx context.Context, im *image.Image) error {
	r := ramImage{Arch: im.Arch, Entry: im.Entry, HasEntry: im.HasEntry}
	var data []byte
	for _, s := range im.Segments {
		r.Segments = append(r.Segments, segment{s.Addr, len(s.Data)})
		data = append(data, s.Data...)
	}
	_, _, err := c.ask(ctx, request{Op: opLoad, Image: &r}, data)
	return err
}

// Reset resets the board.
func (c *Client) Reset(ctx context.Context, to ResetTo) error {
	_, _, err := c.ask(ctx, request{Op: opReset, Reset: to}, nil)
	return err
}

// Stop ends the server.
func (c *Client) Stop(ctx context.Context) error {
	_, _, err := c.ask(ctx, request{Op: opStop}, nil)
	return err
}

// Gdb turns the connection into gdb's: the caller owns it from here on.
func (c *Client) Gdb(ctx context.Context, o GdbOptions) (net.Conn, error) {
	if _, _, err := c.ask(ctx, request{Op: opGdb, Gdb: &o}, nil); err != nil {
		return nil, err
	}
	return c.w.c, nil
}

// Console is a board's console. Read one goroutine, write another.
type Console struct {
	c *Client
	// Info is the board as it was when the console was attached.
	Info *Info
}

// Console turns the connection into a console.
func (c *Client) Console(ctx context.Context, w ConsoleWishes) (*Console, error) {
	a, _, err := c.ask(ctx, request{Op: opConsole, Console: &w}, nil)
	if err != nil {
		return nil, err
	}
	if a.Info == nil {
		return nil, c.lost(errFrame)
	}
	return &Console{c, a.Info}, nil
}

// Next waits for output or an event: one of them is set. io.EOF is the end.
func (c *Console) Next() (stream string, p []byte, e *Event, err error) {
	f, err := readFrame(c.c.w.c)
	switch {
	case errors.Is(err, net.ErrClosed), errors.Is(err, io.EOF):
		return "", nil, nil, io.EOF
	case err != nil:
		return "", nil, nil, c.c.lost(err)
	case f.kind == kindData:
		if len(f.body) == 0 || int(f.body[0]) >= len(streams) {
			return "", nil, nil, c.c.lost(errFrame)
		}
		return streams[f.body[0]], f.body[1:], nil, nil
	}
	e = &Event{}
	if err := json.Unmarshal(f.body, e); err != nil {
		return "", nil, nil, c.c.lost(err)
	}
	return "", nil, e, nil
}

// Write is the program's input.
func (c *Console) Write(p []byte) (int, error) {
	if err := c.c.w.send(kindData, p); err != nil {
		return 0, c.c.lost(err)
	}
	return len(p), nil
}

// Reset resets the board.
func (c *Console) Reset(to ResetTo) error { return c.c.w.sendJSON(request{Op: opReset, Reset: to}) }

// Close detaches.
func (c *Console) Close() error { return c.c.Close() }
