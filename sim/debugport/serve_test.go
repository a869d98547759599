package debugport

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func direct(f func()) { f() }

// pipe is a client's input and what it is answered.
type pipe struct {
	io.Reader
	bytes.Buffer
}

func (p *pipe) Read(b []byte) (int, error) { return p.Reader.Read(b) }

func dapPacket(kind byte, body ...byte) []byte {
	p := []byte{'D', 'A', 'P', 0, byte(len(body)), byte(len(body) >> 8), kind, 0}
	return append(p, body...)
}

func TestServeDAP(t *testing.T) {
	p, _ := newTestProbe(t)
	c := &pipe{Reader: bytes.NewReader(join(dapPacket(1, 0, 0xfe), dapPacket(1, 7), dapPacket(1, 3)))}
	if err := ServeDAP(c, p, direct); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if want := join(dapPacket(2, 0, 1, 6), dapPacket(2, 3, 0)); !bytes.Equal(c.Bytes(), want) {
		t.Errorf("% x", c.Bytes())
	}
	for name, in := range map[string][]byte{
		"magic": {'D', 'A', 'Q', 0, 1, 0, 1, 0, 3}, "type": dapPacket(2, 3), "length": {'D', 'A', 'P', 0, 0xff, 0xff, 1, 0},
	} {
		c := &pipe{Reader: bytes.NewReader(in)}
		if err := ServeDAP(c, p, direct); err == nil || errors.Is(err, io.EOF) || c.Len() > 0 {
			t.Errorf("wrong %s: %v, answered % x", name, err, c.Bytes())
		}
	}
}

// bitbangRead is a read of DPIDR in OpenOCD's characters.
func bitbangRead(req byte) string {
	var b strings.Builder
	b.WriteString("O")
	for i := range 8 {
		v := 'd' + rune(req>>i&1)
		b.WriteRune(v)
		b.WriteRune(v + 2)
	}
	b.WriteString("o" + strings.Repeat("df", 1))
	b.WriteString(strings.Repeat("cdf", 36) + "df" + "O")
	return b.String()
}

func TestBitbangSWD(t *testing.T) {
	h := newHost(t)
	h.wake()
	c := &pipe{Reader: strings.NewReader(bitbangRead(reqDPIDR) + "Q")}
	if err := (&Bitbang{Line: h.line}).Serve(c, direct); err != nil {
		t.Fatal(err)
	}
	s := c.String()
	if len(s) != 36 || s[:3] != "100" {
		t.Fatalf("answers %q", s)
	}
	var v uint32
	for i := range 32 {
		v |= uint32(s[3+i]-'0') << i
	}
	if v != DPIDR {
		t.Errorf("DPIDR %#x", v)
	}
}

// jtag makes characters of scans, as OpenOCD does: TDO before each rising edge.
type jtagHost struct{ strings.Builder }

func (j *jtagHost) clock(tms, tdi int, read bool) {
	v := '0' + rune(tms<<1|tdi)
	j.WriteRune(v)
	if read {
		j.WriteRune('R')
	}
	j.WriteRune(v + 4)
}

func (j *jtagHost) scan(ir bool, v uint64, n int, read bool) {
	j.clock(1, 0, false)
	if ir {
		j.clock(1, 0, false)
	}
	j.clock(0, 0, false)
	j.clock(0, 0, false)
	for i := range n {
		last := 0
		if i == n-1 {
			last = 1
		}
		j.clock(last, int(v>>i&1), read)
	}
	j.clock(1, 0, false)
	j.clock(0, 0, false)
}

func TestBitbangJTAG(t *testing.T) {
	chip := newFake()
	j := &jtagHost{}
	j.WriteString("tr") // reset
	j.clock(0, 0, false)
	j.scan(false, 0, 32, true) // IDCODE after reset
	j.scan(true, irDTMCS, 5, true)
	j.scan(false, 0, 32, true)
	j.scan(true, 0x1f, 5, false) // bypass
	j.scan(false, 0b101, 4, true)
	j.scan(true, irDMI, 5, false)
	j.scan(false, uint64(dmControl)<<34|uint64(dmActive)<<2|2, 42, false)
	j.scan(false, uint64(dmStatus)<<34|1, 42, false)
	j.scan(false, 0, 42, true)
	c := &pipe{Reader: strings.NewReader(j.String() + "Q")}
	if err := (&Bitbang{Chain: NewJTAG(NewDP(chip))}).Serve(c, direct); err != nil {
		t.Fatal(err)
	}
	s := c.String()
	next := func(n int) (v uint64) {
		for i := range n {
			v |= uint64(s[i]-'0') << i
		}
		s = s[n:]
		return v
	}
	for _, want := range []struct {
		n int
		v uint64
	}{{32, 0xdeadbeef}, {5, 1}, {32, 0x4081}, {4, 0b1010}, {42, uint64(dmStatus)<<34 | 0x00400ca2<<2}} {
		if v := next(want.n); v != want.v {
			t.Errorf("%d bits: %#x, want %#x", want.n, v, want.v)
		}
	}
	if s != "" {
		t.Errorf("%d more bits", len(s))
	}
}

func TestAccept(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p, _ := newTestProbe(t)
	done := make(chan error)
	go func() {
		done <- Accept(ctx, l, func(rw io.ReadWriter) error { return ServeDAP(rw, p, direct) })
	}()
	for range 2 { // one after the other
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(dapPacket(1, 3))
		got := make([]byte, 10)
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, dapPacket(2, 3, 0)) {
			t.Errorf("% x, %v", got, err)
		}
		_ = c.Close()
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write(dapPacket(1, 3))
	_, _ = io.ReadFull(c, make([]byte, 10))
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the client was not cut off")
	}
}

// recorded returns what debuggers sent in the recordings whose names have way in
// them, one element a packet or run of characters.
func recorded(f *testing.F, way string) (sent [][]byte) {
	f.Helper()
	files, err := filepath.Glob("testdata/examine/*_" + way + "_*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recording of %s: %v", way, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if strings.HasSuffix(path, ".gz") {
			r, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				f.Fatal(err)
			}
			if data, err = io.ReadAll(r); err != nil {
				f.Fatal(err)
			}
		}
		for _, l := range strings.Split(string(data), "\n") {
			if text, ok := strings.CutPrefix(l, ">> "); ok {
				sent = append(sent, []byte(text))
			} else if text, ok := strings.CutPrefix(l, "> "); ok {
				p, err := hex.DecodeString(text)
				if err != nil {
					f.Fatal(err)
				}
				sent = append(sent, p)
			}
		}
	}
	return sent
}

// FuzzDAP: packets, each behind its length.
func FuzzDAP(f *testing.F) {
	seed := func(packets ...[]byte) {
		var b []byte
		for _, p := range packets {
			b = append(append(b, byte(len(p))), p...)
		}
		f.Add(b)
	}
	seed([]byte{5, 0, 3, 8, 0, 0x2d, 0, 0, 0xf, 0xd, 1, 2, 3, 4}, []byte{6, 0, 0xff, 0xff, 0xf})
	seed([]byte{0x7f, 3, 0x1d, 2, 0, 0x88, 0x12, 0, 5}, []byte{0x7e, 0xff, 0, 1})
	var run [][]byte
	for _, p := range recorded(f, "dap") {
		if run = append(run, p[8:]); len(run) == 16 {
			seed(run...)
			run = nil
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, h := newTestProbe(t)
		attach(t, p)
		for len(b) > 0 {
			n := min(int(b[0]), len(b)-1)
			packet := b[1 : 1+n]
			out := p.Execute(packet)
			if len(out) > 64 || out == nil && (n == 0 || packet[0] != dapTransferAbort) {
				t.Fatalf("% x answers % x", packet, out)
			}
			b = b[1+n:]
		}
		// Whatever happened, the port can be reached again.
		h.line, p.turnaround = p.line, 1
		h.dp.dlcr = 0
		h.bytes(64, make([]byte, 8)...)
		h.wake()
	})
}

// FuzzServeDAP: the framing of CMSIS-DAP over TCP.
func FuzzServeDAP(f *testing.F) {
	var run []byte
	for i, p := range recorded(f, "dap") {
		if run = append(run, p...); i%16 == 15 {
			f.Add(run)
			run = nil
		}
	}
	f.Add(dapPacket(2, 3))
	f.Add([]byte{'D', 'A', 'P', 0, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, _ := newTestProbe(t)
		c := &pipe{Reader: bytes.NewReader(b)}
		if err := ServeDAP(c, p, direct); err == nil {
			t.Fatal("the end of a stream is no end")
		}
		for out := c.Bytes(); len(out) > 0; {
			n := int(binary.LittleEndian.Uint16(out[4:]))
			if binary.LittleEndian.Uint32(out) != dapMagic || out[6] != dapRespType || n == 0 || n > 64 {
				t.Fatalf("answers % x", out)
			}
			out = out[8+n:]
		}
	})
}

func FuzzBitbang(f *testing.F) {
	f.Add(bitbangRead(reqDPIDR), true)
	f.Add("0R4062R75Rtrsu", false)
	for way, swd := range map[string]bool{"swd": true, "jtag": false} {
		var run []byte
		for _, p := range recorded(f, way) {
			if run = append(run, p...); len(run) > 2000 {
				f.Add(string(run), swd)
				run = nil
			}
		}
	}
	f.Fuzz(func(t *testing.T, s string, swd bool) {
		h := newHost(t)
		b := &Bitbang{Line: h.line}
		if !swd {
			b = &Bitbang{Chain: NewJTAG(h.dp)}
		} else {
			h.wake()
		}
		c := &pipe{Reader: strings.NewReader(s)}
		_ = b.Serve(c, direct)
		s, _, _ = strings.Cut(s, "Q")
		if n := strings.Count(s, "R") + strings.Count(s, "c"); c.Len() != n {
			t.Fatalf("%d answers for %d questions", c.Len(), n)
		}
	})
}

func FuzzDM(f *testing.F) {
	seed := func(accesses ...uint32) {
		var b []byte
		for i := 0; i < len(accesses); i += 2 {
			b = binary.LittleEndian.AppendUint32(append(b, byte(accesses[i])), accesses[i+1])
		}
		f.Add(b)
	}
	// Halting, an abstract command with its program, and the bus, also while it
	// stalls (bit 7).
	seed(dmControl, 1, dmControl, 0x80000001, dmCommand, 0x00271008, dmSBCS|0x80, 1)
	seed(dmControl, 1, dmControl, 0x07ffffc1, dmControl, 0x10000001, dmControl, 0x10010001, dmControl, 0x80000001,
		dmProgBuf0, 0x30102473, dmProgBuf1, 0x00100073, dmCommand, 0x00241000, dmCommand, 0x00221008, dmControl, 0x40000001)
	seed(dmControl, 1, dmHAWindow, 3, dmControl, 0x84000001, dmAbstractAuto, 1, dmData0, 0x20000000, dmCommand, 0x00271008,
		dmSBCS, 0x00158000, dmSBAddress0, 0x20000000, dmSBData0, 1, dmControl, 3, dmControl, 0x2000000b, dmControl, 0x44000005, dmControl, 0)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, c := newDM()
		for len(b) >= 5 {
			reg, v := uint32(b[0]&0x7f), binary.LittleEndian.Uint32(b[1:])
			c.stalled = b[0]&0x80 != 0 && v&1 != 0
			d.Write(reg, v)
			d.Read(reg)
			if s := d.Read(dmStatus); s&0x004000bf != 0x004000a2 {
				t.Fatalf("dmstatus %#x after a write of %#x to %#x", s, v, reg)
			}
			b = b[5:]
		}
	})
}
