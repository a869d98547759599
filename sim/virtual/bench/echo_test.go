package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
)

// submit writes a CMD_SUBMIT for endpoint 2 (data) or 3 (n bytes to come), or for
// the control endpoint with a SETUP packet.
func submit(w io.Writer, seq, ep uint32, in bool, n int, setup [8]byte, data []byte) error {
	be := binary.BigEndian
	h := make([]byte, 48, 48+len(data))
	be.PutUint32(h, 1)
	be.PutUint32(h[4:], seq)
	if in {
		be.PutUint32(h[12:], 1)
	}
	be.PutUint32(h[16:], ep)
	be.PutUint32(h[24:], uint32(n))
	copy(h[40:], setup[:])
	_, err := w.Write(append(h, data...))
	return err
}

// echo sends data to the port and returns what comes back, with as many transfers
// under way as Linux's driver has.
func echo(t *testing.T, conn net.Conn, data []byte) (got []byte) {
	t.Helper()
	be := binary.BigEndian
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	// The control transfer first: SET_CONFIGURATION.
	if err := submit(conn, 1, 0, false, 0, [8]byte{0, 9, 1}, nil); err != nil {
		t.Fatal(err)
	}
	const outs = 1 << 20
	go func() {
		seq := uint32(10)
		for range 16 {
			if submit(conn, seq, 3, true, 512, [8]byte{}, nil) != nil {
				return
			}
			seq++
		}
	}()
	sent, seq, waiting := 0, uint32(outs), 0
	more := func() {
		for waiting < 8 && sent < len(data) {
			n := min(4096, len(data)-sent)
			if err := submit(conn, seq, 2, false, n, [8]byte{}, data[sent:sent+n]); err != nil {
				t.Fatal(err)
			}
			sent, seq, waiting = sent+n, seq+1, waiting+1
		}
	}
	in := uint32(1000)
	for len(got) < len(data) {
		h := make([]byte, 48)
		if _, err := io.ReadFull(conn, h); err != nil {
			t.Fatalf("after %d bytes: %v", len(got), err)
		}
		if st := int32(be.Uint32(h[20:])); st != 0 {
			t.Fatalf("transfer %d: status %d", be.Uint32(h[4:]), st)
		}
		switch s := be.Uint32(h[4:]); {
		case s == 1:
		case s >= outs:
			waiting--
		default:
			b := make([]byte, be.Uint32(h[24:]))
			if _, err := io.ReadFull(conn, b); err != nil {
				t.Fatal(err)
			}
			got = append(got, b...)
			if err := submit(conn, in, 3, true, 512, [8]byte{}, nil); err != nil {
				t.Fatal(err)
			}
			in++
		}
		more()
	}
	return got
}

// TestEchoOverUSBIP sends data through a program's serial port and back, over
// USB/IP, to a board that runs by itself.
func TestEchoOverUSBIP(t *testing.T) {
	for _, path := range []string{"../../../examples/usbecho/usbecho.elf", "../../../examples/arm/usbecho/usbecho.elf"} {
		elf, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := image.Parse(path, elf, image.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(Options{Program: img})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 2)
		go func() { done <- b.Run(ctx) }()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		attached := make(chan net.Conn, 1)
		go func() {
			done <- b.Server.Keep(ctx, b.Units[0].Port, func(context.Context) (net.Conn, error) {
				near, err := net.Dial("tcp", l.Addr().String())
				attached <- near
				if err != nil {
					return nil, err
				}
				return l.Accept()
			})
		}()
		data := make([]byte, 256<<10)
		_, _ = rand.NewChaCha8([32]byte{3}).Read(data)
		start := time.Now()
		got := echo(t, <-attached, data)
		board, _ := b.Units[0].Stats()
		t.Logf("%d bytes each way in %v, %v on the bus", len(got), time.Since(start), board.Time.Bus)
		if !bytes.Equal(got, data) {
			t.Errorf("%d bytes come back, and they differ", len(got))
		}
		if board.Bytes < 2*uint64(len(data)) {
			t.Errorf("%+v", board)
		}
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		l.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
