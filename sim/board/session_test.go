package board

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// frames writes documents and data as a client sends them.
func frames(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		kind, body := byte(kindJSON), []byte(nil)
		switch p := p.(type) {
		case []byte:
			kind, body = kindData, p
		default:
			body, _ = json.Marshal(p)
		}
		out = append(out, kind)
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		out = append(out, body...)
	}
	return out
}

// FuzzSession sends anything to a server: it must go on serving others.
func FuzzSession(f *testing.F) {
	hi := hello{Protocol: Protocol, Version: "x", Verb: "fuzz"}
	f.Add(frames(hi, request{Op: opDescribe}, request{Op: opStats}))
	f.Add(frames(hi, request{Op: opHold, Reset: ResetBootsel}, request{Op: opErase, Addr: flashBase, N: 4096},
		request{Op: opProgram, Addr: flashBase, Data: 3}, []byte("abc"), request{Op: opAdopt, Adopt: &Adoption{Arch: "arm"}}, request{Op: opRelease}))
	f.Add(frames(hi, request{Op: opHold}, request{Op: opLoad, Data: 4, Image: &ramImage{Arch: "riscv", HasEntry: true, Entry: 0x20000000,
		Segments: []segment{{0x20000000, 4}}}}, []byte{1, 0, 0, 0}, request{Op: opReset, Reset: ResetHalt}))
	f.Add(frames(hi, request{Op: opRead, Addr: 0xffffffff, N: 1 << 20}, request{Op: opRead, Addr: 0x10000000, N: 16}))
	f.Add(frames(hi, request{Op: opConsole, Console: &ConsoleWishes{History: true}}, []byte("typed"), request{Op: opReset, Reset: ResetBootsel}))
	f.Add(append(frames(hi, request{Op: opGdb}), "$g#67"...))
	f.Add(frames(hi, request{Op: opLend}))
	f.Add(frames(hello{Protocol: 7}))
	dir, err := os.MkdirTemp("", "sb")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	p, err := NewPlace(dir, dir, "fuzz")
	if err != nil {
		f.Fatal(err)
	}
	s, l, err := NewServer(p, ServerOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close(); _ = s.close() })
	// talk sends data and hangs up.
	talk := func(t *testing.T, data []byte) {
		client, server := net.Pipe()
		done := make(chan struct{})
		go func() { s.serve(context.Background(), server); close(done) }()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		_ = client.SetWriteDeadline(time.Now().Add(limit))
		_, _ = client.Write(data)
		client.Close()
		select {
		case <-done:
		case <-time.After(limit):
			t.Fatal("the session does not end")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		talk(t, data)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holder != nil || s.lent || s.gdb || len(s.sessions) != 0 || s.t == nil || s.hub.count() != 0 {
			t.Fatalf("the session left something behind: %+v", s.describe())
		}
	})
}
