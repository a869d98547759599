package gdbsync

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// shortDir is a folder whose sockets have short paths.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// echo serves one connection after the other: what comes goes back.
func echo(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestLinkSaysWhichSideEnded(t *testing.T) {
	dir := shortDir(t)
	server, socket := filepath.Join(dir, "s"), filepath.Join(dir, "l")
	if err := os.WriteFile(socket, nil, 0o600); err != nil { // of one that was killed
		t.Fatal(err)
	}
	l := echo(t, server)
	k, err := newLink(socket, server)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	dial := func() (net.Conn, net.Conn) {
		t.Helper()
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c, s
	}
	gdb, srv := dial()
	if _, err := io.WriteString(gdb, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(srv).ReadString('\n'); got != "hello\n" {
		t.Fatalf("%q, %v", got, err)
	}
	_ = gdb.Close()
	if _, err := srv.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server sees %v", err)
	}
	select {
	case <-k.lost:
		t.Error("gdb left, and the server is said to be lost")
	case <-time.After(50 * time.Millisecond):
	}
	gdb, srv = dial()
	_ = srv.Close()
	if _, err := gdb.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("gdb sees %v", err)
	}
	<-k.lost
	// The server comes back: gdb's next connection is the one that found it.
	_ = l.Close()
	ready := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go k.await(ctx, ready)
	l = echo(t, server)
	<-ready
	gdb, srv = dial()
	defer gdb.Close()
	if _, err := io.WriteString(srv, "x"); err != nil {
		t.Fatal(err)
	}
	if n, err := gdb.Read(make([]byte, 1)); n != 1 {
		t.Error(err)
	}
}

func TestPTYPassesBytes(t *testing.T) {
	p, err := OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if _, err := p.Slave.Write(all); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(all))
	if _, err := io.ReadFull(p.Master, got); err != nil || string(got) != string(all) {
		t.Errorf("%x, %v", got, err)
	}
	// Closing ends a pending read.
	done := make(chan error)
	go func() {
		_, err := p.Master.Read(got)
		done <- err
	}()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a read of a closed terminal succeeded")
	}
}
