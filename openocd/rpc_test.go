package openocd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
)

// port is a Tcl port that answers each request by f.
func port(t *testing.T, f func(request string, say func(string))) (*rpc, *[]string) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	t.Cleanup(func() { _, _ = inW.Close(), outW.Close() })
	go func() {
		defer outW.Close()
		var b []byte
		one := make([]byte, 1)
		for {
			if _, err := inR.Read(one); err != nil {
				return
			}
			if one[0] != end {
				b = append(b, one[0])
				continue
			}
			f(string(b), func(s string) { fmt.Fprintf(outW, "%s%c", s, end) })
			b = nil
		}
	}()
	var mu sync.Mutex
	told := &[]string{}
	return newRPC(inW, outR, func(s string) {
		mu.Lock()
		defer mu.Unlock()
		*told = append(*told, s)
	}), told
}

// token is the word that a request wants back.
func token(request string) string {
	_, rest, _ := strings.Cut(request, "list ")
	word, _, _ := strings.Cut(rest, " ")
	return word
}

func TestCall(t *testing.T) {
	c, told := port(t, func(request string, say func(string)) {
		say("type target_state state halted\r\n")
		say(token(request) + "0 0 {an answer to another}")
		say(token(request) + " 0 {0x1 0x2}")
	})
	r, err := c.call(context.Background(), "get {a} $b [c]")
	if err != nil || r.code != 0 || r.text != "0x1 0x2" {
		t.Errorf("%+v, %v", r, err)
	}
	if !slices.Equal(*told, []string{"type target_state state halted"}) {
		t.Errorf("notifications %q", *told)
	}
}

func TestCallFails(t *testing.T) {
	c, _ := port(t, func(request string, say func(string)) { say(token(request) + " -4 {failed to read memory}\n") })
	if r, err := c.call(context.Background(), "x"); err == nil && (r.code != -4 || r.text != "failed to read memory") {
		t.Errorf("%+v", r)
	}
	ended, _ := port(t, func(string, func(string)) {})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ended.call(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
	if _, err := c.call(context.Background(), "a\x1ab"); err == nil {
		t.Error("a command with the end of a request in it is sent")
	}
}

// TestLineFeeds: releases add line feeds to results.
func TestLineFeeds(t *testing.T) {
	c, _ := port(t, func(request string, say func(string)) { say(token(request) + " 0 {0x1\n}") })
	if r, err := c.call(context.Background(), "riscv dmi_read 0x10"); err != nil || r.text != "0x1" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSplitList(t *testing.T) {
	for in, want := range map[string][]string{
		"":                         nil,
		"a b":                      {"a", "b"},
		"stem-hw-1 0 {}":           {"stem-hw-1", "0", ""},
		`x {a {b c} d} "e f" g\ h`: {"x", "a {b c} d", "e f", "g h"},
		"{a\nb}":                   {"a\nb"},
	} {
		got, err := splitList(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"{a", `"a`} {
		if _, err := splitList(bad); err == nil {
			t.Errorf("%q is a list", bad)
		}
	}
}

// FuzzQuote: whatever is quoted is one word, and nothing else.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "E660", "a b", `"$x[exec rm]{;`, "line\nfeed", "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words, err := splitList(quote(s))
		want := strings.NewReplacer("\x1a", "", "\x00", "").Replace(s)
		if err != nil || len(words) != 1 || words[0] != want {
			t.Errorf("%q becomes %q, which is %q, %v", s, quote(s), words, err)
		}
		for i, c := range quote(s) {
			if (c == '$' || c == '[') && quote(s)[i-1] != '\\' {
				t.Errorf("%q leaves %q alive", quote(s), c)
			}
		}
	})
}

// FuzzAnswer: no answer ends the program.
func FuzzAnswer(f *testing.F) {
	f.Add("stem-hw-1 0 {a b}")
	f.Add("stem-hw-1 x y")
	f.Fuzz(func(_ *testing.T, s string) { _, _, _ = answer(s, "stem-hw-1") })
}
