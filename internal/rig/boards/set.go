package boards

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
)

// numbers gives every board its own device numbers.
type numbers struct{ last atomic.Uint32 }

// Maker makes the Sets of all test processes.
type Maker struct {
	// Attacher reaches the guest, Log takes remarks.
	Attacher Attacher
	Log      func(format string, args ...any)

	numbers numbers
}

// Serve carries out the requests of one test process until it ends.
func (m *Maker) Serve(conn io.ReadWriter) error {
	boards := map[int]*Board{}
	defer func() {
		for _, b := range boards {
			if err := b.Close(); err != nil {
				m.Log("rig: %v", err)
			}
		}
	}()
	lines := bufio.NewReaderSize(conn, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var q wire.Request
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		reply, err := m.perform(boards, &q)
		if err != nil {
			reply = wire.Reply{Error: err.Error()}
		}
		body, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		if _, err := conn.Write(append(body, '\n')); err != nil {
			return err
		}
	}
}

func (m *Maker) perform(boards map[int]*Board, q *wire.Request) (r wire.Reply, err error) {
	if q.Op == "new" {
		if q.Board == nil {
			return r, errors.New("new without a board")
		}
		n := m.numbers.last.Add(1)
		b, err := New(*q.Board, n, m.Attacher, m.Log)
		if err != nil {
			return r, err
		}
		boards[int(n)] = b
		r.ID = int(n)
		return r, nil
	}
	b := boards[q.ID]
	if b == nil {
		return r, fmt.Errorf("there is no board %d", q.ID)
	}
	if q.Op == "close" {
		delete(boards, q.ID)
		return r, b.Close()
	}
	return b.perform(q)
}
