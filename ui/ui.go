package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

// Options say how to talk.
type Options struct {
	// JSON renders results and faults as JSON.
	JSON bool
	// Color allows colours where a stream is a terminal.
	Color bool
	// Quiet silences everything but warnings, errors and data.
	Quiet bool
	// Verbose is how often -v was given.
	Verbose int
	// NonInteractive forbids questions.
	NonInteractive bool
	// LogFile, if not empty, is appended to: everything that is said at any
	// level, with the time.
	LogFile string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// UI renders. Its methods may be called from any goroutine.
type UI struct {
	opt Options
	s   Streams

	mu       sync.Mutex
	log      io.WriteCloser
	openLine bool      // the last data did not end with a line feed
	bar      *Progress // the bar on the last line of the terminal, if any
}

// New returns a UI on the given streams. It fails only if the log file cannot
// be opened.
func New(s Streams, opt Options) (*UI, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	u := &UI{opt: opt, s: s}
	if opt.LogFile != "" {
		f, err := os.OpenFile(opt.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			u.opt.LogFile = ""
			return u, &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusUsage,
				Summary: "the log file cannot be opened", Seen: err.Error(),
				Wanted: "a file that may be written", Try: []string{"name another file with --log-file"},
			}
		}
		u.log = f
	}
	return u, nil
}

// Close ends a progress bar and closes the log file.
func (u *UI) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clearBar()
	u.bar = nil
	if u.log == nil {
		return nil
	}
	err := u.log.Close()
	u.log = nil
	return err
}

// JSON reports whether results are rendered as JSON.
func (u *UI) JSON() bool { return u.opt.JSON }

// Verbosity is how often -v was given.
func (u *UI) Verbosity() int { return u.opt.Verbose }

// Interactive reports whether a person can be asked: standard input and
// standard error are terminals, and --non-interactive was not given.
func (u *UI) Interactive() bool {
	return u.s.InTTY && u.s.ErrTTY && !u.opt.NonInteractive
}

// Terminal reports whether standard output is a terminal.
func (u *UI) Terminal() bool { return u.s.OutTTY }

// ErrTerminal reports whether standard error is a terminal.
func (u *UI) ErrTerminal() bool { return u.s.ErrTTY }

// Streams returns the streams it was made with. Standard input may be read
// from there; nothing but this package writes.
func (u *UI) Streams() Streams { return u.s }

// Say tells the person something on standard error, unless -q was given.
func (u *UI) Say(format string, args ...any) {
	u.talk(!u.opt.Quiet, "", "", fmt.Sprintf(format, args...))
}

// Note tells something worth knowing, unless -q was given.
func (u *UI) Note(format string, args ...any) {
	u.talk(!u.opt.Quiet, "note: ", cyan, fmt.Sprintf(format, args...))
}

// Warn tells something that may be wrong, even with -q.
func (u *UI) Warn(format string, args ...any) {
	u.talk(true, "warning: ", yellow, fmt.Sprintf(format, args...))
}

// Verbose tells a detail if -v was given at least level times; the log file
// hears it in any case.
func (u *UI) Verbose(level int, format string, args ...any) {
	u.talk(!u.opt.Quiet && u.opt.Verbose >= level, "", "", fmt.Sprintf(format, args...))
}

// talk writes lines to standard error (if show) and to the log.
func (u *UI) talk(show bool, prefix, color, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	text = EscapeLines(strings.TrimSuffix(text, "\n"))
	u.logLines(prefix + text)
	if !show {
		return
	}
	u.clearBar()
	u.freshLine()
	if prefix != "" {
		prefix = u.paintErr(color, prefix)
	}
	u.toErr(prefix + text + "\n")
	u.drawBar()
}

// toErr writes to standard error; u.mu is held. When that fails there is nobody
// left to be told.
func (u *UI) toErr(text string) { _, _ = io.WriteString(u.s.Err, text) }

// logLines appends to the log file; u.mu is held.
func (u *UI) logLines(text string) {
	if u.log == nil {
		return
	}
	now := u.opt.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	for _, l := range strings.Split(text, "\n") {
		fmt.Fprintf(u.log, "%s %s\n", now, l)
	}
}

// Data is standard output as it is, for bytes the user asked for (a file's
// contents, a firmware's output). Writes keep clear of a progress bar.
func (u *UI) Data() io.Writer { return dataWriter{u} }

type dataWriter struct{ u *UI }

func (d dataWriter) Write(p []byte) (int, error) {
	d.u.mu.Lock()
	defer d.u.mu.Unlock()
	return d.u.writeOut(p)
}

// writeOut writes to standard output; u.mu is held.
func (u *UI) writeOut(p []byte) (int, error) {
	if u.s.OutTTY {
		u.clearBar()
	}
	if len(p) > 0 {
		u.openLine = p[len(p)-1] != '\n'
	}
	return u.s.Out.Write(p)
}

// freshLine keeps talk off the end of a line of data where both are on one
// terminal; u.mu is held.
func (u *UI) freshLine() {
	if u.openLine && u.s.OutTTY && u.s.ErrTTY {
		u.toErr("\n")
		u.openLine = false
	}
}
