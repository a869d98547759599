package virtual

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/uf2"
)

// remote is a device over USB/IP, from the host's side. It waits for each
// transfer, which is enough for the tests.
type remote struct {
	t    *testing.T
	conn net.Conn
	seq  uint32
}

// dial connects a client to a server.
func dial(t *testing.T, s *Server) *remote {
	t.Helper()
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, far) }()
	t.Cleanup(func() { near.Close(); cancel(); <-done })
	_ = near.SetDeadline(time.Now().Add(time.Minute))
	return &remote{t: t, conn: near}
}

func (r *remote) read(n int) []byte {
	r.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(r.conn, b); err != nil {
		r.t.Fatal(err)
	}
	return b
}

// attach imports a device and returns the status.
func (r *remote) attach(busID string) uint32 {
	r.t.Helper()
	req := append(reply(opReqImport, 0), make([]byte, busIDLen)...)
	copy(req[8:], busID)
	if _, err := r.conn.Write(req); err != nil {
		r.t.Fatal(err)
	}
	h := r.read(8)
	status := binary.BigEndian.Uint32(h[4:])
	if status == opOK {
		d := r.read(312)
		if got := string(bytes.TrimRight(d[256:288], "\x00")); got != busID {
			r.t.Errorf("imported %q", got)
		}
	}
	return status
}

// submit sends a CMD_SUBMIT and returns its number.
func (r *remote) submit(u *URB) uint32 {
	r.t.Helper()
	r.seq++
	be := binary.BigEndian
	h := make([]byte, usbipHeader)
	be.PutUint32(h, usbipSubmit)
	be.PutUint32(h[4:], r.seq)
	be.PutUint32(h[16:], uint32(u.Endpoint))
	be.PutUint32(h[24:], uint32(len(u.Data)))
	if u.In {
		be.PutUint32(h[12:], 1)
		be.PutUint32(h[24:], uint32(u.Length))
	}
	if u.ZeroPacket {
		be.PutUint32(h[20:], flagZeroPacket)
	}
	setup := u.Setup.Bytes()
	copy(h[40:], setup[:])
	if _, err := r.conn.Write(append(h, u.Data...)); err != nil {
		r.t.Fatal(err)
	}
	return r.seq
}

// Submit implements Device.
func (r *remote) Submit(u *URB) {
	r.t.Helper()
	seq := r.submit(u)
	h := r.read(usbipHeader)
	be := binary.BigEndian
	if be.Uint32(h) != usbipRetSubmit || be.Uint32(h[4:]) != seq {
		r.t.Fatalf("answer % x", h)
	}
	n := int(be.Uint32(h[24:]))
	if u.In {
		u.Data = r.read(n)
	} else {
		u.Actual = n
	}
	u.finish(Status(int32(be.Uint32(h[20:]))))
}

func (r *remote) Descriptors() (device, config []byte) { return nil, nil }
func (r *remote) Reset()                               {}
func (r *remote) Unlink(*URB) bool                     { return false }
func (r *remote) Poll()                                {}

// offer serves a device at bus id 1-1.
func offer(d Device) (*Server, *Port, *sync.Mutex) {
	var mu sync.Mutex
	s := &Server{Do: func(f func()) { mu.Lock(); defer mu.Unlock(); f() }, Poll: time.Hour}
	p := &Port{BusID: "1-1", Bus: 1, Number: 2}
	p.Plug(d)
	s.Add(p)
	return s, p, &mu
}

func TestListOverUSBIP(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	s, p, _ := offer(b.dev)
	r := dial(t, s)
	if _, err := r.conn.Write(reply(opReqDevlist, 0)); err != nil {
		t.Fatal(err)
	}
	h := r.read(12)
	if !bytes.Equal(h, []byte{1, 0x11, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1}) {
		t.Fatalf("% x", h)
	}
	d := r.read(312)
	if !bytes.Equal(d[288:], []byte{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0x2e, 0x8a, 0, 0x0f, 1, 0, 0, 0, 0, 1, 1, 2}) {
		t.Errorf("% x", d[288:])
	}
	if i := r.read(8); !bytes.Equal(i, []byte{8, 6, 0x50, 0, 0xff, 0, 0, 0}) {
		t.Errorf("interfaces % x", i)
	}
	// The same connection may import.
	if st := r.attach("1-1"); st != opOK {
		t.Fatalf("import: %d", st)
	}
	other := dial(t, s)
	if st := other.attach("1-1"); st != opBusy {
		t.Errorf("a second client: %d", st)
	}
	if st := dial(t, s).attach("1-9"); st != opNoDev {
		t.Errorf("no such device: %d", st)
	}
	_ = p
}

func TestPicobootOverUSBIP(t *testing.T) {
	b := newBoard(t, riscv)
	s, port, mu := offer(b.dev)
	r := dial(t, s)
	if st := r.attach("1-1"); st != opOK {
		t.Fatalf("import: %d", st)
	}
	b.dev = r
	configure(t, r)
	p := program()
	b.ok(cmdExclusive, []byte{1}, nil, 0)
	b.ok(cmdFlashErase, words(0x10000000, 4096), nil, 0)
	b.ok(cmdWrite, words(0x10000000, uint32(len(p))), p, 0)
	if got := b.ok(cmdRead, words(0x10000000, uint32(len(p))), nil, len(p)); !bytes.Equal(got, p) {
		t.Error("flash holds something else")
	}
	if _, st := b.pico(cmdExec, words(0), nil, 0); st != pbUnknownCommand {
		t.Errorf("EXEC: %d", st)
	}
	b.ok(cmdReboot2, words(0, 1, 0, 0), nil, 0)
	mu.Lock()
	b.runs("hi")
	port.Unplug()
	mu.Unlock()
	if _, err := r.conn.Read(make([]byte, 1)); err == nil {
		t.Error("the host should lose the device")
	}
}

func TestDriveOverUSBIP(t *testing.T) {
	b := newBoard(t, riscv)
	s, _, mu := offer(b.dev)
	r := dial(t, s)
	r.attach("1-1")
	b.dev = r
	configure(t, r)
	if got := b.passes([]byte{scsiInquiry, 0, 0, 0, 36, 0}, nil, 36); len(got) != 36 {
		t.Errorf("%d", len(got))
	}
	file := uf2File(t, uf2.FamilyRP2350RISCV, 0x10000000, program())
	for i := 0; i < len(file); i += sectorSize {
		b.write(1000+uint32(i)/sectorSize, file[i:i+sectorSize])
	}
	mu.Lock()
	defer mu.Unlock()
	b.runs("hi")
}

func TestUnlinkOverUSBIP(t *testing.T) {
	g, _ := newEcho(4)
	s, _, _ := offer(g)
	r := dial(t, s)
	r.attach("1-1")
	configure(t, r)
	waiting := r.submit(&URB{Endpoint: 1, In: true, Length: 64})
	unlink := func(victim uint32) Status {
		r.seq++
		h := make([]byte, usbipHeader)
		binary.BigEndian.PutUint32(h, usbipUnlink)
		binary.BigEndian.PutUint32(h[4:], r.seq)
		binary.BigEndian.PutUint32(h[20:], victim)
		r.conn.Write(h)
		a := r.read(usbipHeader)
		if binary.BigEndian.Uint32(a) != usbipRetUnlink || binary.BigEndian.Uint32(a[4:]) != r.seq {
			t.Fatalf("% x", a)
		}
		return Status(int32(binary.BigEndian.Uint32(a[20:])))
	}
	if st := unlink(waiting); st != StatusUnlinked {
		t.Errorf("unlinked: %d", st)
	}
	if st := unlink(waiting); st != StatusOK {
		t.Errorf("again: %d", st)
	}
	// A transfer that waits for another one's data is answered out of order.
	in := r.submit(&URB{Endpoint: 1, In: true, Length: 64})
	out := r.submit(&URB{Endpoint: 2, Data: []byte("abc")})
	seen := map[uint32]string{}
	for range 2 {
		a := r.read(usbipHeader)
		seq, n := binary.BigEndian.Uint32(a[4:]), binary.BigEndian.Uint32(a[24:])
		if seq == in {
			seen[seq] = string(r.read(int(n)))
		} else {
			seen[seq] = "sent"
		}
	}
	if seen[in] != "abc" || seen[out] != "sent" {
		t.Errorf("%v", seen)
	}
}

func TestServerRefusals(t *testing.T) {
	for name, p := range map[string][]byte{
		"version":   {0, 1, 0x80, 5, 0, 0, 0, 0},
		"operation": {1, 0x11, 0x80, 9, 0, 0, 0, 0},
		"cut off":   {1, 0x11, 0x80, 3, 0, 0, 0, 0, '1'},
	} {
		if _, err := readOperation(bytes.NewReader(p)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	base := make([]byte, usbipHeader)
	base[3] = usbipSubmit
	for name, at := range map[string]int{"command": 0, "direction": 12, "endpoint": 16, "length": 24, "isochronous": 35} {
		p := append([]byte(nil), base...)
		p[at] = 7
		if _, err := readCommand(bytes.NewReader(p)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzUSBIP(f *testing.F) {
	g, _ := newEcho(2)
	_ = g
	seed := append(reply(opReqImport, 0), make([]byte, busIDLen)...)
	copy(seed[8:], "1-1")
	h := make([]byte, usbipHeader)
	h[3], h[19], h[27] = usbipSubmit, 2, 3
	f.Add(append(append(append([]byte(nil), seed...), h...), 1, 2, 3))
	f.Add(reply(opReqDevlist, 0))
	// As Linux begins: descriptors, the configuration, a transfer, its end.
	session := append([]byte(nil), seed...)
	for i, c := range []struct {
		dir, ep, length byte
		setup           Setup
	}{
		{1, 0, 18, Setup{0x80, 6, 0x100, 0, 18}}, {1, 0, 32, Setup{0x80, 6, 0x200, 0, 32}}, {0, 0, 0, Setup{0, 9, 1, 0, 0}}, {1, 1, 64, Setup{}},
	} {
		h := make([]byte, usbipHeader)
		h[3], h[7], h[15], h[19], h[27] = usbipSubmit, byte(i+1), c.dir, c.ep, c.length
		s := c.setup.Bytes()
		copy(h[40:], s[:])
		session = append(session, h...)
	}
	end := make([]byte, usbipHeader)
	end[3], end[7], end[23] = usbipUnlink, 9, 4
	f.Add(append(session, end...))
	f.Fuzz(func(t *testing.T, p []byte) {
		g, _ := newEcho(2)
		s, port, _ := offer(g)
		near, far := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.Serve(context.Background(), far) }()
		go func() { _, _ = io.Copy(io.Discard, near) }()
		_, _ = near.Write(p)
		near.Close()
		<-done
		if port.taken != nil {
			t.Fatal("the device was not given back")
		}
	})
}
