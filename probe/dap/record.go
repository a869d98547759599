package dap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
)

// recordHead is the first line of a recording.
const recordHead = "stem-hw/dap-recording/1"

// Recorder is a Transport that writes down everything that passes: a line for
// each packet, "> " and the bytes sent or "< " and the bytes of an answer in
// hexadecimal.
type Recorder struct {
	Transport
	w   io.Writer
	err error
}

// NewRecorder records the packets of t on w.
func NewRecorder(t Transport, w io.Writer) *Recorder {
	r := &Recorder{Transport: t, w: w}
	_, r.err = io.WriteString(w, recordHead+"\n")
	return r
}

// Send implements Transport.
func (r *Recorder) Send(ctx context.Context, packet []byte) error {
	r.line('>', packet)
	return r.Transport.Send(ctx, packet)
}

// Receive implements Transport.
func (r *Recorder) Receive(ctx context.Context) ([]byte, error) {
	a, err := r.Transport.Receive(ctx)
	if err == nil {
		r.line('<', a)
	}
	return a, err
}

func (r *Recorder) line(dir byte, p []byte) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, "%c %s\n", dir, hex.EncodeToString(p))
	}
}

// Err is the first error of writing the recording.
func (r *Recorder) Err() error { return r.err }

// Replay is a Transport that plays a recording: what is sent has to be what was
// sent then, and the answers are those of then.
type Replay struct {
	sent, answers [][]byte
	n, m          int
}

// maxRecording bounds a line of a recording.
const maxRecording = 4*MaxPacket + 16

// NewReplay reads a recording.
func NewReplay(r io.Reader) (*Replay, error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxRecording)
	if !s.Scan() || s.Text() != recordHead {
		return nil, fmt.Errorf("no recording: it does not begin with %q", recordHead)
	}
	p := &Replay{}
	for n := 2; s.Scan(); n++ {
		line := s.Bytes()
		if len(line) < 2 || line[1] != ' ' || line[0] != '>' && line[0] != '<' {
			return nil, fmt.Errorf("line %d of the recording is no packet", n)
		}
		b := make([]byte, hex.DecodedLen(len(line)-2))
		if _, err := hex.Decode(b, line[2:]); err != nil {
			return nil, fmt.Errorf("line %d of the recording: %w", n, err)
		}
		if line[0] == '>' {
			p.sent = append(p.sent, b)
		} else {
			p.answers = append(p.answers, b)
		}
	}
	return p, s.Err()
}

// Send implements Transport.
func (p *Replay) Send(_ context.Context, packet []byte) error {
	if p.n >= len(p.sent) {
		return fmt.Errorf("%w: the recording has no packet %d", ErrLost, p.n+1)
	}
	if !bytes.Equal(packet, p.sent[p.n]) {
		return fmt.Errorf("packet %d is %s, and was %s in the recording", p.n+1, describe(packet), describe(p.sent[p.n]))
	}
	p.n++
	return nil
}

// Receive implements Transport.
func (p *Replay) Receive(context.Context) ([]byte, error) {
	if p.m >= len(p.answers) {
		return nil, fmt.Errorf("%w: the recording has no answer %d", ErrLost, p.m+1)
	}
	p.m++
	return p.answers[p.m-1], nil
}

// Rest is how many packets of the recording were not sent.
func (p *Replay) Rest() int { return len(p.sent) - p.n }

// Close implements Transport.
func (p *Replay) Close() error { return nil }
