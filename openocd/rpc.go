package openocd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// end ends a request and an answer.
const end = 0x1a

// maxAnswer bounds an answer.
const maxAnswer = 4 << 20

// errGone is OpenOCD having ended, or closed its Tcl port.
var errGone = errors.New("OpenOCD is gone")

// errMute is OpenOCD not answering.
var errMute = errors.New("OpenOCD does not answer")

// answerTime bounds a command: the longest is a full examination over slow wires.
const answerTime = 60 * time.Second

// rpc is a client of the Tcl port.
type rpc struct {
	w      io.Writer
	frames chan string
	notify func(text string)

	mu   sync.Mutex // one command at a time
	last int
	err  error // why frames was closed
}

// newRPC speaks over w and r; notify hears of notifications and may be nil.
func newRPC(w io.Writer, r io.Reader, notify func(text string)) *rpc {
	c := &rpc{w: w, frames: make(chan string, 1), notify: notify}
	go c.read(r)
	return c
}

// read takes the stream apart.
func (c *rpc) read(r io.Reader) {
	defer close(c.frames)
	b := bufio.NewReader(r)
	var frame []byte
	for {
		part, err := b.ReadSlice(end)
		frame = append(frame, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(frame) <= maxAnswer:
			continue
		case err != nil:
			c.err = err
			return
		}
		text := string(frame[:len(frame)-1])
		frame = frame[:0]
		if strings.HasPrefix(text, tokenPrefix) {
			c.frames <- text
		} else if c.notify != nil {
			c.notify(strings.TrimSpace(text))
		}
	}
}

// tokenPrefix begins the answers to commands of ours.
const tokenPrefix = "stem-hw-"

// result is what a command gave.
type result struct {
	code int // of catch: 0 is success
	text string
}

// call executes a command and waits for its result.
func (c *rpc) call(ctx context.Context, command string) (result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	token := tokenPrefix + strconv.Itoa(c.last)
	if strings.IndexByte(command, end) >= 0 || strings.IndexByte(command, 0) >= 0 {
		return result{}, errors.New("a command with a byte in it that nothing can carry")
	}
	request := fmt.Sprintf("set stemr [catch %s stemm]; list %s $stemr $stemm%c", quote(command), token, end)
	if _, err := io.WriteString(c.w, request); err != nil {
		return result{}, fmt.Errorf("%w: %w", errGone, err)
	}
	limit := time.NewTimer(answerTime)
	defer limit.Stop()
	for {
		select {
		case frame, ok := <-c.frames:
			if !ok {
				return result{}, errGone
			}
			r, mine, err := answer(frame, token)
			if mine || err != nil {
				return r, err
			}
		case <-ctx.Done():
			return result{}, ctx.Err()
		case <-limit.C:
			return result{}, errMute
		}
	}
}

// answer takes an answer apart; mine is false for one to another command.
func answer(frame, token string) (r result, mine bool, err error) {
	words, err := splitList(frame)
	if err != nil || len(words) != 3 {
		return r, false, fmt.Errorf("OpenOCD answers %q", frame)
	}
	if words[0] != token {
		return r, false, nil
	}
	if r.code, err = strconv.Atoi(words[1]); err != nil {
		return r, false, fmt.Errorf("OpenOCD answers %q", frame)
	}
	r.text = strings.TrimRight(words[2], "\r\n")
	return r, true, nil
}
