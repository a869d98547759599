package rig

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
)

// link is the way to the boards on the host.
type link struct {
	mu    sync.Mutex
	conn  net.Conn
	lines *bufio.Reader
}

// theLink is one for the process: the host ends the boards with it.
var theLink = sync.OnceValues(func() (*link, error) {
	conn, err := net.Dial("unix", wire.Socket)
	if err != nil {
		return nil, err
	}
	return &link{conn: conn, lines: bufio.NewReader(conn)}, nil
})

// call asks the host.
func (l *link) call(q wire.Request) (r wire.Reply, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, err := json.Marshal(q)
	if err != nil {
		return r, err
	}
	if _, err := l.conn.Write(append(body, '\n')); err != nil {
		return r, err
	}
	line, err := l.lines.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("the host: %w", err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// Inside reports whether this process runs in the virtual machine.
func Inside() bool { return os.Getenv("STEM_HW_RIG") == "1" }

// need fails a test that runs elsewhere.
func need(t testing.TB) {
	t.Helper()
	if !Inside() {
		t.Fatal("this test is for the virtual machine: run it with make test-rig")
	}
}
