package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/stem-hw/stem-hw/gdbsync"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\r\nlines\n": "plain\nlines\n", "\x1b[31mred\x1b[0m": "red", "\x1b]0;title\x07after": "after", "\x1b]52;c;Zm9v\x1b\\x": "x",
		"a\x1b[2Jb\x07\x00c": "abc", "\x1bPq\x1b\\z": "z", "a\rb": "a\nb", "ü\u202eevil\u200b": "üevil", "\xff": "\ufffd", "\x9b31m": "\ufffd31m", "\x1b(Bx": "x", "\x1b": "", "t\tt": "t\tt",
		"\U000e0041tag": "tag", "\x1b]0;never ends\nnext": "\nnext",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzClean: nothing is left that a terminal or a reader would not see.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"\x1b[1;31mx", "\x1b]0;t\x07", "a\r\n", "\xff\u202e", "\x1bP\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q", out)
		}
		for _, r := range out {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q gives %q", in, out)
			}
		}
		if again := Clean(out); again != out {
			t.Fatalf("%q, then %q", out, again)
		}
	})
}

// pipe is a connection of a test's own.
type pipe struct {
	io.Reader
	bytes.Buffer
}

func (p *pipe) Read(b []byte) (int, error) { return p.Reader.Read(b) }
func (p *pipe) Close() error               { return nil }

// TestMalformedLines: a line that is no message is answered and skipped.
func TestMalformedLines(t *testing.T) {
	in := "garbage\n{}\n[]\n" + strings.Repeat("x", maxMessage+10) + "\n\n" + `{"jsonrpc":"2.0","method":"notifications/x"}` + "\n"
	p := &pipe{Reader: strings.NewReader(in)}
	var told []string
	c := newLineConn(p, bufio.NewReader(p), func(why string, _ int) { told = append(told, why) })
	m, err := c.Read(context.Background())
	if r, ok := m.(*jsonrpc.Request); err != nil || !ok || r.Method != "notifications/x" {
		t.Fatalf("%v, %v", m, err)
	}
	if len(told) != 4 {
		t.Errorf("%q", told)
	}
	var codes []int64
	for _, line := range strings.Split(strings.TrimSpace(p.String()), "\n") {
		var e struct{ Error struct{ Code int64 } }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		codes = append(codes, e.Error.Code)
	}
	if len(codes) != 4 || codes[0] != jsonrpc.CodeParseError || codes[1] != jsonrpc.CodeInvalidRequest {
		t.Errorf("%v", codes)
	}
	if _, err := c.Read(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestMemoryRanges(t *testing.T) {
	sim := &Place{}
	sim.Record.Profile = "hazard3-sim"
	for _, tt := range []struct {
		at, n uint64
		ok    bool
	}{
		{0x20000000, 64, true}, {0x20081ff0, 16, true}, {0x20081ff0, 32, false}, {0x10000000, 4096, true}, {0, 16, true}, {0x40070000, 4, false},
		{0x40130000, 4, false}, {0xd0000000, 4, false}, {0x1ffffffc, 8, false}, {1<<64 - 4, 8, false},
	} {
		if err := sim.checkMemory(tt.at, tt.n); (err == nil) != tt.ok {
			t.Errorf("%#x, %d: %v", tt.at, tt.n, err)
		}
	}
	for _, at := range []uint64{otpStart, otpEnd - 4, 0x40130000, otpStart - 2} {
		if !touchesOTP(at, 4) {
			t.Errorf("%#x", at)
		}
	}
	if !within([]gdbsync.MemoryRegion{{Start: 0, End: 8}, {Start: 8, End: 16}}, 4, 8) {
		t.Error("regions that touch")
	}
}

// TestCardPath: nothing outside the card, by no way; and files that decide are not
// edited.
func TestCardPath(t *testing.T) {
	dir := t.TempDir()
	card := filepath.Join(dir, "card")
	for _, d := range []string{card + "/src", card + "/.git", dir + "/other"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{card + "/main.c", card + "/stem.toml", card + "/.git/config", dir + "/other/secret", card + "/board.ld"} {
		if err := os.WriteFile(f, []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": dir + "/other", "leak.c": "../other/secret", "loop.c": "loop.c", "gone.c": "../nowhere", "fine.c": "main.c", "sly.c": "stem.toml", "git.c": ".git/config"} {
		if err := os.Symlink(to, filepath.Join(card, link)); err != nil {
			t.Fatal(err)
		}
	}
	p := &Place{}
	p.Record.Card = card
	for path, ok := range map[string]bool{
		"main.c": true, "src/new.c": true, card + "/main.c": true, "fine.c": true, "./main.c": true,
		"../other/secret": false, "/etc/passwd": false, "out/secret": false, "leak.c": false, "loop.c": false, "gone.c": false, "": false, "a\x00b": false, "src/../../other/secret": false, "..": false,
	} {
		if _, err := p.cardPath(path); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
	for path, ok := range map[string]bool{
		"main.c": true, "src/x.h": true, "fine.c": true,
		"stem.toml": false, "sly.c": false, "git.c": false, ".git/config": false, ".vscode/tasks.json": false, ".envrc": false, ".gdbinit": false, "board.ld": false, "Makefile": false,
		"src/MAKEFILE": false, "CMakeLists.txt": false, "x.cfg": false, "sub/.nvimrc": false, "a.TOML": false,
	} {
		if _, err := p.editable(path); (err == nil) != ok {
			t.Errorf("editable %q: %v", path, err)
		}
	}
}
