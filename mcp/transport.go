package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a client's.
const maxMessage = 1 << 20

// errTooLong is a line beyond maxMessage; its rest was skipped.
var errTooLong = errors.New("a message of more than 1 MiB")

// lineConn is a connection that carries one message a line. A line that is no
// message is answered with an error and skipped; it ends nothing.
type lineConn struct {
	c io.ReadWriteCloser
	r *bufio.Reader
	// bad is told of each line that is no message.
	bad func(why string, length int)

	mu sync.Mutex
	// open are requests that have no answer yet; answered is told of each.
	open     map[jsonrpc.ID]bool
	answered chan struct{}
	once     sync.Once
	closed   chan struct{}
	err      error
}

func newLineConn(c io.ReadWriteCloser, r *bufio.Reader, bad func(string, int)) *lineConn {
	return &lineConn{c: c, r: r, bad: bad, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Connect makes it the transport of one connection, too.
func (l *lineConn) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID is empty: there is one session a connection.
func (l *lineConn) SessionID() string { return "" }

// readMessageLine reads a line of at most limit bytes; a longer one is skipped whole.
func readMessageLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) <= limit {
			line = append(line, part...)
		} else {
			long = true
		}
		switch {
		case err == nil && long:
			return nil, errTooLong
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0 && !long:
			return line, nil
		default:
			return nil, err
		}
	}
}

// Read returns the next message.
func (l *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readMessageLine(l.r, maxMessage)
		if errors.Is(err, errTooLong) {
			l.refuse(jsonrpc.CodeInvalidRequest, err.Error(), maxMessage)
			continue
		}
		if errors.Is(err, io.EOF) {
			l.drain(ctx)
			return nil, err
		}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				err = io.EOF
			}
			return nil, err
		}
		if len(trimSpace(line)) == 0 {
			continue
		}
		if !json.Valid(line) {
			l.refuse(jsonrpc.CodeParseError, "not JSON", len(line))
			continue
		}
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			l.refuse(jsonrpc.CodeInvalidRequest, "not a JSON-RPC message", len(line))
			continue
		}
		if q, ok := m.(*jsonrpc.Request); ok && q.IsCall() {
			l.mu.Lock()
			l.open[q.ID] = true
			l.mu.Unlock()
		}
		return m, nil
	}
}

// drainTime bounds how long a client that has said its last is answered.
const drainTime = time.Minute

// drain waits until a client that writes no more has its answers.
func (l *lineConn) drain(ctx context.Context) {
	t := time.NewTimer(drainTime)
	defer t.Stop()
	for {
		l.mu.Lock()
		n := len(l.open)
		l.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-l.answered:
		case <-l.closed:
			return
		case <-ctx.Done():
			return
		case <-t.C:
			return
		}
	}
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// refuse answers a line that is no message.
func (l *lineConn) refuse(code int64, why string, length int) {
	if l.bad != nil {
		l.bad(why, length)
	}
	doc, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_ = l.write(doc)
	}
}

func (l *lineConn) write(doc []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.c.Write(append(doc, '\n'))
	return err
}

// Write writes a message.
func (l *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	doc, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = l.write(doc)
	if r, ok := m.(*jsonrpc.Response); ok {
		l.mu.Lock()
		delete(l.open, r.ID)
		l.mu.Unlock()
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close ends the connection. It may be called twice.
func (l *lineConn) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.err = l.c.Close()
	})
	return l.err
}
