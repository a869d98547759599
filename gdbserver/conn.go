package gdbserver

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/stem-hw/stem-hw/target"
)

// item is one thing read from the wire.
type item struct {
	kind packetKind
	data []byte
	err  error
}

// stopped is the result of Halter.Wait.
type stopped struct {
	stop target.Stop
	err  error
}

// conn is one client.
type conn struct {
	s  *Server
	nc net.Conn
	in chan item

	noAck bool
	last  []byte // last packet sent, framed, for "-"

	swbreak, hwbreak bool // the client knows these stop reasons
	extended         bool // "!" was sent: the program may be restarted

	running  bool
	waitStop context.CancelFunc
	stops    chan stopped
	actions  []target.Action // of the present resume

	lastStop target.Stop
	exited   bool
	regCore  int // core of Hg
	points   map[target.Point]bool
	desc     *target.Description // nil: to be asked for
	flash    flashJob
	files    openFiles
	threads  threadModel
	done     bool // detach or kill: the connection ends in good order
	detached bool
}

func newConn(s *Server, nc net.Conn) *conn {
	return &conn{
		s: s, nc: nc,
		in:     make(chan item, 16),
		stops:  make(chan stopped, 1),
		points: make(map[target.Point]bool),
	}
}

// serve runs the connection: the reader in a goroutine of its own, so that an
// interrupt is seen while the target runs.
func (c *conn) serve(ctx context.Context) error {
	if err := c.s.halter.Halt(ctx); err != nil {
		return err
	}
	c.lastStop = target.Stop{Reason: target.StopHalt}
	c.threads = newThreadModel(c)
	readerDone := make(chan struct{})
	reading, stopReading := context.WithCancel(ctx)
	go func() {
		defer close(readerDone)
		c.reader(reading)
	}()
	defer func() {
		// The reader may wait for the wire, or for this loop to take an item.
		stopReading()
		_ = c.nc.Close()
		<-readerDone
	}()
	for !c.done {
		var console <-chan struct{}
		if c.running {
			console = c.s.console.more()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case it := <-c.in:
			if it.err != nil {
				return it.err
			}
			err := c.item(ctx, it)
			if lost := c.s.opt.Lost(); lost != nil {
				return c.tellLost(lost)
			}
			if err != nil {
				return err
			}
		case st := <-c.stops:
			err := c.stopArrived(ctx, st)
			if lost := c.s.opt.Lost(); lost != nil {
				return c.tellLost(lost)
			}
			if err != nil {
				return err
			}
		case <-console:
			if err := c.flushConsole(); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellLost shows why the target is gone, where gdb shows anything just now: while
// the program runs.
func (c *conn) tellLost(lost error) error {
	if c.running {
		_ = c.output("[" + lost.Error() + "]\n")
	}
	return lost
}

func (c *conn) reader(ctx context.Context) {
	r := bufio.NewReaderSize(c.nc, maxPacket)
	for {
		var it item
		it.kind, it.data, it.err = readPacket(r)
		select {
		case c.in <- it:
		case <-ctx.Done():
			return
		}
		if it.err != nil {
			return
		}
	}
}

// cleanup leaves the target as a departed client should: no breakpoint stays,
// and a detached target runs. After a lost connection it stays halted, where
// the next gdb finds it.
func (c *conn) cleanup(err error) {
	ctx := context.Background()
	c.endWait()
	if lost := c.s.opt.Lost(); lost != nil {
		c.files.closeAll()
		c.s.opt.Notify(lost.Error())
		return
	}
	if c.running {
		_ = c.s.halter.Halt(ctx)
	}
	c.clearPoints(ctx)
	c.files.closeAll()
	switch {
	case c.detached && !c.exited:
		if rerr := c.s.halter.Resume(ctx, c.allCores(target.ActionContinue)); rerr != nil {
			c.s.opt.Notify("gdb detached, but the target does not run: " + rerr.Error())
			return
		}
		c.s.opt.Notify("gdb detached, the program runs on")
	case c.done || err == nil:
		c.s.opt.Notify("gdb left")
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		c.s.opt.Notify("gdb is gone without a word; the target is halted, attach again to go on")
	default:
		c.s.opt.Notify("gdb connection ended: " + err.Error() + "; the target is halted")
	}
}

// item handles one thing from the wire.
func (c *conn) item(ctx context.Context, it item) error {
	switch it.kind {
	case kindAck:
		return nil
	case kindNak:
		if c.noAck || c.last == nil {
			return nil
		}
		return c.write(c.last)
	case kindBadSum:
		if c.noAck {
			return nil
		}
		return c.write([]byte{'-'})
	case kindInterrupt:
		c.s.log.line(">", []byte{3})
		if !c.running {
			return nil
		}
		return c.s.halter.Halt(ctx)
	}
	c.s.log.line(">", it.data)
	if !c.noAck {
		if err := c.write([]byte{'+'}); err != nil {
			return err
		}
	}
	return c.packet(ctx, string(it.data))
}

// send frames, logs and writes one packet.
func (c *conn) send(data []byte) error {
	c.s.log.line("<", data)
	c.last = appendPacket(c.last[:0], data)
	return c.write(c.last)
}

func (c *conn) sendString(s string) error { return c.send([]byte(s)) }

func (c *conn) write(p []byte) error {
	_, err := c.nc.Write(p)
	return err
}

// output shows text in gdb. It is allowed while the target runs and during
// "monitor".
func (c *conn) output(text string) error {
	for text != "" {
		n := min(len(text), maxPacket/2-8)
		if err := c.sendString("O" + hex.EncodeToString([]byte(text[:n]))); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func (c *conn) flushConsole() error {
	out, dropped := c.s.console.take()
	if dropped > 0 {
		if err := c.output(fmt.Sprintf("\n[%d bytes of output lost while the program was halted]\n", dropped)); err != nil {
			return err
		}
	}
	return c.output(strings.ToValidUTF8(string(out), "\uFFFD"))
}

// describe returns the target's description, which is asked for once a stop:
// only a reset changes it, but the program may reset the chip itself.
func (c *conn) describe() *target.Description {
	if c.desc == nil {
		d := c.s.opt.Target.Describe()
		c.desc = &d
	}
	return c.desc
}

func (c *conn) clearPoints(ctx context.Context) {
	for p := range c.points {
		if err := c.s.halter.ClearBreakpoint(ctx, p); err != nil {
			c.s.opt.Notify(fmt.Sprintf("breakpoint at %#x not removed: %v", p.Addr, err))
		}
		delete(c.points, p)
	}
}
