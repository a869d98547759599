package main

import (
	"context"
	"errors"
	"io"

	simboard "github.com/stem-hw/stem-hw/sim/board"
)

// prefixKey is ctrl-t.
const prefixKey = 'T' & 0x1f

// keyPress is input for the board, or a command of the person.
type keyPress struct {
	data []byte
	// Commands.
	quit, reset, brk bool
	toggle           byte
}

// readInput reads standard input until it ends.
func (r *consoleRun) readInput(ctx context.Context) {
	in := r.a.streams.In
	if in == nil {
		return
	}
	keys := &keyReader{prefix: r.a.streams.InTTY, say: r.a.ui.Say}
	buf := make([]byte, 1024)
	for {
		n, err := in.Read(buf)
		for _, k := range keys.read(buf[:n]) {
			select {
			case r.keys <- k:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// keyReader finds the commands among what is typed.
type keyReader struct {
	prefix bool // there are commands
	armed  bool // the prefix key came
	say    func(format string, args ...any)
}

// read splits what was typed.
func (k *keyReader) read(p []byte) (out []keyPress) {
	var data []byte
	flush := func() {
		if len(data) > 0 {
			out = append(out, keyPress{data: data})
			data = nil
		}
	}
	for _, b := range p {
		switch {
		case !k.prefix:
			data = append(data, b)
			continue
		case !k.armed && b == prefixKey:
			k.armed = true
			continue
		case !k.armed:
			data = append(data, b)
			continue
		}
		k.armed = false
		flush()
		switch b {
		case prefixKey:
			data = append(data, b)
		case 'q':
			out = append(out, keyPress{quit: true})
		case 'r':
			out = append(out, keyPress{reset: true})
		case 't', 'o', 'f':
			out = append(out, keyPress{toggle: b})
		case 'b':
			out = append(out, keyPress{brk: true})
		case '?', 'h':
			k.say("[ctrl-t: q quit, t timestamps, o hexadecimal, f log to a file, r reset, b break, ctrl-t itself, ? this]")
		default:
			k.say("[ctrl-t %q means nothing; ctrl-t ? for help]", rune(b))
		}
	}
	flush()
	return out
}

// sendKeys carries out what is typed until ctx ends.
func (r *consoleRun) sendKeys(ctx context.Context, con consoleLink) error {
	for {
		var k keyPress
		select {
		case k = <-r.keys:
		case <-ctx.Done():
			return ctx.Err()
		}
		var err error
		switch {
		case k.quit:
			// Closing ends the reading side.
			_ = con.Close()
			return errQuit
		case k.reset:
			err = con.Reset(simboard.ResetRun)
		case k.brk:
			err = con.Break()
		case k.toggle != 0:
			r.view.toggle(k.toggle)
		default:
			if r.enter != nil {
				k.data = r.enter.Apply(k.data)
			}
			_, err = con.Write(k.data)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			_ = con.Close()
			return err
		}
	}
}
