package gdbsync

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// link stands between gdb and its server, so that it is known which of them
// ended a connection.
type link struct {
	l      net.Listener
	server string
	// lost gets a value when the server ended a connection.
	lost chan struct{}

	mu    sync.Mutex
	spare net.Conn // a connection to the server that gdb shall have next
	live  map[net.Conn]bool
	wg    sync.WaitGroup
}

// newLink listens on a socket for gdb and brings its connections to the server's
// socket.
func newLink(socket, server string) (*link, error) {
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("socket for gdb: %w", err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("socket for gdb: %w", err)
	}
	k := &link{l: l, server: server, lost: make(chan struct{}, 1), live: map[net.Conn]bool{}}
	k.wg.Add(1)
	go k.accept()
	return k, nil
}

func (k *link) accept() {
	defer k.wg.Done()
	for {
		c, err := k.l.Accept()
		if err != nil {
			return
		}
		k.wg.Add(1)
		go func() {
			defer k.wg.Done()
			k.bring(c)
		}()
	}
}

// dial returns the spare connection or a new one. A server that is just starting
// is waited for, less long than gdb waits for an answer.
func (k *link) dial() (net.Conn, error) {
	k.mu.Lock()
	c := k.spare
	k.spare = nil
	k.mu.Unlock()
	if c != nil {
		return c, nil
	}
	var err error
	for end := time.Now().Add(dialPatience); ; time.Sleep(dialPause) {
		if c, err = net.Dial("unix", k.server); err == nil || time.Now().After(end) {
			return c, err
		}
	}
}

const (
	dialPatience = 1500 * time.Millisecond
	dialPause    = 20 * time.Millisecond
)

func (k *link) hold(c net.Conn, on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if on {
		k.live[c] = true
	} else {
		delete(k.live, c)
	}
}

func (k *link) bring(gdb net.Conn) {
	defer gdb.Close()
	k.hold(gdb, true)
	defer k.hold(gdb, false)
	server, err := k.dial()
	if err != nil {
		return
	}
	defer server.Close()
	k.hold(server, true)
	defer k.hold(server, false)
	ended := make(chan bool, 2) // true: by the server
	go func() {
		_, _ = io.Copy(gdb, server)
		ended <- true
	}()
	go func() {
		_, _ = io.Copy(server, gdb)
		ended <- false
	}()
	if <-ended {
		select {
		case k.lost <- struct{}{}:
		default:
		}
	}
}

// await waits until the server can be reached, keeps that connection for gdb,
// and says so on ready.
func (k *link) await(ctx context.Context, ready chan<- struct{}) {
	for {
		c, err := net.Dial("unix", k.server)
		if err == nil {
			k.mu.Lock()
			if k.spare != nil {
				_ = k.spare.Close()
			}
			k.spare = c
			k.mu.Unlock()
			select {
			case ready <- struct{}{}:
			case <-ctx.Done():
			}
			return
		}
		t := time.NewTimer(reconnectPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

const reconnectPause = 100 * time.Millisecond

// Close ends every connection.
func (k *link) Close() {
	_ = k.l.Close()
	k.mu.Lock()
	for c := range k.live {
		_ = c.Close()
	}
	if k.spare != nil {
		_ = k.spare.Close()
	}
	k.mu.Unlock()
	k.wg.Wait()
}
