package virtual

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Server offers the devices of ports to USB/IP clients.
type Server struct {
	// Do runs f while the chips stand still, and nothing else does. It has to
	// be set, but for ports that have one of their own.
	Do func(f func())
	// Poll is how often devices are asked to go on, in real time; 0 is 1 ms.
	Poll time.Duration

	ports []*Port
}

// Add offers a port. It comes before anything is served.
func (s *Server) Add(p *Port) { s.ports = append(s.ports, p) }

// on runs f while the chip behind a port stands still.
func (s *Server) on(p *Port, f func()) {
	if p.Do != nil {
		p.Do(f)
		return
	}
	s.Do(f)
}

// Accept serves clients until ctx ends. failed, which may be nil, hears why a
// client's connection was given up.
func (s *Server) Accept(ctx context.Context, l net.Listener, failed func(error)) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		clients.Add(1)
		go func() {
			defer clients.Done()
			if err := s.Serve(ctx, conn); err != nil && failed != nil && ctx.Err() == nil {
				failed(err)
			}
		}()
	}
}

// Serve answers one client until it goes away, ctx ends, or its device is
// unplugged; it closes the connection.
func (s *Server) Serve(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	for {
		op, err := readOperation(conn)
		if err != nil {
			return orderly(err)
		}
		if op.code == opReqDevlist {
			if _, err := conn.Write(s.list()); err != nil {
				return orderly(err)
			}
			continue
		}
		i := newImported(s, conn)
		answer := i.take(op.busID)
		if _, err := conn.Write(answer); err != nil || i.dev == nil {
			i.end()
			return orderly(err)
		}
		return orderly(i.serve(ctx))
	}
}

// orderly makes nothing of the ways in which a connection just ends.
func orderly(err error) error {
	var op *net.OpError
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe), errors.As(err, &op):
		return nil
	}
	return err
}

// list is the answer to OP_REQ_DEVLIST: what could be imported.
func (s *Server) list() []byte {
	var devices []byte
	n := byte(0)
	for _, p := range s.ports {
		s.on(p, func() {
			if p.dev == nil || p.taken != nil {
				return
			}
			n++
			devices = append(devices, p.describe()...)
			_, config := p.dev.Descriptors()
			for _, i := range parseConfig(config).interfaces {
				devices = append(devices, i[0], i[1], i[2], 0)
			}
		})
	}
	return append(append(reply(opRepDevlist, opOK), 0, 0, 0, n), devices...)
}

// imported is a client that has a device.
type imported struct {
	server  *Server
	conn    net.Conn
	port    *Port
	dev     Device
	pending map[uint32]*URB // of Do
	out     outbox
}

func newImported(s *Server, conn net.Conn) *imported {
	return &imported{server: s, conn: conn, pending: map[uint32]*URB{}}
}

// take imports the device with a bus id and returns the answer.
func (i *imported) take(busID string) []byte {
	answer := reply(opRepImport, opNoDev)
	for _, p := range i.server.ports {
		if p.BusID != busID {
			continue
		}
		i.server.on(p, func() {
			if p.dev == nil {
				return
			}
			if i.dev = p.take(func() { i.conn.Close() }); i.dev == nil {
				answer = reply(opRepImport, opBusy)
				return
			}
			i.port = p
			answer = append(reply(opRepImport, opOK), p.describe()...)
		})
		break
	}
	return answer
}

// end gives the device back.
func (i *imported) end() {
	if i.port == nil {
		return
	}
	i.server.on(i.port, func() {
		for _, u := range i.pending {
			u.Done = nil
			i.dev.Unlink(u)
		}
		clear(i.pending)
		i.port.release(i.dev)
	})
}

// serve carries transfers until the connection ends.
func (i *imported) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	i.out.more = make(chan struct{}, 1)
	var helpers sync.WaitGroup
	helpers.Add(2)
	go func() {
		defer helpers.Done()
		i.out.drain(ctx, i.conn)
	}()
	go func() {
		defer helpers.Done()
		i.poll(ctx)
	}()
	defer helpers.Wait()
	defer cancel()
	defer i.end()
	for {
		c, err := readCommand(i.conn)
		if err != nil {
			return err
		}
		i.server.on(i.port, func() { i.perform(&c) })
	}
}

// poll lets the device go on by itself.
func (i *imported) poll(ctx context.Context) {
	every := i.server.Poll
	if every == 0 {
		every = time.Millisecond
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			i.server.on(i.port, i.dev.Poll)
		}
	}
}

// perform carries out a command, within Do.
func (i *imported) perform(c *usbipCommand) {
	if c.unlink {
		status := StatusOK // it was complete before
		if u := i.pending[c.victim]; u != nil {
			u.Done = nil
			if i.dev.Unlink(u) {
				status = StatusUnlinked
			}
			delete(i.pending, c.victim)
		}
		i.out.put(retUnlink(c.seq, status))
		return
	}
	u := c.urb()
	if c.endpoint == 0 && c.setup.Length > 0 && c.setup.In() != c.in {
		u.finish(StatusProtocol)
		u.Data, u.Actual = nil, 0
		i.out.put(retSubmit(c.seq, c.in, u))
		return
	}
	i.pending[c.seq] = u
	u.Done = func(u *URB) {
		delete(i.pending, c.seq)
		i.out.put(retSubmit(c.seq, c.in, u))
	}
	i.dev.Submit(u)
}

// outbox holds what is to be sent, so that the chip never waits for the client.
type outbox struct {
	mu   sync.Mutex
	b    []byte
	more chan struct{}
}

func (o *outbox) put(p []byte) {
	o.mu.Lock()
	o.b = append(o.b, p...)
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// drain sends until ctx ends or the connection fails.
func (o *outbox) drain(ctx context.Context, w io.WriteCloser) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.more:
		}
		o.mu.Lock()
		b := o.b
		o.b = nil
		o.mu.Unlock()
		if _, err := w.Write(b); err != nil {
			w.Close()
			return
		}
	}
}
