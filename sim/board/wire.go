package board

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Protocol is the number of the protocol. Hello and the answer to it never
// change, so that any two versions can tell that they differ.
const Protocol = 1

// Kinds of frames.
const (
	kindJSON = 'J'
	kindData = 'D'
)

// Limits of a frame's contents.
const (
	maxJSON = 1 << 20
	maxData = 64 << 20
)

// errFrame is a frame that no version of the protocol has.
var errFrame = errors.New("not a frame of this protocol")

// frame is one unit of the wire.
type frame struct {
	kind byte
	body []byte
}

// readFrame reads one frame; io.EOF only between frames.
func readFrame(r io.Reader) (frame, error) {
	var h [5]byte
	if _, err := io.ReadFull(r, h[:1]); err != nil {
		return frame{}, err
	}
	if _, err := io.ReadFull(r, h[1:]); err != nil {
		return frame{}, unexpected(err)
	}
	n := binary.BigEndian.Uint32(h[1:])
	limit := uint32(maxJSON)
	switch h[0] {
	case kindJSON:
	case kindData:
		limit = maxData
	default:
		return frame{}, fmt.Errorf("%w: kind %#x", errFrame, h[0])
	}
	if n > limit {
		return frame{}, fmt.Errorf("%w: %d bytes", errFrame, n)
	}
	// The length is the sender's word: memory is taken as the bytes come.
	const step = 1 << 20
	body := make([]byte, 0, min(int(n), step))
	for len(body) < int(n) {
		k := min(int(n)-len(body), step)
		at := len(body)
		body = append(body, make([]byte, k)...)
		if _, err := io.ReadFull(r, body[at:]); err != nil {
			return frame{}, unexpected(err)
		}
	}
	return frame{h[0], body}, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// wire is a connection. Frames are written whole, from any goroutine.
type wire struct {
	c  net.Conn
	mu sync.Mutex
}

func (w *wire) send(kind byte, body []byte) error {
	limit := maxJSON
	if kind == kindData {
		limit = maxData
	}
	if len(body) > limit {
		return fmt.Errorf("a frame of %d bytes", len(body))
	}
	var h [5]byte
	h[0] = kind
	binary.BigEndian.PutUint32(h[1:], uint32(len(body)))
	w.mu.Lock()
	defer w.mu.Unlock()
	b := net.Buffers{h[:], body}
	_, err := b.WriteTo(w.c)
	return err
}

func (w *wire) sendJSON(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.send(kindJSON, body)
}

// readJSON reads a frame that has to be a document.
func (w *wire) readJSON(v any) error {
	f, err := readFrame(w.c)
	if err != nil {
		return err
	}
	if f.kind != kindJSON {
		return fmt.Errorf("%w: data where a document belongs", errFrame)
	}
	return json.Unmarshal(f.body, v)
}

// readData reads a frame that has to be n bytes of data.
func (w *wire) readData(n int) ([]byte, error) {
	f, err := readFrame(w.c)
	if err != nil {
		return nil, err
	}
	if f.kind != kindData || len(f.body) != n {
		return nil, fmt.Errorf("%w: %d bytes where %d of data belong", errFrame, len(f.body), n)
	}
	return f.body, nil
}
