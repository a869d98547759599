package debugport_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// desk is a chip with its port, in which nothing depends on the host's time: the
// chip runs for as long as the wires take.
type desk struct {
	chip  *rp2350.Chip
	dp    *debugport.DP
	line  *debugport.Line
	probe *debugport.Probe
}

// newDesk is a chip as a debugger finds it: new, and some time after power came.
func newDesk(arch string) *desk {
	a := image.ArchARM
	if arch == "riscv" {
		a = image.ArchRISCV
	}
	chip := rp2350.New(rp2350.Options{Arch: a, Bootsel: func(*rp2350.Chip) {}})
	chip.InputOpen(true)
	d := &desk{chip: chip}
	d.pass(20 * time.Millisecond)
	d.dp = debugport.NewDP(chip.DebugPort())
	d.line = debugport.NewLine(d.dp)
	d.probe = debugport.NewProbe(debugport.DebugProbe("E6616407E3712345"), d.line)
	return d
}

// pass lets the chip run.
func (d *desk) pass(t time.Duration) {
	end := d.chip.CycleAt(d.chip.Seconds() + t.Seconds())
	for was := ^uint64(0); d.chip.Now() < end && d.chip.Now() != was; {
		was = d.chip.Now()
		d.chip.Run(end)
	}
}

// do is debugport.Do.
func (d *desk) do(f func()) {
	d.pass(d.dp.TakeSpent())
	f()
}

// serve serves a client by the way that a recording is of.
func (d *desk) serve(way string, rw io.ReadWriter) error {
	switch way {
	case "dap":
		return debugport.ServeDAP(rw, d.probe, d.do)
	case "swd":
		return (&debugport.Bitbang{Line: d.line}).Serve(rw, d.do)
	}
	return (&debugport.Bitbang{Chain: debugport.NewJTAG(d.dp)}).Serve(rw, d.do)
}

// single is a client of which one character is read at a time, so that how the
// network cuts a stream makes no difference.
type single struct{ io.ReadWriter }

func (s single) Read(p []byte) (int, error) { return s.ReadWriter.Read(p[:1]) }

// recording is what a debugger sent to examine a chip, and what it was answered.
// Its file is text: lines of hexadecimal digits after > and <, for a stream of
// characters those themselves; compressed if the name says so.
type recording struct{ sent, answered []byte }

func readRecording(path string) (r recording, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return r, err
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		mark, text, _ := strings.Cut(lines.Text(), " ")
		b := []byte(text)
		if mark == ">" || mark == "<" {
			if b, err = hex.DecodeString(text); err != nil {
				return r, err
			}
		}
		switch mark {
		case ">", ">>":
			r.sent = append(r.sent, b...)
		case "<", "<<":
			r.answered = append(r.answered, b...)
		case "#":
		default:
			return r, fmt.Errorf("%s: a line that begins with %q", path, mark)
		}
	}
	return r, lines.Err()
}

// replayed is the client of a recording.
type replayed struct {
	io.Reader
	answers bytes.Buffer
}

func (r *replayed) Write(p []byte) (int, error) { return r.answers.Write(p) }

// TestReplay plays what debuggers sent to examine the chip, and compares every
// answer. The recordings are of this server (TestJudgesRecord).
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/examine/*.txt*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recording: %v", err)
	}
	for _, path := range files {
		name := strings.Split(strings.TrimSuffix(filepath.Base(path), ".gz"), "_")
		t.Run(strings.Join(name, " "), func(t *testing.T) {
			r, err := readRecording(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(name) != 3 || len(r.sent) == 0 || len(r.answered) == 0 {
				t.Fatalf("not a recording: %d bytes sent, %d answered", len(r.sent), len(r.answered))
			}
			way, arch := name[1], strings.TrimSuffix(name[2], ".txt")
			c := &replayed{Reader: bytes.NewReader(r.sent)}
			if err := newDesk(arch).serve(way, single{c}); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if got := c.answers.Bytes(); !bytes.Equal(got, r.answered) {
				i := 0
				for i < len(got) && i < len(r.answered) && got[i] == r.answered[i] {
					i++
				}
				t.Errorf("%d answers instead of %d, and byte %d differs", len(got), len(r.answered), i)
			}
		})
	}
}
