package gdbserver

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// wireLog writes one line for each packet: "> data" from gdb, "< data" to it,
// with a time since the start. Unprintable bytes are escaped. A log can be
// replayed: see replay_test.go.
type wireLog struct {
	mu    sync.Mutex
	w     io.Writer
	start time.Time
	now   func() time.Time
}

func newWireLog(w io.Writer, now func() time.Time) *wireLog {
	if w == nil {
		return nil
	}
	return &wireLog{w: w, now: now, start: now()}
}

func (l *wireLog) line(dir string, data []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	q := strconv.QuoteToASCII(string(data))
	// The log is an aid: a full disk must not end a debug session.
	_, _ = fmt.Fprintf(l.w, "%9.3f %s %s\n", l.now().Sub(l.start).Seconds(), dir, q[1:len(q)-1])
}
