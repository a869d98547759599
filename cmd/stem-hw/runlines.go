package main

import (
	"bytes"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// lineLimit is how much of a line is held back before it is handed on without
// its end, and linePatience for how long: a prompt has no line end.
const (
	lineLimit    = 4096
	linePatience = 100 * time.Millisecond
)

// lineBuffer makes whole lines of output that comes in pieces. emit is called
// with one piece at a time, from any goroutine.
type lineBuffer struct {
	emit func(stream string, p []byte)

	mu    sync.Mutex
	held  map[string][]byte
	timer *time.Timer
}

func newLineBuffer(emit func(stream string, p []byte)) *lineBuffer {
	return &lineBuffer{emit: emit, held: map[string][]byte{}}
}

// put takes a piece.
func (b *lineBuffer) put(stream string, p []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	buf := append(b.held[stream], p...)
	cut := bytes.LastIndexByte(buf, '\n') + 1
	if cut == 0 && len(buf) >= lineLimit {
		cut = whole(buf)
	}
	b.release(stream, buf, cut)
	if len(b.held[stream]) > 0 && b.timer == nil {
		b.timer = time.AfterFunc(linePatience, func() { b.flush(false) })
	}
}

// release hands on the first cut bytes of buf and holds the rest; b.mu is held.
func (b *lineBuffer) release(stream string, buf []byte, cut int) {
	if cut > 0 {
		b.emit(stream, buf[:cut])
	}
	if cut == len(buf) {
		delete(b.held, stream)
		return
	}
	b.held[stream] = slices.Clone(buf[cut:])
}

// flush hands on what is held, up to the last whole character, or all of it at
// the end.
func (b *lineBuffer) flush(end bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	streams := make([]string, 0, len(b.held))
	for s := range b.held {
		streams = append(streams, s)
	}
	slices.Sort(streams)
	for _, s := range streams {
		buf := b.held[s]
		cut := whole(buf)
		if end {
			cut = len(buf)
		}
		b.release(s, buf, cut)
	}
}

// whole is the length of p without an incomplete character at its end.
func whole(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return len(p) - n
			}
			break
		}
	}
	return len(p)
}
