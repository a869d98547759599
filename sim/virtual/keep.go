package virtual

import (
	"context"
	"net"
)

// Keep gives a host whatever is plugged into a port, one device after the other,
// until ctx ends or attaching fails: restarts of a board are enumerations without
// anybody's help. attach is asked for each device anew and returns a connection
// on which the host sends CMD_SUBMIT and CMD_UNLINK, as behind an import.
func (s *Server) Keep(ctx context.Context, p *Port, attach func(ctx context.Context) (net.Conn, error)) error {
	for {
		var dev Device
		var changed <-chan struct{}
		s.on(p, func() { dev, changed = p.dev, p.Changed() })
		if dev == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		conn, err := attach(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := s.serve(ctx, conn, p); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		// A host that let go of a device that is still there does not want it
		// until the next one comes.
		s.on(p, func() {
			if p.dev != dev {
				closed := make(chan struct{})
				close(closed)
				changed = closed
			}
		})
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// serve gives the device of a port to the host at the other end of conn, until
// either goes.
func (s *Server) serve(ctx context.Context, conn net.Conn, p *Port) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	i := newImported(s, conn)
	s.on(p, func() {
		if i.dev = p.take(func() { conn.Close() }); i.dev != nil {
			i.port = p
		}
	})
	if i.dev == nil {
		return nil // it is gone again
	}
	return orderly(i.serve(ctx))
}
