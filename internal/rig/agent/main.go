//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
	"github.com/stem-hw/stem-hw/sim/virtual/vhci"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run() error {
	port, err := openPort()
	if err != nil {
		return err
	}
	defer port.Close()
	controller, err := vhci.Open(vhci.DefaultSysfs)
	if err != nil {
		return err
	}
	a := &agent{vhci: controller}
	m := wire.NewMux(port, 2, a.accept)
	a.mux = m
	over := make(chan error, 2)
	go func() { over <- m.Run() }()
	l, err := net.Listen("unix", wire.Socket)
	if err != nil {
		return err
	}
	go a.listen(l)
	if uptime, err := os.ReadFile("/proc/uptime"); err == nil {
		fmt.Fprintf(os.Stderr, "agent: ready %s s after the kernel's start\n", strings.Fields(string(uptime))[0])
	}
	return <-over
}

// openPort opens the virtio-serial port of the runner.
func openPort() (*os.File, error) {
	const class = "/sys/class/virtio-ports"
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		names, err := filepath.Glob(class + "/*/name")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err == nil && strings.TrimSpace(string(b)) == wire.PortName {
				return os.OpenFile("/dev/"+filepath.Base(filepath.Dir(name)), os.O_RDWR, 0)
			}
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s has no port called %s", class, wire.PortName)
		}
	}
}

type agent struct {
	mux  *wire.Mux
	vhci *vhci.Controller
}

// accept serves a stream that the host opened.
func (a *agent) accept(s *wire.Stream, h wire.Hello) {
	var g wire.Goodbye
	switch {
	case h.Exec != nil:
		g = execute(s, h.Exec)
	case h.Attach != nil:
		if err := a.attach(s, h.Attach); err != nil {
			g.Error = err.Error()
		}
	default:
		g.Error = "the agent does not know what this stream is for"
	}
	if err := s.CloseWith(g); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
	}
}

// attach plugs a device in and carries its USB/IP traffic until either side has
// enough of it.
func (a *agent) attach(s *wire.Stream, to *wire.Attach) error {
	ports, err := a.vhci.Ports()
	if err != nil {
		return err
	}
	if to.Port < 1 || to.Port > len(ports) {
		return fmt.Errorf("there is no port %d; there are 1 to %d", to.Port, len(ports))
	}
	number := ports[to.Port-1].Number
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := a.vhci.AwaitFree(ctx, number); err != nil {
		return err
	}
	conn, err := a.vhci.Attach(number, to.Bus, to.Number)
	if err != nil {
		return err
	}
	defer conn.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(s, conn) // the kernel let go, or the host closed
		_ = s.Close()
	}()
	_, _ = io.Copy(conn, s)
	conn.Close()
	<-gone
	return nil
}

// listen lets tests talk to the host.
func (a *agent) listen(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "agent:", err)
			return
		}
		go a.control(conn)
	}
}

func (a *agent) control(conn net.Conn) {
	defer conn.Close()
	s, err := a.mux.Open(wire.Hello{Control: &wire.Control{}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		return
	}
	defer s.Close()
	go func() {
		_, _ = io.Copy(conn, s)
		conn.Close()
	}()
	_, _ = io.Copy(s, conn)
}
