package board

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target/flashing"
)

const limit = 60 * time.Second

func testPlace(t *testing.T, name string) Place {
	t.Helper()
	// The name of a test's own folder may be too long for a socket.
	run, err := os.MkdirTemp("", "sb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	p, err := NewPlace(t.TempDir(), run, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serveHere serves a board in this process; stop ends it.
func serveHere(t *testing.T, p Place, o ServerOptions) (stop func()) {
	t.Helper()
	s, l, err := NewServer(p, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(limit):
				t.Error("the server does not end")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func dial(t *testing.T, p Place, verb string) *Client {
	t.Helper()
	c, err := Dial(context.Background(), p, "test", verb)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func open(t *testing.T, name string) *image.Image {
	t.Helper()
	im, err := image.Open(filepath.Join("..", "..", "examples", name, name+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// flash puts an example into the board and starts it.
func flash(t *testing.T, c *Client, name string) flashing.Result {
	t.Helper()
	ctx := context.Background()
	im := open(t, name)
	if err := c.Hold(ctx, ResetBootsel); err != nil {
		t.Fatal(err)
	}
	r, err := flashing.NewPlan(im).Write(ctx, c, flashing.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Adopt(ctx, Adoption{Program: Program{Path: im.Path, Format: im.Format}, Arch: im.Arch}, im.ELF); err != nil {
		t.Fatal(err)
	}
	if err := c.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Reset(ctx, ResetRun); err != nil {
		t.Fatal(err)
	}
	return r
}

// readConsole reads a console until the end of the program or of the console.
func readConsole(t *testing.T, con *Console, until string) (text string, last Event) {
	t.Helper()
	timer := time.AfterFunc(limit, func() { con.Close() })
	defer timer.Stop()
	for {
		_, p, e, err := con.Next()
		if err != nil {
			t.Fatalf("%v; so far %q", err, text)
		}
		text += string(p)
		if e != nil && e.Event == until || until != "" && strings.Contains(text, until) {
			if e != nil {
				last = *e
			}
			return text, last
		}
	}
}

func TestFlashRunConsole(t *testing.T) {
	p := testPlace(t, board.DefaultSim)
	stop := serveHere(t, p, ServerOptions{Version: "test"})
	c := dial(t, p, "flash")
	if r := flash(t, c, "timer"); r.Changed == 0 || !r.Verified {
		t.Fatalf("%+v", r)
	}
	ctx := context.Background()
	con, err := dial(t, p, "console").Console(ctx, ConsoleWishes{History: true})
	if err != nil {
		t.Fatal(err)
	}
	text, e := readConsole(t, con, "ended")
	if !strings.Contains(text, "slept 5 ms: yes") || !strings.Contains(text, "machine timer ticked 5 times") || e.Code != 0 {
		t.Errorf("%q, %+v", text, e)
	}
	// A second console sees what was printed before it came.
	con2, err := dial(t, p, "console").Console(ctx, ConsoleWishes{History: true})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := readConsole(t, con2, "5 times"); !strings.Contains(text, "slept") {
		t.Errorf("%q", text)
	}
	i, err := c.Describe(ctx)
	if err != nil || i.Mode != board.ModeEnded || i.Consoles != 2 || i.Used == 0 || i.Serial != "7A3C51E80B29D4F6" {
		t.Errorf("%+v, %v", i, err)
	}
	if err := con.Reset(ResetRun); err != nil {
		t.Fatal(err)
	}
	readConsole(t, con2, "reset")
	if text, _ := readConsole(t, con2, "ended"); !strings.Contains(text, "slept") {
		t.Errorf("after reset: %q", text)
	}
	if r := flash(t, c, "timer"); r.Changed != 0 {
		t.Errorf("again: %+v", r)
	}
	_, st, err := c.Stats(ctx)
	if err != nil || len(st.Instructions) != 2 {
		t.Errorf("%+v, %v", st, err)
	}
	stop()
	if _, held := p.Holder(); held {
		t.Error("the lock is still held")
	}
	if _, err := os.Stat(p.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	// What was flashed is there after the server is gone.
	kept, err := p.Load()
	if err != nil || kept.Program == nil || !kept.hasProgram() {
		t.Fatalf("%v", err)
	}
	if _, err := flashing.Compare(ctx, kept, open(t, "timer"), nil); err != nil {
		t.Error(err)
	}
}

func TestFlashOfTheFirmwarePersists(t *testing.T) {
	p := testPlace(t, "lab")
	stop := serveHere(t, p, ServerOptions{})
	c := dial(t, p, "flash")
	flash(t, c, "flash")
	con, err := dial(t, p, "console").Console(context.Background(), ConsoleWishes{History: true})
	if err != nil {
		t.Fatal(err)
	}
	readConsole(t, con, "ended")
	before := make([]byte, 4<<20)
	if err := c.ReadFlash(context.Background(), flashBase, before); err != nil {
		t.Fatal(err)
	}
	stop()
	after, err := p.Load()
	if err != nil || !bytes.Equal(before, after.Flash) {
		t.Errorf("flash differs after a restart: %v", err)
	}
}

func TestHold(t *testing.T) {
	p := testPlace(t, "a")
	serveHere(t, p, ServerOptions{})
	ctx := context.Background()
	a, b := dial(t, p, "flash"), dial(t, p, "erase")
	if err := a.Hold(ctx, ResetBootsel); err != nil {
		t.Fatal(err)
	}
	err := b.Hold(ctx, ResetBootsel)
	if f := faults.Of(err); f == nil || f.Status != faults.StatusBusy || !strings.Contains(f.Seen, "flash (process ") {
		t.Errorf("%v", err)
	}
	if err := b.EraseFlash(ctx, flashBase, 4096); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("%v", err)
	}
	if i, err := b.Describe(ctx); err != nil || i.Holder == nil || i.Holder.Verb != "flash" {
		t.Errorf("%+v, %v", i, err)
	}
	// A holder that dies gives the board back.
	if err := a.ProgramFlash(ctx, flashBase, []byte{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	for end := time.Now().Add(limit); ; {
		if err := b.Hold(ctx, ResetBootsel); err == nil {
			break
		} else if faults.StatusOf(err) != faults.StatusBusy || time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if c, err := p.Load(); err != nil || c.Flash[3] != 4 {
		t.Errorf("%v", err)
	}
	if err := b.EraseFlash(ctx, flashBase+4<<20, 4096); faults.StatusOf(err) != faults.StatusImage {
		t.Errorf("%v", err)
	}
}

func TestLend(t *testing.T) {
	p := testPlace(t, "a")
	serveHere(t, p, ServerOptions{})
	ctx := context.Background()
	con, err := dial(t, p, "console").Console(ctx, ConsoleWishes{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Borrow(ctx, p, "test", "run")
	if err != nil {
		t.Fatal(err)
	}
	if _, e := readConsole(t, con, "used"); !strings.Contains(e.Text, "run") {
		t.Errorf("%+v", e)
	}
	other := dial(t, p, "flash")
	if err := other.Hold(ctx, ResetBootsel); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("%v", err)
	}
	if i, err := other.Describe(ctx); err != nil || i.Mode != board.ModeUsed {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := Borrow(ctx, p, "test", "run"); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("%v", err)
	}
	next := b.Contents.Clone()
	next.Flash[4096] = 0x12
	if err := b.Return(next); err != nil {
		t.Fatal(err)
	}
	readConsole(t, con, "back")
	var got [1]byte
	if err := other.ReadFlash(ctx, flashBase+4096, got[:]); err != nil || got[0] != 0x12 {
		t.Errorf("%x, %v", got, err)
	}
}

func TestGdbConnection(t *testing.T) {
	p := testPlace(t, "a")
	serveHere(t, p, ServerOptions{})
	ctx := context.Background()
	c := dial(t, p, "flash")
	flash(t, c, "blink")
	nc, err := dial(t, p, "debug").Gdb(ctx, GdbOptions{RTOS: "none"})
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.SetDeadline(time.Now().Add(limit))
	if _, err := dial(t, p, "debug").Gdb(ctx, GdbOptions{RTOS: "none"}); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("a second gdb: %v", err)
	}
	if err := c.Reset(ctx, ResetRun); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("reset under gdb: %v", err)
	}
	if _, err := io.WriteString(nc, "$?#3f"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 5)
	if _, err := io.ReadFull(nc, buf); err != nil || !strings.HasPrefix(string(buf), "+$T") {
		t.Fatalf("%q, %v", buf, err)
	}
	nc.Close()
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		i, err := c.Describe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !i.Gdb {
			if i.Mode != board.ModeHalted {
				t.Errorf("%+v", i)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("gdb never leaves")
		}
	}
	if err := c.Reset(ctx, ResetRun); err != nil {
		t.Error(err)
	}
}

func TestBlankBoardWaitsInBootsel(t *testing.T) {
	p := testPlace(t, "a")
	serveHere(t, p, ServerOptions{})
	ctx := context.Background()
	c := dial(t, p, "reset")
	con, err := dial(t, p, "console").Console(ctx, ConsoleWishes{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Reset(ctx, ResetRun); err != nil {
		t.Fatal(err)
	}
	readConsole(t, con, "bootsel")
	if i, err := c.Describe(ctx); err != nil || i.Mode != board.ModeBootsel || i.Used != 0 {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestVersions(t *testing.T) {
	p := testPlace(t, "a")
	serveHere(t, p, ServerOptions{Version: "1.0"})
	c, err := net.Dial("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := &wire{c: c}
	if err := w.sendJSON(hello{Protocol: 99, Version: "9.9"}); err != nil {
		t.Fatal(err)
	}
	var h hello
	if err := w.readJSON(&h); err != nil || h.Protocol != Protocol {
		t.Fatalf("%+v, %v", h, err)
	}
	f := faults.Of(h.Fault.fault())
	if f == nil || f.Code != faults.CodeVersion || f.Try[0] != "stem-hw sim stop a" || !strings.Contains(f.Seen, "1.0") {
		t.Errorf("%+v", f)
	}
	// A client that talks nonsense harms nobody.
	bad, err := net.Dial("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = bad.Write(binary.BigEndian.AppendUint32([]byte{'D'}, 0xffffffff))
	bad.Close()
	dial(t, p, "list")
}

func TestIdle(t *testing.T) {
	p := testPlace(t, "a")
	s, l, err := NewServer(p, ServerOptions{Idle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), l) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(limit):
		t.Error("an idle server does not end")
	}
}

func TestFolderGone(t *testing.T) {
	p := testPlace(t, "a")
	s, l, err := NewServer(p, ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), l) }()
	if err := os.RemoveAll(p.Dir); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		if _, err := os.Stat(p.file("board")); err == nil {
			t.Error("the board was written again")
		}
	case <-time.After(limit):
		t.Error("the server of a board that was deleted does not end")
	}
}

func TestOneServer(t *testing.T) {
	p := testPlace(t, "a")
	serveHere(t, p, ServerOptions{})
	_, _, err := NewServer(p, ServerOptions{})
	if f := faults.Of(err); f == nil || f.Status != faults.StatusBusy || !strings.Contains(f.Seen, "server") {
		t.Errorf("%v", err)
	}
	// Many who want the board and find none start one.
	q := testPlace(t, "b")
	var mu sync.Mutex
	starts := 0
	start := func(_ context.Context, p Place) ([]byte, error) {
		mu.Lock()
		starts++
		mu.Unlock()
		s, l, err := NewServer(p, ServerOptions{})
		if err != nil {
			return ReportOf(err), nil
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { _ = s.Serve(ctx, l); close(done) }()
		t.Cleanup(func() { cancel(); <-done })
		return nil, nil
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, _, err := Connect(context.Background(), q, "test", "list", start)
			if err != nil {
				t.Error(err)
				return
			}
			c.Close()
		}()
	}
	wg.Wait()
	if starts != 1 {
		t.Errorf("%d servers were started", starts)
	}
	if was, err := Stop(context.Background(), q, "test"); !was || err != nil {
		t.Errorf("stop: %v, %v", was, err)
	}
	if was, err := Stop(context.Background(), q, "test"); was || err != nil {
		t.Errorf("stop again: %v, %v", was, err)
	}
}
