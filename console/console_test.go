package console_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/console"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/symbols"
)

// pty is a serial port of a board: what is written to it comes out of node.
func pty(t *testing.T) (m *os.File, node string) {
	t.Helper()
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = m.Close() })
	n, err := unix.IoctlGetInt(int(m.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(m.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	return m, filepath.Join("/dev/pts", itoa(n))
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// where is a board that comes and goes.
type where struct {
	mu sync.Mutex
	at console.Place
}

func (w *where) set(p console.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = p
}

func (w *where) find(context.Context) (console.Place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at, nil
}

// reader collects what a line hands on.
type reader struct {
	t *testing.T
	l *console.Line
}

// text reads until what came ends with want.
func (r *reader) text(want string) {
	r.t.Helper()
	var b strings.Builder
	for !strings.HasSuffix(b.String(), want) {
		p, e, err := r.l.Next()
		if err != nil || e != nil {
			r.t.Fatalf("%q, then %+v, %v; want %q", b.String(), e, err, want)
		}
		b.Write(p)
	}
}

// event reads the next event.
func (r *reader) event(kind string) *console.Event {
	r.t.Helper()
	p, e, err := r.l.Next()
	if err != nil || e == nil || e.Kind != kind {
		r.t.Fatalf("%q, %+v, %v; want %s", p, e, err, kind)
	}
	return e
}

func line(t *testing.T, w *where, once bool) *reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	l := console.New(ctx, console.Options{Find: w.find, Settings: console.Default, Every: 5 * time.Millisecond, Once: once})
	t.Cleanup(func() { _ = l.Close() })
	return &reader{t, l}
}

func TestLine(t *testing.T) {
	w := &where{}
	r := line(t, w, false)
	if _, err := r.l.Write([]byte("x")); !errors.Is(err, console.ErrNoPort) {
		t.Errorf("%v", err)
	}
	m, node := pty(t)
	w.set(console.Place{Node: node, Key: "1"})
	if e := r.event(console.Attached); e.Text != node {
		t.Errorf("%+v", e)
	}
	if _, err := m.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	r.text("hello\n")
	// No echo, no translation: the port is raw.
	if _, err := r.l.Write([]byte("a\r\x03")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(m, got); err != nil || string(got) != "a\r\x03" {
		t.Errorf("%q %v", got, err)
	}
	// The board goes, and comes back as another port.
	_ = m.Close()
	r.event(console.Gone)
	w.set(console.Place{})
	m2, node2 := pty(t)
	w.set(console.Place{Node: node2, Key: "2"})
	if e := r.event(console.Back); e.Gap <= 0 || e.Text != node2 {
		t.Errorf("%+v", e)
	}
	if _, err := m2.WriteString("again"); err != nil {
		t.Fatal(err)
	}
	r.text("again")
	// The same name, another board's plugging in: a new port all the same.
	w.set(console.Place{Node: node2, Key: "3"})
	r.event(console.Gone)
	r.event(console.Back)
}

func TestYield(t *testing.T) {
	w := &where{}
	_, node := pty(t)
	w.set(console.Place{Node: node, Key: "1"})
	r := line(t, w, false)
	r.event(console.Attached)
	w.set(console.Place{Node: node, Key: "1", Holder: "flash, process 42"})
	if e := r.event(console.Yielded); e.Text != "flash, process 42" {
		t.Errorf("%+v", e)
	}
	// The port is free now, for a touch at 1200 baud.
	p, err := console.Open(node, console.Settings{Baud: 1200, Format: "8N1"})
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Close()
	w.set(console.Place{Node: node, Key: "1"})
	r.event(console.Back)
}

func TestPauseAndOnce(t *testing.T) {
	w := &where{}
	_, node := pty(t)
	w.set(console.Place{Node: node, Key: "1"})
	r := line(t, w, true)
	r.event(console.Attached)
	r.l.Pause()
	r.event(console.Gone)
	if _, err := r.l.Write([]byte("x")); !errors.Is(err, console.ErrNoPort) {
		t.Errorf("%v", err)
	}
	r.l.Resume()
	r.event(console.Back)
	w.set(console.Place{})
	r.event(console.Gone)
	if _, _, err := r.l.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestFindFails(t *testing.T) {
	l := console.New(context.Background(), console.Options{Find: func(context.Context) (console.Place, error) {
		return console.Place{}, faults.Usage("no")
	}})
	if _, _, err := l.Next(); faults.Of(err) == nil {
		t.Errorf("%v", err)
	}
	_ = l.Close()
}

func TestSettings(t *testing.T) {
	for _, s := range []console.Settings{{115200, "8N1", false}, {1200, "7e2", false}, {3_000_000, "5O1.5", true}, {9600, "8S1", false}} {
		if err := s.Check(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []console.Settings{{0, "8N1", false}, {9600, "", false}, {9600, "9N1", false}, {9600, "8X1", false}, {9600, "8N3", false}, {9600, "8N", false}} {
		if err := s.Check(); faults.StatusOf(err) != faults.StatusUsage {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := console.Open("/nowhere/tty", console.Default); err == nil {
		t.Error("no such port")
	}
	_, node := pty(t)
	p, err := console.Open(node, console.Default)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if os.Geteuid() != 0 { // root may open it all the same
		if _, err := console.Open(node, console.Default); faults.StatusOf(err) != faults.StatusBusy {
			t.Errorf("%v", err)
		}
	}
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		t    *console.Translator
		in   []string
		want string
	}{
		{console.ForSending(console.Keep), []string{"a\r\nb\n"}, "a\r\nb\n"},
		{console.ForSending(console.CR), []string{"a\n", "b\r", "\nc\r\r"}, "a\rb\rc\r\r"},
		{console.ForSending(console.CRLF), []string{"a\n", "b\r", "c"}, "a\r\nb\r\nc"},
		{console.ForSending(console.LF), []string{"a\r\nb\r"}, "a\nb\n"},
		{console.ForShowing(console.Keep), []string{"a\rb\n"}, "a\rb\n"},
		{console.ForShowing(console.CR), []string{"a\rb\nc"}, "a\nb\nc"},
		{console.ForShowing(console.LF), []string{"a\rb\n"}, "a\rb\n"},
		{console.ForShowing(console.CRLF), []string{"a\r", "\nb\r\n"}, "a\nb\n"},
	} {
		var got bytes.Buffer
		for _, p := range c.in {
			got.Write(c.t.Apply([]byte(p)))
		}
		if got.String() != c.want {
			t.Errorf("%q: %q, want %q", c.in, got.String(), c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	raw, err := os.ReadFile("../symbols/testdata/crash.elf")
	if err != nil {
		t.Fatal(err)
	}
	table, err := symbols.Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	main, ok := table.Lookup("main")
	if !ok {
		t.Fatal("no main")
	}
	n := console.NewNotes(table)
	text := "*** PANIC *** pc=" + hex(main.Addr+2) + " lr " + hex(main.Addr)[2:] + " 12345678\nand"
	var got []string
	for _, p := range []string{text[:10], text[10:30], text[30:]} {
		got = append(got, n.Put([]byte(p))...)
	}
	if len(got) != 2 || !strings.Contains(got[0], "main+0x2 at ") || !strings.Contains(got[0], ".c:") || strings.Contains(got[1], "+") {
		t.Errorf("%q", got)
	}
	if got := n.Put([]byte(strings.Repeat("x", 10000) + hex(main.Addr) + "\n")); len(got) != 0 {
		t.Errorf("a line without end: %q", got)
	}
	if got := n.Put([]byte("at " + hex(main.Addr) + "\r\n")); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func hex(v uint32) string {
	const digits = "0123456789abcdef"
	b := []byte("0x")
	for s := 28; s >= 0; s -= 4 {
		b = append(b, digits[v>>s&15])
	}
	return string(b)
}

func TestHub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "console.sock")
	sent := make(chan string, 1)
	h, err := console.Share(path, func(p []byte) { sent <- string(p) })
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if _, err := console.Share(path, nil); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("%v", err)
	}
	join := func() net.Conn {
		n := h.Clients()
		c, ok := console.Join(context.Background(), path)
		if !ok {
			t.Fatal("nobody shares")
		}
		for i := 0; h.Clients() <= n && i < 1000; i++ {
			time.Sleep(time.Millisecond)
		}
		return c
	}
	a, b := join(), join()
	h.Put([]byte("hello"))
	for _, c := range []net.Conn{a, b} {
		got := make([]byte, 5)
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
			t.Errorf("%q %v", got, err)
		}
	}
	if _, err := a.Write([]byte("typed")); err != nil || <-sent != "typed" {
		t.Error(err)
	}
	// One that does not read holds nobody up.
	for range 2000 {
		h.Put(make([]byte, 4096))
		if h.Clients() == 0 {
			break
		}
	}
	if h.Clients() != 0 {
		t.Error("clients that do not read are kept")
	}
	_ = a.Close()
	_ = b.Close()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, ok := console.Join(context.Background(), path); ok {
		t.Error("still shared")
	}
	// What a process that died left behind is replaced; other files are not.
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := console.Share(path, nil); faults.StatusOf(err) != faults.StatusUsage {
		t.Errorf("%v", err)
	}
}
