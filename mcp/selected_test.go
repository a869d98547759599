package mcp

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSelections: two readers of a selection that is switched 20,000 times never
// see none, and never half of one.
func TestSelections(t *testing.T) {
	dir := t.TempDir()
	targets := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for _, d := range targets {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "t.sock"), []byte(d), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := NewSelection(dir)
	if got, err := s.Get(); got != "" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if err := s.Set(targets[0]); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var reads [2]int
	var wg sync.WaitGroup
	for i := range reads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				got, err := s.Get()
				if err != nil || got != targets[0] && got != targets[1] {
					t.Errorf("%q, %v", got, err)
					return
				}
				// Through the link, as a client opens a socket.
				if reads[i]++; reads[i]%8 != 0 {
					continue
				}
				text, err := os.ReadFile(filepath.Join(s.Path(), "t.sock"))
				if err != nil || string(text) != targets[0] && string(text) != targets[1] {
					t.Errorf("%q, %v", text, err)
					return
				}
			}
		}()
	}
	for i := range 20000 {
		if err := s.Set(targets[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
	if reads[0] == 0 || reads[1] == 0 {
		t.Error("a reader never read")
	}
	left, err := os.ReadDir(filepath.Dir(s.Path()))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get(); got != "" {
		t.Error(got)
	}
}
