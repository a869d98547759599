package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
)

// pair connects two Muxes.
func pair(t *testing.T, accept func(*Stream, Hello)) (near *Mux, hangUp func()) {
	t.Helper()
	a, b := net.Pipe()
	near = NewMux(a, 1, func(s *Stream, _ Hello) { s.Close() })
	far := NewMux(b, 2, accept)
	var running sync.WaitGroup
	for _, m := range []*Mux{near, far} {
		running.Add(1)
		go func() {
			defer running.Done()
			if m.Run() == nil {
				t.Error("a connection ended without an error")
			}
		}()
	}
	hangUp = func() { a.Close(); b.Close(); running.Wait() }
	t.Cleanup(hangUp)
	return near, hangUp
}

// TestStreams sends much through many streams at once, one of which nobody reads.
func TestStreams(t *testing.T) {
	m, _ := pair(t, func(s *Stream, h Hello) {
		if h.Exec.Args[0] == "ignore" {
			return
		}
		_, err := io.Copy(s, s)
		if cerr := s.CloseWith(Goodbye{Code: 7, Error: h.Exec.Args[0]}); err != nil || cerr != nil {
			t.Error(err, cerr)
		}
	})
	ignored, err := m.Open(Hello{Exec: &Exec{Args: []string{"ignore"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ignored.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			s, err := m.Open(Hello{Exec: &Exec{Args: []string{"echo"}}})
			if err != nil {
				t.Error(err)
				return
			}
			sent := make([]byte, 300_000)
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for k := range sent {
				sent[k] = byte(r.Uint32())
			}
			go s.Write(sent)
			got := make([]byte, len(sent))
			if _, err := io.ReadFull(s, got); err != nil || !bytes.Equal(got, sent) {
				t.Errorf("stream %d brings something else (%v)", i, err)
			}
			s.Close()
		}()
	}
	all.Wait()
}

func TestGoodbye(t *testing.T) {
	m, hangUp := pair(t, func(s *Stream, h Hello) {
		if h.Exec == nil {
			return
		}
		if _, err := io.WriteString(s, "last words"); err != nil {
			t.Error(err)
		}
		if err := s.CloseWith(Goodbye{Code: 3, Error: "enough"}); err != nil {
			t.Error(err)
		}
		if _, err := s.Write([]byte("more")); err == nil {
			t.Error("a closed stream takes more")
		}
	})
	s, err := m.Open(Hello{Exec: &Exec{}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(s)
	if g := s.Goodbye(); err != nil || string(b) != "last words" || g == nil || g.Code != 3 || g.Error != "enough" {
		t.Errorf("%q, %v, %+v", b, err, g)
	}
	open, err := m.Open(Hello{Control: &Control{}})
	if err != nil {
		t.Fatal(err)
	}
	hangUp()
	if _, err := io.ReadAll(open); err != nil {
		t.Error(err)
	}
	if g := open.Goodbye(); g == nil || g.Code != -1 {
		t.Errorf("a stream whose connection ended says %+v", g)
	}
	if _, err := m.Open(Hello{}); err == nil {
		t.Error("a connection that ended has new streams")
	}
}

// half reads from one place and writes to nowhere.
type half struct{ io.Reader }

func (half) Write(p []byte) (int, error) { return len(p), nil }

func FuzzMux(f *testing.F) {
	frame := func(id byte, kind byte, body string) string {
		return string([]byte{id, 0, 0, 0, kind, byte(len(body)), 0, 0, 0}) + body
	}
	f.Add([]byte(frame(1, 'O', `{"exec":{}}`) + frame(1, 'D', "data") + frame(1, 'C', `{"code":1}`)))
	f.Add([]byte(frame(1, 'O', `{}`) + frame(1, 'O', `{}`)))
	f.Add([]byte(frame(2, 'C', "") + frame(3, 'X', "")))
	f.Add([]byte("\x01\x00\x00\x00D\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := NewMux(half{bytes.NewReader(b)}, 1, func(s *Stream, _ Hello) { s.Close() })
		if err := m.Run(); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("it ends with %v", err)
		}
	})
}
