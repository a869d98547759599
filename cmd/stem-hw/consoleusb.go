package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/console"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/symbols"
)

// consoleUSB is the console of a board on the USB: its serial port.
func (a *app) consoleUSB(ctx context.Context, c *chosen, f *consoleFlags) error {
	if f.untilEnd {
		u := faults.Usage("--until-end is for simulated boards: the end of a program on a real one cannot be seen")
		u.Wanted = "--expect-text, which says what it prints at the end"
		return u
	}
	if err := f.settings.Check(); err != nil {
		return err
	}
	r, err := a.newConsoleRun(c, f)
	if err != nil {
		return err
	}
	defer r.view.close()
	return r.serial(ctx)
}

// newConsoleRun prepares a console at a serial port.
func (a *app) newConsoleRun(c *chosen, f *consoleFlags) (*consoleRun, error) {
	r := &consoleRun{a: a, f: f, c: *c, texts: sim.NewTexts(f.expect, f.fail), keys: make(chan keyPress)}
	r.enter, r.show = console.ForSending(console.Ending(f.enter)), console.ForShowing(console.Ending(f.newline))
	if f.elf != "" {
		t, err := symbolsOf(f.elf)
		if err != nil {
			return nil, err
		}
		r.notes = console.NewNotes(t)
	}
	var err error
	r.view, err = a.newConsoleView(c.Selector(), f)
	return r, err
}

// symbolsOf reads the symbols of an ELF file.
func symbolsOf(path string) (*symbols.Table, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	if len(im.ELF) == 0 {
		return nil, &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage, Summary: path + " has no symbols",
			Seen: "a file of format " + string(im.Format), Wanted: "an ELF file",
		}
	}
	t, err := symbols.Load(im.ELF)
	if err != nil {
		return nil, &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage, Summary: path + ": its symbols cannot be read", Err: err}
	}
	return t, nil
}

// serial shows the port until the end, and says what that means.
func (r *consoleRun) serial(ctx context.Context) error {
	restore, err := r.a.ui.ConsoleInput()
	if err != nil {
		return err
	}
	defer restore()
	err = r.until(ctx, func(ctx context.Context) error {
		if r.a.streams.InTTY {
			r.a.ui.Say("[console of %s; ctrl-t ? for help, ctrl-t q to quit]", r.c.Selector())
		}
		return r.portLoop(ctx)
	})
	restore()
	return err
}

// until runs a console with its time limit and its input.
func (r *consoleRun) until(ctx context.Context, loop func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.stop = cancel
	if r.f.timeout > 0 {
		timer := time.AfterFunc(r.f.timeout, func() { cancel(errTimeUp) })
		defer timer.Stop()
	}
	go r.readInput(ctx)
	err := loop(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.view.close()
	return r.verdict(ctx, err)
}

// portLoop takes part in a console that somebody shares, or has the port and
// shares it.
func (r *consoleRun) portLoop(ctx context.Context) error {
	path := r.f.share
	if path == "" {
		var err error
		if path, err = r.a.sharePath(r.c.Identity); err != nil {
			return err
		}
		for {
			c, ok := console.Join(ctx, path)
			if !ok {
				break
			}
			r.a.ui.Say("[another console of %s is open; taking part in it]", r.c.Selector())
			if err := r.joined(ctx, c); !errors.Is(err, io.EOF) || r.f.noReconnect {
				return err
			}
			r.a.ui.Say("[the other console ended]")
		}
	}
	find := r.a.portFinder(&r.c, r.f.port)
	if at, err := find(ctx); err == nil && at.Node == "" {
		if r.f.noReconnect {
			return &faults.Fault{
				Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
				Summary: "the board " + r.c.Selector() + " shows no serial port now", Wanted: "a program with one, or no --no-reconnect",
				Try: []string{"stem-hw list"},
			}
		}
		r.a.ui.Say("[waiting for the serial port of %s]", r.c.Selector())
	}
	line := console.New(ctx, console.Options{Find: find, Settings: r.f.settings, Once: r.f.noReconnect})
	defer line.Close()
	hub, err := console.Share(path, func(p []byte) { _, _ = line.Write(p) })
	switch {
	case err == nil:
		defer hub.Close()
		r.a.ui.Verbose(1, "shared at %s", hub.Path())
	case r.f.share != "":
		return err
	default:
		r.a.ui.Warn("the console is not shared: %v", err)
	}
	return r.onPort(ctx, line, hub)
}

// sharePath is where the console of a board is shared with other processes of
// this account.
func (a *app) sharePath(id board.Identity) (string, error) {
	dir, err := a.runtimeFolder()
	if err != nil {
		return "", err
	}
	// Serial numbers come from outside: never the name of a file.
	key := id.Serial
	if !board.Telling(id.Serial) {
		key += " at " + id.Port
	}
	sum := sha256.Sum256([]byte(string(id.Role) + " " + key))
	return filepath.Join(dir, "console-"+hex.EncodeToString(sum[:8])+".sock"), nil
}

// portFinder finds the serial port of a board, wherever it is plugged in and
// whatever the port is called.
func (a *app) portFinder(c *chosen, number int) func(context.Context) (console.Place, error) {
	pin := board.Pin{Identity: c.Identity}
	if c.pin != nil {
		pin = c.pin.Pin()
	}
	return func(ctx context.Context) (console.Place, error) {
		found, err := a.usbBoards(ctx)
		if err != nil {
			return console.Place{}, err
		}
		all := make([]board.Board, len(found))
		for i, p := range found {
			all[i] = p.Board
		}
		b, err := board.Pinned(pin, all, board.Ask{Command: "stem-hw console -b %s"})
		if err != nil {
			return console.Place{}, nil // it is away, or another board is in its place
		}
		for _, p := range found {
			if p.Node != b.Node {
				continue
			}
			at := console.Place{Key: fmt.Sprintf("%d/%d", p.device.Bus, p.device.Num)}
			if h := p.device.Holder; h != nil && h.PID != os.Getpid() {
				at.Holder = h.String()
			}
			if n := number - 1; n >= 0 && n < len(p.device.TTYs) {
				at.Node = p.device.TTYs[n].Node
			}
			return at, nil
		}
		return console.Place{}, nil
	}
}

// portLink is a serial port that is typed to.
type portLink struct {
	r    *consoleRun
	ctx  context.Context
	line *console.Line
}

// Write sends, and waits for a board that is away.
func (l portLink) Write(p []byte) (int, error) {
	for {
		n, err := l.line.Write(p)
		if err == nil {
			return n, nil
		}
		t := time.NewTimer(50 * time.Millisecond)
		select {
		case <-t.C:
		case <-l.ctx.Done():
			t.Stop()
			return 0, l.ctx.Err()
		}
	}
}

// Reset restarts the board. Its port is closed before it leaves the bus.
func (l portLink) Reset(simboard.ResetTo) error {
	l.line.Pause()
	defer l.line.Resume()
	if err := l.r.a.restartUSB(l.ctx, &l.r.c); err != nil {
		l.r.a.ui.Warn("%v", err)
	}
	return nil
}

// Break implements consoleLink.
func (l portLink) Break() error {
	if err := l.line.Break(); err != nil {
		l.r.a.ui.Warn("no break: %v", err)
	}
	return nil
}

// Close ends it.
func (l portLink) Close() error { return l.line.Close() }

// restartUSB restarts a board for its console.
func (a *app) restartUSB(ctx context.Context, c *chosen) error {
	bus, err := a.bus()
	if err != nil {
		return err
	}
	if err := a.findAgain(ctx, c); err != nil {
		return err
	}
	_, err = bootsel.Restart(ctx, bus, c.device, false, a.bootselOptions(c, access{verb: "reset"}))
	return err
}

// onPort shows what a line brings until its end.
func (r *consoleRun) onPort(ctx context.Context, line *console.Line, hub *console.Hub) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	link := portLink{r, ctx, line}
	if r.f.reset {
		if err := link.Reset(simboard.ResetRun); err != nil {
			return err
		}
	}
	unhook := context.AfterFunc(ctx, func() { _ = line.Close() })
	defer unhook()
	keys := make(chan error, 1)
	go func() { keys <- r.sendKeys(ctx, link) }()
	for {
		p, e, err := line.Next()
		switch {
		case err != nil:
			cancel()
			if kerr := <-keys; errors.Is(kerr, errQuit) {
				return kerr
			}
			if errors.Is(err, io.EOF) && r.f.noReconnect {
				err = &faults.Fault{
					Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the board " + r.c.Selector() + " went away",
					Try: []string{"stem-hw list"},
				}
			}
			return err
		case e != nil:
			if err := r.view.event(portEvent(r.c.Selector(), e)); err != nil {
				return err
			}
		default:
			if hub != nil {
				hub.Put(p)
			}
			if err := r.printed(p); err != nil {
				return err
			}
		}
	}
}

// printed shows what came, and the places of addresses in it.
func (r *consoleRun) printed(p []byte) error {
	if r.show != nil {
		p = r.show.Apply(p)
	}
	err := r.output("serial", p)
	if r.notes != nil {
		for _, n := range r.notes.Put(p) {
			r.a.ui.Say("[%s]", n)
		}
	}
	return err
}

// portEvent puts what happened to a line into words.
func portEvent(name string, e *console.Event) simboard.Event {
	text := ""
	switch e.Kind {
	case console.Attached:
		text = "attached to " + e.Text
	case console.Back:
		text = fmt.Sprintf("%s is back at %s, after a gap of %.1f s", name, e.Text, e.Gap.Seconds())
	case console.Gone:
		text = name + " went away; waiting for it"
	case console.Yielded:
		text = name + " is in use: " + e.Text + "; waiting"
	}
	return simboard.Event{Event: e.Kind, Text: text}
}

// connLink is a shared console that is typed to.
type connLink struct {
	a *app
	net.Conn
}

func (l connLink) Break() error {
	l.a.ui.Say("[a break is for the console that has the port]")
	return nil
}

func (l connLink) Reset(simboard.ResetTo) error {
	l.a.ui.Say("[a reset is for the console that has the port; or: stem-hw reset]")
	return nil
}

// joined shows a console that another process shares.
func (r *consoleRun) joined(ctx context.Context, c net.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer unhook()
	keys := make(chan error, 1)
	go func() { keys <- r.sendKeys(ctx, connLink{r.a, c}) }()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			if err := r.printed(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			cancel()
			if kerr := <-keys; errors.Is(kerr, errQuit) {
				return kerr
			}
			return io.EOF
		}
	}
}
