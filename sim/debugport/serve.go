package debugport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Do runs f while the chip stands still. The servers wrap every access in it.
type Do func(f func())

// Accept serves each client of l in turn with serve until ctx ends. A second
// client waits: a debug port has one master.
func Accept(ctx context.Context, l net.Listener, serve func(io.ReadWriter) error) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return ctx.Err()
			}
			return err
		}
		drop := context.AfterFunc(ctx, func() { _ = c.Close() })
		// The client's end is no error of the server.
		_ = serve(c)
		drop()
		_ = c.Close()
	}
}

// dapMagic begins each packet of CMSIS-DAP over TCP (openocd-org/openocd
// src/jtag/drivers/cmsis_dap_tcp.c).
const (
	dapMagic    uint32 = 0x00504144
	dapReqType         = 1
	dapRespType        = 2
)

// ServeDAP serves a probe over a stream, in the framing of upstream OpenOCD.
func ServeDAP(rw io.ReadWriter, p *Probe, do Do) error {
	r := bufio.NewReader(rw)
	head := make([]byte, 8)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			return err
		}
		n := int(binary.LittleEndian.Uint16(head[4:]))
		if binary.LittleEndian.Uint32(head) != dapMagic || head[6] != dapReqType || n > maxDAPPacket {
			return fmt.Errorf("not a CMSIS-DAP packet: % x", head)
		}
		packet := make([]byte, n)
		if _, err := io.ReadFull(r, packet); err != nil {
			return err
		}
		var answer []byte
		do(func() { answer = p.Execute(packet) })
		if answer == nil {
			continue
		}
		out := binary.LittleEndian.AppendUint32(nil, dapMagic)
		out = binary.LittleEndian.AppendUint16(out, uint16(len(answer)))
		out = append(out, dapRespType, 0)
		if _, err := rw.Write(append(out, answer...)); err != nil {
			return err
		}
	}
}

// maxDAPPacket bounds what a client may send in one packet.
const maxDAPPacket = 4096

// Bitbang serves OpenOCD's remote_bitbang protocol: SWD on line, JTAG on chain;
// either may be nil.
type Bitbang struct {
	Line  *Line
	Chain *JTAG

	mu         sync.Mutex
	tck, swclk bool
	swdio      bool
	released   bool
}

// Serve answers a client until it quits.
func (b *Bitbang) Serve(rw io.ReadWriter, do Do) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tck, b.swclk, b.swdio, b.released = false, false, false, false
	buf := make([]byte, 64<<10)
	for {
		n, err := rw.Read(buf)
		if n > 0 {
			var out []byte
			quit := false
			for p := buf[:n]; len(p) > 0 && !quit; {
				do(func() { p, out, quit = b.chars(p, out) })
			}
			if len(out) > 0 {
				if _, werr := rw.Write(out); werr != nil {
					return werr
				}
			}
			if quit {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// bitbangClock is the period of the clocks that a client bangs: nobody says how
// long they take, so they are those of a good adapter.
const bitbangClock = 100 * time.Nanosecond

// dp is the port behind the wires.
func (b *Bitbang) dp() *DP {
	if b.Line != nil {
		return b.Line.dp
	}
	return b.Chain.dp
}

// chars performs characters up to an access of the chip, which runs between two
// of them, and returns those that are left.
func (b *Bitbang) chars(p, out []byte) (left, answers []byte, quit bool) {
	dp := b.dp()
	was := dp.accesses
	for i, c := range p {
		if dp.accesses != was {
			return p[i:], out, false
		}
		switch {
		case c >= '0' && c <= '7' && b.Chain != nil:
			v := c - '0'
			if up := v&4 != 0; up != b.tck {
				b.tck = up
				if up {
					dp.spend(bitbangClock)
					b.Chain.Clock(v&2 != 0, v&1 != 0)
				}
			}
		case c == 'R':
			out = append(out, level(b.Chain == nil || b.Chain.TDO()))
		case (c == 't' || c == 'u') && b.Chain != nil:
			b.Chain.Reset()
		case c >= 'd' && c <= 'g' && b.Line != nil:
			v := c - 'd'
			b.swdio = v&1 != 0
			if up := v&2 != 0; up != b.swclk {
				b.swclk = up
				if up {
					dp.spend(bitbangClock)
					b.Line.Clock(b.wire(), !b.released)
				}
			}
		case c == 'O':
			b.released = false
		case c == 'o':
			b.released = true
		case c == 'c':
			out = append(out, level(b.wire()))
		case c == 'Q':
			return nil, out, true
		}
	}
	return nil, out, false
}

// wire is the level of SWDIO.
func (b *Bitbang) wire() bool {
	if b.released && b.Line != nil {
		return b.Line.Level()
	}
	return b.swdio
}

func level(up bool) byte {
	if up {
		return '1'
	}
	return '0'
}

// Vanish is a stream whose client is cut off after n bytes: a probe that is
// pulled out.
func Vanish(rw io.ReadWriter, n int64) io.ReadWriter {
	return struct {
		io.Reader
		io.Writer
	}{io.LimitReader(rw, n), rw}
}
