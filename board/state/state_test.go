package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
)

func TestFolder(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/stem-hw"},
		{map[string]string{"HOME": "/h"}, "/h/.local/state/stem-hw"},
		{map[string]string{"XDG_STATE_HOME": "relative"}, ""},
		{nil, ""},
	} {
		got, err := Folder(env(tt.env))
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%v: %q, %v", tt.env, got, err)
		}
	}
}

func TestProject(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"a/b/c", "a/.git", "lone"} {
		if err := os.MkdirAll(filepath.Join(top, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "a", "b"), filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	check := func(dir, want string) {
		t.Helper()
		if got, err := Project(filepath.Join(top, dir)); err != nil || got != filepath.Join(top, want) {
			t.Errorf("%s: %s, %v; want %s", dir, got, err, want)
		}
	}
	check("a/b/c", "a")
	check("link/c", "a")
	check("lone", "lone")
	if err := os.WriteFile(filepath.Join(top, "a/b/stem-hw.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	check("a/b/c", "a/b")
	if _, err := Project(filepath.Join(top, "gone")); faults.Of(err) == nil {
		t.Errorf("%v", err)
	}
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x", "stem-hw")
	s := New(dir)
	if b, err := s.Read(); err != nil || len(b.Pins) != 0 {
		t.Fatalf("%v, %v", b, err)
	}
	id := board.Identity{Serial: "ABC", Role: board.RoleBoard}
	err := s.Change(func(b *Boards) error {
		b.Pins["/p"] = Pin{Selector: "sim", Board: id}
		b.Nicknames["desk"] = id
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if st, err := os.Stat(s.Path()); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	b, err := s.Read()
	if err != nil || b.Pins["/p"].Selector != "sim" || b.Nickname(board.Identity{Serial: "abc", Role: board.RoleBoard}) != "desk" {
		t.Errorf("%+v, %v", b, err)
	}
	if n := b.Nickname(board.Identity{Serial: "abc", Role: board.RoleProbe}); n != "" {
		t.Errorf("another role has the nickname %q", n)
	}
	before, _ := os.ReadFile(s.Path())
	boom := errors.New("boom")
	if err := s.Change(func(b *Boards) error { b.Pins = nil; return boom }); !errors.Is(err, boom) {
		t.Error(err)
	}
	if after, _ := os.ReadFile(s.Path()); string(after) != string(before) {
		t.Error("a change that failed was written")
	}
}

func TestManyChanges(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := New(dir).Change(func(b *Boards) error {
				b.Pins[fmt.Sprintf("/p%d", i)] = Pin{Selector: "sim"}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if b, err := New(dir).Read(); err != nil || len(b.Pins) != 20 {
		t.Errorf("%d pins, %v", len(b.Pins), err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDamaged(t *testing.T) {
	for _, text := range []string{
		"", "{", "[]", `{"schema":"stem-hw/boards/2"}`, `{"schema":"stem-hw/boards/1","extra":1}`,
		`{"schema":"stem-hw/boards/1","pins":{"relative":{"selector":"sim"}}}`,
		`{"schema":"stem-hw/boards/1","pins":{"/p":{"selector":"sim:../.."}}}`,
		`{"schema":"stem-hw/boards/1","nicknames":{"a b":{}}}`,
		`{"schema":"stem-hw/boards/1"} trailing`,
	} {
		dir := t.TempDir()
		s := New(dir)
		if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Read()
		f := faults.Of(err)
		if f == nil || f.Code != faults.CodeBadState || len(f.Try) == 0 {
			t.Errorf("%q: %v", text, err)
		}
		if err := s.Change(func(*Boards) error { return nil }); err == nil {
			t.Errorf("%q was overwritten", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":"stem-hw/boards/1","pins":{"/p":{"selector":"sim","board":{"role":"board"},"since":"2026-01-01T00:00:00Z"}},"nicknames":{"a":{"role":"board"}}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b Boards
		if Parse(data, &b) == nil && (b.Pins == nil || b.Nicknames == nil) {
			t.Fatal("maps missing")
		}
	})
}
