package gdbserver_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
)

// The conversation of a real gdb with examples/debugme, as --log gdb writes it.
// TestPeerGdbRecords records it again when STEM_HW_RECORD is set.
const (
	conversation    = "testdata/debugme.gdb.log"
	conversationELF = "../examples/debugme/debugme.elf"
	// conversationPath is the program's name in the conversation.
	conversationPath = "/examples/debugme.elf"
)

// conversationServer serves the program of the conversation.
func conversationServer(t *testing.T, change func(*gdbserver.Options)) *gdbserver.Server {
	t.Helper()
	img, err := image.Open(conversationELF)
	if err != nil {
		t.Fatal(err)
	}
	tg, err := sim.New(sim.Options{Machine: sim.MachineRP2350, Debug: true, Semihosting: &semihost.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	if err := tg.Load(context.Background(), img); err != nil {
		t.Fatal(err)
	}
	opt := gdbserver.Options{Target: tg, ELF: img.ELF, ELFPath: conversationPath, RTOS: "auto"}
	if change != nil {
		change(&opt)
	}
	srv, err := gdbserver.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// step is one packet of a conversation.
type step struct {
	line   int
	toGdb  bool
	packet string
}

func readConversation(t *testing.T, name string) []step {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		f := strings.SplitN(strings.TrimSpace(l), " ", 3)
		if len(f) == 2 {
			f = append(f, "")
		}
		packet, err := strconv.Unquote(`"` + f[len(f)-1] + `"`)
		if len(f) != 3 || err != nil || f[1] != ">" && f[1] != "<" {
			t.Fatalf("%s:%d is no line of a log: %q", name, i+1, l)
		}
		steps = append(steps, step{i + 1, f[1] == "<", packet})
	}
	return steps
}

// TestReplay sends what gdb sent and compares what the server answers.
func TestReplay(t *testing.T) {
	srv := conversationServer(t, nil)
	near, far := net.Pipe()
	_ = near.SetDeadline(time.Now().Add(2 * time.Minute))
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.ServeConn(context.Background(), far)
	}()
	defer func() { _ = near.Close(); <-done }()
	r := bufio.NewReader(near)
	noAck := false
	steps := readConversation(t, conversation)
	if len(steps) < 100 {
		t.Fatalf("%d packets are no conversation", len(steps))
	}
	for i := 0; i < len(steps); {
		s := steps[i]
		if !s.toGdb {
			if s.packet == "\x03" {
				t.Fatalf("%s:%d: an interrupt comes at any time and cannot be replayed", conversation, s.line)
			}
			if _, err := near.Write(framed(s.packet)); err != nil {
				t.Fatalf("%s:%d: %v", conversation, s.line, err)
			}
			i++
			continue
		}
		// Output may be cut into packets elsewhere: compare it as a whole.
		want := ""
		for ; i < len(steps) && steps[i].toGdb && isOutput(steps[i].packet); i++ {
			want += steps[i].packet[1:]
		}
		for got := ""; got != want; {
			p := next(t, r, near, noAck, s.line)
			if !isOutput(p) || !strings.HasPrefix(want, got+p[1:]) {
				t.Fatalf("%s:%d: the server printed %q and sent %q, want %q", conversation, s.line, text(got), p, text(want))
			}
			got += p[1:]
		}
		if i == len(steps) || !steps[i].toGdb {
			continue
		}
		s = steps[i]
		if got := next(t, r, near, noAck, s.line); got != s.packet {
			t.Fatalf("%s:%d: the server sent\n%q\nwant\n%q", conversation, s.line, got, s.packet)
		}
		noAck = noAck || i > 0 && steps[i-1].packet == "QStartNoAckMode"
		i++
	}
}

func isOutput(p string) bool { return strings.HasPrefix(p, "O") && p != "OK" }

func text(digits string) string {
	p, _ := hex.DecodeString(digits)
	return string(p)
}

// framed is a packet on the wire, made without the package's own code.
func framed(p string) []byte {
	var sum byte
	out := []byte{'$'}
	for _, b := range []byte(p) {
		if strings.IndexByte("#$}*", b) >= 0 {
			out = append(out, '}')
			sum += '}'
			b ^= 0x20
		}
		out = append(out, b)
		sum += b
	}
	return fmt.Appendf(out, "#%02x", sum)
}

// next reads the next packet and acknowledges it.
func next(t *testing.T, r *bufio.Reader, w net.Conn, noAck bool, line int) string {
	t.Helper()
	p, err := r.ReadBytes('#')
	if err != nil {
		t.Fatalf("%s:%d: %v instead of an answer", conversation, line, err)
	}
	if _, err := r.Discard(2); err != nil {
		t.Fatal(err)
	}
	if !noAck {
		if _, err := w.Write([]byte{'+'}); err != nil {
			t.Fatal(err)
		}
	}
	body := p[strings.IndexByte(string(p), '$')+1 : len(p)-1]
	var out []byte
	for i := 0; i < len(body); i++ {
		if body[i] == '}' && i+1 < len(body) {
			i++
			out = append(out, body[i]^0x20)
			continue
		}
		out = append(out, body[i])
	}
	return string(out)
}
