package gdbserver

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestLost: when the way to the target is gone gdb is told and let go, and the
// server ends with the reason.
func TestLost(t *testing.T) {
	gone := errors.New("the debug probe is gone")
	for _, running := range []bool{false, true} {
		var lost atomic.Bool
		f := newFake()
		srv, err := New(Options{Target: f, RTOS: "none", Lost: func() error {
			if lost.Load() {
				return gone
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- srv.Serve(context.Background(), l) }()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
		packet := "?"
		if running {
			packet = "vCont;c"
		}
		lost.Store(true)
		if _, err := c.Write(appendPacket(nil, []byte(packet))); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(c)
		if err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("running %v: the connection does not end: %v", running, err)
		}
		if err := <-ended; !errors.Is(err, gone) {
			t.Errorf("running %v: the server ends with %v; gdb was told %q", running, err, said)
		}
		_ = c.Close()
	}
}
