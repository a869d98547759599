package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRing bounds what is kept of one window.
const maxRing = 1 << 20

// paneRing is what a window has printed; a sequence number counts its bytes.
type paneRing struct {
	text []byte
	// end is the sequence number of what comes next.
	end  int64
	last time.Time
}

func (r *paneRing) add(text string, now time.Time) {
	r.text = append(r.text, text...)
	if len(r.text) > maxRing {
		r.text = append([]byte(nil), r.text[len(r.text)-maxRing/2:]...)
	}
	r.end += int64(len(text))
	r.last = now
}

// since returns what was printed from a sequence number on, where that really
// begins, and whether a part is gone.
func (r *paneRing) since(after int64) (text string, from int64, lost bool) {
	begin := r.end - int64(len(r.text))
	from = max(begin, min(after, r.end))
	return string(r.text[from-begin:]), from, after < begin
}

// PaneWatch is a client of a session's tmux that is told of everything its
// windows print, so that nothing a program prints is lost between two calls. It
// types nothing.
type PaneWatch struct {
	inside Inside
	socket string

	mu      sync.Mutex
	rings   map[string]*paneRing
	started bool
	ready   chan struct{}
	ended   bool
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// NewPaneWatch returns a watch that begins with its first use.
func NewPaneWatch(inside Inside, socket string) *PaneWatch {
	ctx, cancel := context.WithCancel(context.Background())
	return &PaneWatch{inside: inside, socket: socket, rings: map[string]*paneRing{}, ready: make(chan struct{}), ctx: ctx, cancel: cancel}
}

// Close ends it.
func (w *PaneWatch) Close() {
	w.cancel()
	w.wg.Wait()
}

// begin starts the client, and waits until it is attached.
func (w *PaneWatch) begin(ctx context.Context) error {
	w.mu.Lock()
	if w.ended {
		w.started, w.ended, w.ready = false, false, make(chan struct{})
	}
	if !w.started {
		w.started = true
		w.wg.Add(1)
		go w.run(w.ready)
	}
	ready := w.ready
	w.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.ctx.Done():
		return errors.New("the session ended")
	}
}

func (w *PaneWatch) run(ready chan struct{}) {
	defer w.wg.Done()
	defer func() {
		w.mu.Lock()
		w.ended = true
		w.mu.Unlock()
	}()
	// tmux ends with its input. A file, since a process is not over before whoever
	// copies its input is.
	in, hold, err := os.Pipe()
	if err != nil {
		close(ready)
		return
	}
	stop := context.AfterFunc(w.ctx, func() { _ = hold.Close() })
	defer stop()
	out, sink := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.read(out, ready)
	}()
	_ = w.inside.Join(w.ctx, []string{"tmux", "-S", w.socket, "-C", "attach-session", "-f", "read-only,ignore-size", "-t", "stem"}, in, sink)
	_ = hold.Close()
	_ = in.Close()
	_ = sink.Close()
	<-done
}

// read takes tmux's notifications. The first block says that it is attached.
func (w *PaneWatch) read(r io.Reader, ready chan struct{}) {
	var once sync.Once
	attached := func() { once.Do(func() { close(ready) }) }
	defer attached()
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readMessageLine(in, 1<<20)
		if errors.Is(err, errTooLong) {
			continue
		}
		if err != nil {
			return
		}
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case strings.HasPrefix(text, "%session-changed"), strings.HasPrefix(text, "%end"), strings.HasPrefix(text, "%error"):
			attached()
		case strings.HasPrefix(text, "%output "):
			pane, data, _ := strings.Cut(text[len("%output "):], " ")
			w.mu.Lock()
			ring := w.rings[pane]
			if ring == nil && len(w.rings) < 64 {
				ring = &paneRing{}
				w.rings[pane] = ring
			}
			if ring != nil {
				ring.add(unescape(data), time.Now())
			}
			w.mu.Unlock()
		}
	}
}

// unescape undoes tmux's \ooo.
func unescape(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// look returns what a window printed since a sequence number, and the number of
// what comes next; -1 is now.
func (w *PaneWatch) look(pane string, after int64) (text string, from, next int64, lost bool, last time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.rings[pane]
	if r == nil {
		return "", 0, 0, after > 0, time.Time{}
	}
	if after < 0 {
		return "", r.end, r.end, false, r.last
	}
	text, from, lost = r.since(after)
	return text, from, r.end, lost || after > r.end, r.last
}
