package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/stem-hw/stem-hw/faults"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/ui"
)

// consoleOutput is a piece of what the program printed.
type consoleOutput struct {
	runEvent
	Time    time.Time `json:"time"`
	Stream  string    `json:"stream"`
	Printed string    `json:"text"`
	Base64  string    `json:"base64,omitempty"`
}

// Kind is "console-output".
func (consoleOutput) Kind() string { return "console-output" }

// consoleEvent is something that happened to the board.
type consoleEvent struct {
	runEvent
	Time   time.Time `json:"time"`
	Board  string    `json:"board"`
	Event  string    `json:"event"`
	Remark string    `json:"text,omitempty"`
	Code   int       `json:"exit_status,omitempty"`
}

// Kind is "console-event".
func (consoleEvent) Kind() string { return "console-event" }

// consoleView shows a console. Its looks may change while it runs.
type consoleView struct {
	a     *app
	board string
	now   func() time.Time

	mu        sync.Mutex
	text      io.Writer
	filter    *ui.Filter
	lines     *lineBuffer
	stamps    bool
	hex       bool
	log       *os.File
	logName   string
	lineStart bool
	broken    error
}

func (a *app) newConsoleView(board string, f *consoleFlags) (*consoleView, error) {
	v := &consoleView{a: a, board: board, now: time.Now, stamps: f.timestamps, hex: f.hex, logName: f.log, lineStart: true}
	v.text = a.ui.Data()
	if !f.raw {
		v.filter = ui.NewFilter(a.ui.Data())
		v.text = v.filter
	}
	if a.ui.JSON() {
		v.lines = newLineBuffer(v.outputEvent)
	}
	if f.log != "" {
		if err := v.openLog(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *consoleView) openLog() error {
	if v.logName == "" {
		v.logName = "console-" + v.now().Format("20060102-150405") + ".log"
	}
	f, err := os.OpenFile(v.logName, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the log of the console cannot be opened",
			Err: err, Try: []string{"name another file with --log"},
		}
	}
	v.log = f
	return nil
}

// output shows what was printed.
func (v *consoleView) output(stream string, p []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.log != nil {
		if _, err := v.log.Write(p); err != nil {
			v.a.ui.Warn("the log ends: %v", err)
			_ = v.log.Close()
			v.log = nil
		}
	}
	switch {
	case v.lines != nil:
		v.lines.put(stream, p)
	case v.hex:
		v.fail(v.dump(p))
	case v.stamps:
		v.fail(v.stamped(p))
	default:
		_, err := v.text.Write(p)
		v.fail(err)
	}
	return v.broken
}

func (v *consoleView) fail(err error) {
	if err != nil && v.broken == nil {
		v.broken = &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusInternal, Summary: "standard output cannot be written", Err: err,
		}
	}
}

// stamped writes p with the time at the beginning of each line.
func (v *consoleView) stamped(p []byte) error {
	for len(p) > 0 {
		if v.lineStart {
			if _, err := io.WriteString(v.text, v.now().Format("15:04:05.000 ")); err != nil {
				return err
			}
		}
		n := strings.IndexByte(string(p), '\n') + 1
		v.lineStart = n > 0
		if n == 0 {
			n = len(p)
		}
		if _, err := v.text.Write(p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// dump writes p as hexadecimal numbers and characters.
func (v *consoleView) dump(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), 16)
		var b strings.Builder
		if v.stamps {
			b.WriteString(v.now().Format("15:04:05.000 "))
		}
		chars := make([]byte, n)
		for i, c := range p[:n] {
			chars[i] = '.'
			if c >= ' ' && c < 0x7f {
				chars[i] = c
			}
		}
		fmt.Fprintf(&b, "%-48s %s\n", fmt.Sprintf("% x", p[:n]), chars)
		if _, err := io.WriteString(v.text, b.String()); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// outputEvent writes a line of JSON.
func (v *consoleView) outputEvent(stream string, p []byte) {
	o := consoleOutput{Time: v.now().UTC(), Stream: stream, Printed: string(p)}
	if !utf8.Valid(p) {
		o.Printed = strings.ToValidUTF8(o.Printed, "\ufffd")
		o.Base64 = base64.StdEncoding.EncodeToString(p)
	}
	if err := v.a.ui.Event(o); err != nil {
		v.broken = err
	}
}

// event tells what happened.
func (v *consoleView) event(e simboard.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.lines != nil {
		v.lines.flush(false)
		v.fail(v.a.ui.Event(consoleEvent{Time: v.now().UTC(), Board: v.board, Event: e.Event, Remark: e.Text, Code: e.Code}))
		return v.broken
	}
	text := ""
	switch e.Event {
	case "ended":
		text = "the program ended: " + e.Text
	case "crashed":
		text = "the program crashed: " + e.Text
	case "reset":
		text = "reset"
	case "restarted":
		text = e.Text
	case "bootsel":
		text = strings.TrimSuffix("the board waits in BOOTSEL mode: "+e.Text, ": ")
	case "halted":
		text = strings.TrimSuffix("halted: "+e.Text, ": ")
	case "running":
		return nil
	default:
		text = e.Text
	}
	v.a.ui.Say("[%s]", text)
	return nil
}

// toggle changes a look and says so.
func (v *consoleView) toggle(key byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	on := func(what string, is bool) {
		word := "off"
		if is {
			word = "on"
		}
		v.a.ui.Say("[%s %s]", what, word)
	}
	switch key {
	case 't':
		v.stamps = !v.stamps
		on("timestamps", v.stamps)
	case 'o':
		v.hex = !v.hex
		on("hexadecimal", v.hex)
	case 'f':
		if v.log != nil {
			_ = v.log.Close()
			v.log = nil
			on("log to "+v.logName, false)
			return
		}
		if err := v.openLog(); err != nil {
			v.a.ui.Warn("%v", err)
			return
		}
		on("log to "+v.logName, true)
	}
}

// close shows what was held back.
func (v *consoleView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.lines != nil {
		v.lines.flush(true)
	}
	if v.filter != nil {
		v.fail(v.filter.Close())
	}
	if v.log != nil {
		_ = v.log.Close()
		v.log = nil
	}
}
