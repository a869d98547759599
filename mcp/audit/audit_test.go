package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func TestAuditAppendsAndFilters(t *testing.T) {
	l := New(t.TempDir())
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			phase := []string{Before, After}[i%2]
			if err := New(filepath.Dir(filepath.Dir(l.Path()))).Append(Record{Call: "c", Phase: phase, Tool: "debug_halt", Level: "assist", Instance: "x"}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	all, damaged, err := l.Read(Filter{})
	if err != nil || len(all) != 20 || damaged != 0 {
		t.Fatalf("%d, %d, %v", len(all), damaged, err)
	}
	if some, _, _ := l.Read(Filter{Phase: Before, Last: 3}); len(some) != 3 {
		t.Errorf("%d", len(some))
	}
	if none, _, _ := l.Read(Filter{Instance: "y"}); len(none) != 0 {
		t.Errorf("%d", len(none))
	}
	st, err := os.Stat(l.Path())
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

func TestAuditRotates(t *testing.T) {
	l := New(t.TempDir())
	l.max, l.keep = 2000, 3
	for range 100 {
		if err := l.Append(Record{Call: "c", Phase: Refused, Tool: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	old, err := l.old()
	if err != nil || len(old) != 3 {
		t.Fatalf("%v, %v", old, err)
	}
	if st, err := os.Stat(l.Path()); err != nil || st.Size() > 2000 {
		t.Errorf("%v", err)
	}
}

// TestNotAuditedIsRefused: a file that cannot be appended to is a refusal.
func TestNotAuditedIsRefused(t *testing.T) {
	l := New(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(l.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"a link":   func() error { return os.Symlink("/dev/null", l.Path()) },
		"a folder": func() error { return os.Mkdir(l.Path(), 0o700) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(Record{Phase: Before}); faults.StatusOf(err) != faults.StatusRefused {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(l.Path()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, gone := range map[string]string{
		`{"password":"hunter2hunter2"}`: "hunter2", `{"a":{"api_key":"x1234567"}}`: "x1234567", `{"line":"export TOKEN=abc123def"}`: "abc123def",
		`{"text":"Authorization: Bearer abcdefghijkl"}`: "abcdefghijkl", `{"text":"ghp_0123456789abcdefghij0123"}`: "ghp_0123", `{"t":"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"}`: "AAAA",
		`{"u":"https://me:pass99@host/"}`: "pass99", `not json secret`: "secret", `{"x":"sk-abcdefghijklmnopqrstuv"}`: "sk-abc",
	} {
		out := Redact(json.RawMessage(in))
		if strings.Contains(string(out), gone) || !json.Valid(out) {
			t.Errorf("%s: %s", in, out)
		}
	}
	if out := string(Redact(json.RawMessage(`{"location":"main.c:12","n":3}`))); out != `{"location":"main.c:12","n":3}` {
		t.Error(out)
	}
	if out := Redact(json.RawMessage(`{"t":"` + strings.Repeat("x", 5000) + `"}`)); len(out) > 800 {
		t.Errorf("%d bytes", len(out))
	}
}
