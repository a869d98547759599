package main

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// pieces collects what a lineBuffer hands on.
type pieces struct {
	mu   sync.Mutex
	list []string
}

func (c *pieces) add(stream string, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, stream+":"+string(p))
}

func (c *pieces) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.list, "|")
}

func TestLineBuffer(t *testing.T) {
	c := &pieces{}
	b := newLineBuffer(c.add)
	for _, p := range []string{"one", "\ntwo\nth", "ree\n"} {
		b.put("a", []byte(p))
	}
	b.put("b", []byte("x\xe2\x82"))
	b.put("a", []byte("end"))
	b.flush(false)
	if got, want := c.all(), "a:one\ntwo\n|a:three\n|a:end|b:x"; strings.Replace(got, "a:one\n|a:two\n", "a:one\ntwo\n", 1) != want {
		t.Errorf("handed on %q, want %q", got, want)
	}
	b.put("b", []byte("\xac\n"))
	b.put("b", []byte("\xe2"))
	b.flush(true)
	if got, want := c.all(), "|b:€\n|b:\xe2"; !strings.HasSuffix(got, want) {
		t.Errorf("handed on %q, want the end %q", got, want)
	}
	b.flush(true)
	n := len(c.all())
	b.put("a", []byte(strings.Repeat("x", lineLimit)))
	if got := len(c.all()); got < n+lineLimit {
		t.Error("a line without an end is held for ever")
	}
}

// TestPrompt shows a line without an end after a while by itself.
func TestPrompt(t *testing.T) {
	c := &pieces{}
	b := newLineBuffer(c.add)
	b.put("a", []byte("name? "))
	for range 1000 {
		if c.all() == "a:name? " {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("handed on %q", c.all())
}
