package console

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

// Place is where a board's port is now.
type Place struct {
	// Node is the port's device node, "" while there is none.
	Node string
	// Key is another one each time the board is plugged in, so that a port that
	// went and came between two looks is known for another one.
	Key string
	// Holder is who has the board to flash it or the like, "" if nobody has: the
	// port is left alone meanwhile.
	Holder string
}

// Kinds of Event.
const (
	Attached = "attached" // for the first time
	Back     = "back"     // after a gap
	Gone     = "gone"     // the port vanished
	Yielded  = "yielded"  // somebody else has the board
)

// Event is something that happened to the line.
type Event struct {
	Kind string
	// Text is the port, or who has the board.
	Text string
	// Gap is how long there was nothing, with Back.
	Gap time.Duration
}

// Options are what a Line needs.
type Options struct {
	// Find says where the board's port is. An error ends the line.
	Find func(ctx context.Context) (Place, error)
	// Open opens it; nil is Open of this package.
	Open     func(node string, s Settings) (Port, error)
	Settings Settings
	// Every is how often is looked; 0 is 100 ms.
	Every time.Duration
	// Once ends the line when the port is gone, with io.EOF.
	Once bool
}

// settleTime is how long a port that just appeared may refuse to be opened: udev
// sets its owner a moment later.
const settleTime = 3 * time.Second

// piece is what Next hands on.
type piece struct {
	data  []byte
	event *Event
	err   error
}

// Line is the console of one board.
type Line struct {
	o    Options
	out  chan piece
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	port   Port
	paused bool
	back   chan struct{} // closed when paused ends
}

// New begins to look for the board.
func New(ctx context.Context, o Options) *Line {
	if o.Open == nil {
		o.Open = Open
	}
	if o.Every == 0 {
		o.Every = 100 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(ctx)
	l := &Line{o: o, out: make(chan piece), stop: cancel, done: make(chan struct{})}
	go l.run(ctx)
	return l
}

// Next returns what came, or what happened. After an error the line is at its end.
func (l *Line) Next() ([]byte, *Event, error) {
	p, ok := <-l.out
	if !ok {
		return nil, nil, io.EOF
	}
	return p.data, p.event, p.err
}

// ErrNoPort is returned for what is sent while there is no port.
var ErrNoPort = errors.New("the board is not there")

// Write sends to the board.
func (l *Line) Write(p []byte) (int, error) {
	port := l.current()
	if port == nil {
		return 0, ErrNoPort
	}
	return port.Write(p)
}

// breakTime is how long a break lasts.
const breakTime = 250 * time.Millisecond

// Break sends a break.
func (l *Line) Break() error {
	port := l.current()
	if port == nil {
		return ErrNoPort
	}
	return port.Break(breakTime)
}

func (l *Line) current() Port {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.port
}

// Pause closes the port before the board leaves the bus, and keeps it closed until
// Resume.
func (l *Line) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return
	}
	l.paused, l.back = true, make(chan struct{})
	if l.port != nil {
		_ = l.port.Close()
		l.port = nil
	}
}

// Resume looks for the port again.
func (l *Line) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		l.paused = false
		close(l.back)
	}
}

// Close ends the line.
func (l *Line) Close() error {
	l.stop()
	l.mu.Lock()
	if l.port != nil {
		_ = l.port.Close()
		l.port = nil
	}
	l.mu.Unlock()
	// What waits to be handed on is not wanted any more.
	for {
		select {
		case <-l.out:
		case <-l.done:
			return nil
		}
	}
}

// say hands something on; false says that nobody wants it.
func (l *Line) say(ctx context.Context, p piece) bool {
	select {
	case l.out <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

// run finds the port, again and again.
func (l *Line) run(ctx context.Context) {
	defer close(l.done)
	defer close(l.out)
	first := true
	var since, refused time.Time
	yielded := ""
	for ctx.Err() == nil {
		place, err := l.o.Find(ctx)
		if err != nil {
			l.say(ctx, piece{err: err})
			return
		}
		if place.Holder != yielded {
			if yielded = place.Holder; yielded != "" && !l.say(ctx, piece{event: &Event{Kind: Yielded, Text: yielded}}) {
				return
			}
		}
		if place.Node == "" || place.Holder != "" || !l.wait(ctx) {
			l.rest(ctx)
			continue
		}
		port, err := l.o.Open(place.Node, l.o.Settings)
		if err != nil {
			if refused.IsZero() {
				refused = time.Now()
			}
			// A port that was there all the time may be refused for good.
			if f := faults.Of(err); f != nil && time.Since(refused) > settleTime {
				l.say(ctx, piece{err: err})
				return
			}
			l.rest(ctx)
			continue
		}
		refused = time.Time{}
		if !l.take(port) {
			continue
		}
		e := &Event{Kind: Attached, Text: place.Node}
		if !first {
			e.Kind, e.Gap = Back, time.Since(since)
		}
		first = false
		if !l.say(ctx, piece{event: e}) {
			l.drop(port)
			return
		}
		holder := l.attached(ctx, port, place)
		since = time.Now()
		l.drop(port)
		if holder != "" {
			continue // said above
		}
		if ctx.Err() == nil && !l.say(ctx, piece{event: &Event{Kind: Gone, Text: place.Node}}) {
			return
		}
		if l.o.Once && !l.isPaused() {
			return
		}
	}
}

func (l *Line) isPaused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paused
}

// wait waits while the line is paused.
func (l *Line) wait(ctx context.Context) bool {
	l.mu.Lock()
	back, paused := l.back, l.paused
	l.mu.Unlock()
	if !paused {
		return true
	}
	select {
	case <-back:
	case <-ctx.Done():
	}
	return false // look again
}

func (l *Line) rest(ctx context.Context) {
	t := time.NewTimer(l.o.Every)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// take makes a port the line's, unless the line was paused meanwhile.
func (l *Line) take(p Port) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		_ = p.Close()
		return false
	}
	l.port = p
	return true
}

func (l *Line) drop(p Port) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.port == p {
		l.port = nil
	}
	_ = p.Close()
}

// attached hands on what comes until the port is gone, another one, or somebody
// takes the board.
func (l *Line) attached(ctx context.Context, p Port, at Place) (holder string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read := make(chan piece)
	go func() {
		defer close(read)
		for {
			buf := make([]byte, 4096)
			n, err := p.Read(buf)
			if n == 0 && err == nil {
				err = io.EOF // the library's way to say that it was hung up
			}
			if n > 0 {
				select {
				case read <- piece{data: buf[:n]}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	look := time.NewTicker(l.o.Every)
	defer look.Stop()
	for {
		select {
		case q, ok := <-read:
			if !ok || !l.say(ctx, q) {
				return ""
			}
		case <-look.C:
			now, err := l.o.Find(ctx)
			if err != nil || now.Node != at.Node || now.Key != at.Key {
				l.drain(ctx, read)
				return ""
			}
			if now.Holder != "" {
				return now.Holder
			}
		case <-ctx.Done():
			return ""
		}
	}
}

// drain hands on what was read before the port went.
func (l *Line) drain(ctx context.Context, read <-chan piece) {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case q, ok := <-read:
			if !ok || !l.say(ctx, q) {
				return
			}
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
