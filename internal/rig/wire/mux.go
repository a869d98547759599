package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Kinds of frames.
const (
	kindOpen  = 'O'
	kindData  = 'D'
	kindClose = 'C'

	headerSize = 9
	// maxFrame bounds a frame, maxQueue what a stream may have unread.
	maxFrame = 256 << 10
	maxQueue = 256 << 20
)

// Hello opens every stream: it has one of its members.
type Hello struct {
	Exec    *Exec    `json:"exec,omitempty"`
	Attach  *Attach  `json:"attach,omitempty"`
	Control *Control `json:"control,omitempty"`
}

// Goodbye closes a stream.
type Goodbye struct {
	// Code is the exit status of a program, -1 if it did not end by itself.
	Code int `json:"code,omitempty"`
	// Error says what went wrong.
	Error string `json:"error,omitempty"`
}

// Mux carries streams over one connection.
type Mux struct {
	conn   io.ReadWriter
	accept func(*Stream, Hello)

	wmu sync.Mutex

	mu      sync.Mutex
	streams map[uint32]*Stream
	next    uint32
	err     error
}

// NewMux returns a Mux that opens streams with the numbers first, first+2, ....
// accept is called in a goroutine of its own for every stream the other side
// opens. Run has to be called.
func NewMux(conn io.ReadWriter, first uint32, accept func(*Stream, Hello)) *Mux {
	return &Mux{conn: conn, accept: accept, streams: map[uint32]*Stream{}, next: first}
}

// Open opens a stream.
func (m *Mux) Open(h Hello) (*Stream, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.err != nil {
		m.mu.Unlock()
		return nil, m.err
	}
	s := newStream(m, m.next)
	m.next += 2
	m.streams[s.id] = s
	m.mu.Unlock()
	return s, m.send(s.id, kindOpen, body)
}

// Run reads until the connection ends.
func (m *Mux) Run() error {
	err := m.run()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	m.mu.Lock()
	m.err = err
	open := m.streams
	m.streams = map[uint32]*Stream{}
	m.mu.Unlock()
	for _, s := range open {
		s.finish(&Goodbye{Code: -1, Error: "the connection ended"})
	}
	return err
}

func (m *Mux) run() error {
	var h [headerSize]byte
	for {
		if _, err := io.ReadFull(m.conn, h[:]); err != nil {
			return err
		}
		id, kind, n := binary.LittleEndian.Uint32(h[:]), h[4], binary.LittleEndian.Uint32(h[5:])
		if n > maxFrame {
			return fmt.Errorf("a frame of %d bytes", n)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(m.conn, body); err != nil {
			return err
		}
		if err := m.frame(id, kind, body); err != nil {
			return err
		}
	}
}

func (m *Mux) frame(id uint32, kind byte, body []byte) error {
	m.mu.Lock()
	s := m.streams[id]
	if kind == kindClose {
		delete(m.streams, id)
	}
	m.mu.Unlock()
	switch kind {
	case kindOpen:
		var h Hello
		if err := json.Unmarshal(body, &h); err != nil {
			return err
		}
		if s != nil {
			return fmt.Errorf("stream %d is opened twice", id)
		}
		s = newStream(m, id)
		m.mu.Lock()
		m.streams[id] = s
		m.mu.Unlock()
		go m.accept(s, h)
	case kindData:
		if s != nil { // else it was closed on this side meanwhile
			return s.arrive(body)
		}
	case kindClose:
		g := &Goodbye{}
		if err := json.Unmarshal(body, g); err != nil {
			return err
		}
		if s != nil {
			s.finish(g)
		}
	default:
		return fmt.Errorf("a frame of kind %#x", kind)
	}
	return nil
}

func (m *Mux) send(id uint32, kind byte, body []byte) error {
	b := make([]byte, headerSize, headerSize+len(body))
	binary.LittleEndian.PutUint32(b, id)
	b[4] = kind
	binary.LittleEndian.PutUint32(b[5:], uint32(len(body)))
	b = append(b, body...)
	m.wmu.Lock()
	defer m.wmu.Unlock()
	_, err := m.conn.Write(b)
	return err
}

// Stream is one of many on a connection.
type Stream struct {
	m  *Mux
	id uint32

	mu     sync.Mutex
	cond   *sync.Cond
	queue  []byte
	end    *Goodbye // what the other side closed with
	closed bool     // on this side
}

func newStream(m *Mux, id uint32) *Stream {
	s := &Stream{m: m, id: id}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *Stream) arrive(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if len(s.queue)+len(b) > maxQueue {
		return fmt.Errorf("stream %d has %d bytes that nobody reads", s.id, len(s.queue))
	}
	s.queue = append(s.queue, b...)
	s.cond.Broadcast()
	return nil
}

func (s *Stream) finish(g *Goodbye) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = g
	s.cond.Broadcast()
}

// Read implements io.Reader; io.EOF says that a side closed the stream.
func (s *Stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && s.end == nil && !s.closed {
		s.cond.Wait()
	}
	if s.closed || len(s.queue) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.queue)
	s.queue = s.queue[n:]
	return n, nil
}

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		s.mu.Lock()
		over := s.closed || s.end != nil
		s.mu.Unlock()
		if over {
			return done, io.ErrClosedPipe
		}
		n := min(len(p)-done, maxFrame/4)
		if err := s.m.send(s.id, kindData, p[done:done+n]); err != nil {
			return done, err
		}
		done += n
	}
	return len(p), nil
}

// Close closes the stream on both sides.
func (s *Stream) Close() error { return s.CloseWith(Goodbye{}) }

// CloseWith closes it with a last word.
func (s *Stream) CloseWith(g Goodbye) error {
	s.mu.Lock()
	over := s.closed || s.end != nil
	s.closed = true
	s.cond.Broadcast()
	s.mu.Unlock()
	if over {
		return nil
	}
	s.m.mu.Lock()
	delete(s.m.streams, s.id)
	s.m.mu.Unlock()
	body, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return s.m.send(s.id, kindClose, body)
}

// Goodbye is what the other side closed with, nil as long as it has not.
func (s *Stream) Goodbye() *Goodbye {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}
