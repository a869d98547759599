package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
)

// rtt is SEGGER's Real Time Transfer: ring buffers in the program's RAM that a
// debugger empties and fills while it runs. A control block begins with an
// identification; behind it are the numbers of buffers to and from the host, and
// for each its name, place, size, and the offsets of writer and reader (SEGGER
// RTT, SEGGER_RTT.h: SEGGER_RTT_CB).
type rtt struct {
	// at is the control block, 0 while it was not found; from is where the
	// search goes on.
	at, from uint32
	up       []rttChannel
	down     []rttChannel
	channel  int
}

// rttChannel is one ring buffer.
type rttChannel struct {
	descriptor   uint32 // its place in RAM
	Name         string
	buffer, size uint32
}

// Layout of a control block.
const (
	rttMagic      = "SEGGER RTT\x00\x00\x00\x00\x00\x00"
	rttHead       = 24
	rttDescriptor = 24
	rttMaxBuffers = 16
	rttChunk      = 16 << 10
	rttWriteAt    = 12
	rttReadAt     = 16
	rttMostBytes  = 4096 // at one look
)

// StartRTT makes Console show an RTT channel. at is the address of the control
// block, 0 to search the RAM for it.
func (t *Target) StartRTT(at uint32, channel int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rtt = &rtt{at: 0, from: sramBase, channel: channel}
	if at != 0 {
		t.rtt.from = at
	}
}

// RTTFound reports whether a control block was found, and its channels' names.
func (t *Target) RTTFound() (found bool, names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rtt == nil || t.rtt.at == 0 {
		return false, nil
	}
	for _, c := range t.rtt.up {
		names = append(names, c.Name)
	}
	return true, names
}

// PollRTT moves what the program printed to the console, and input to the
// program. It returns how many bytes came.
func (t *Target) PollRTT(ctx context.Context) (n int, err error) {
	err = t.do(ctx, func() error {
		if t.flash != nil || t.rtt == nil {
			return nil
		}
		n, err = t.moveRTT(ctx)
		return err
	})
	return n, err
}

// pollRTT is PollRTT within a look at the cores: its errors are those of a
// program that is not there yet.
func (t *Target) pollRTT(ctx context.Context) {
	if t.rtt != nil {
		_, _ = t.moveRTT(ctx)
	}
}

// lost forgets the control block: the program starts again.
func (r *rtt) lost() { r.at, r.from, r.up, r.down = 0, sramBase, nil, nil }

// moveRTT is one round.
func (t *Target) moveRTT(ctx context.Context) (n int, err error) {
	r := t.rtt
	if r.at == 0 {
		if err := t.findRTT(ctx); err != nil || r.at == 0 {
			return 0, err
		}
	}
	if r.channel < len(r.up) {
		if n, err = t.emptyRTT(ctx, r.up[r.channel]); err != nil {
			return n, err
		}
	}
	if r.channel < len(r.down) {
		return n, t.fillRTT(ctx, r.down[r.channel])
	}
	return n, nil
}

// findRTT searches a piece of RAM, a different one each time.
func (t *Target) findRTT(ctx context.Context) error {
	r := t.rtt
	if r.from >= sramBase+sramSize {
		r.from = sramBase
	}
	n := min(rttChunk, sramBase+sramSize-r.from)
	if t.way != nil {
		n = min(n, rttChunk/8) // it goes through a program, as text
	}
	p := make([]byte, n)
	if err := t.eng.read(ctx, 0, r.from, p, t.run == 0); err != nil {
		return err
	}
	for off := 0; ; {
		i := bytes.Index(p[off:], []byte(rttMagic))
		if i < 0 {
			break
		}
		if at := r.from + uint32(off+i); at%4 == 0 {
			if ok, err := t.openRTT(ctx, at); ok || err != nil {
				return err
			}
		}
		off += i + 1
	}
	// Pieces overlap, so that none lies across their border.
	r.from += n
	if r.from < sramBase+sramSize {
		r.from -= uint32(len(rttMagic))
	}
	return nil
}

// openRTT reads the control block at an address; ok is false if it makes no
// sense.
func (t *Target) openRTT(ctx context.Context, at uint32) (ok bool, err error) {
	head := make([]byte, rttHead)
	if err := t.eng.read(ctx, 0, at, head, t.run == 0); err != nil {
		return false, err
	}
	ups, downs := binary.LittleEndian.Uint32(head[16:]), binary.LittleEndian.Uint32(head[20:])
	if ups == 0 || ups > rttMaxBuffers || downs > rttMaxBuffers {
		return false, nil
	}
	p := make([]byte, (ups+downs)*rttDescriptor)
	if err := t.eng.read(ctx, 0, at+rttHead, p, t.run == 0); err != nil {
		return false, nil //nolint:nilerr // it lies at the end of RAM: no control block
	}
	var all []rttChannel
	for i := range ups + downs {
		d := p[i*rttDescriptor:]
		c := rttChannel{
			descriptor: at + rttHead + i*rttDescriptor,
			buffer:     binary.LittleEndian.Uint32(d[4:]), size: binary.LittleEndian.Uint32(d[8:]),
		}
		if c.size != 0 && (!inRAM(c.buffer) || c.size > sramSize || !inRAM(c.buffer+c.size-1)) {
			return false, nil
		}
		c.Name = t.text(ctx, binary.LittleEndian.Uint32(d))
		all = append(all, c)
	}
	t.rtt.at, t.rtt.up, t.rtt.down = at, all[:ups], all[ups:]
	return true, nil
}

// text reads a short name of the program's, as far as it can be shown.
func (t *Target) text(ctx context.Context, at uint32) string {
	p := make([]byte, 32)
	if at == 0 || t.eng.read(ctx, 0, at, p, t.run == 0) != nil {
		return ""
	}
	p, _, _ = bytes.Cut(p, []byte{0})
	for i, b := range p {
		if b < ' ' || b > '~' {
			return string(p[:i])
		}
	}
	return string(p)
}

// offsets reads the offsets of writer and reader of a channel.
func (t *Target) offsets(ctx context.Context, c rttChannel) (wr, rd uint32, err error) {
	var b [8]byte
	if err := t.eng.read(ctx, 0, c.descriptor+rttWriteAt, b[:], t.run == 0); err != nil {
		return 0, 0, err
	}
	wr, rd = binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])
	if wr >= c.size || rd >= c.size {
		t.rtt.lost() // the program is another one now
		return 0, 0, fmt.Errorf("the RTT channel %q is damaged: offsets %d and %d of %d", c.Name, wr, rd, c.size)
	}
	return wr, rd, nil
}

// emptyRTT takes what the program wrote.
func (t *Target) emptyRTT(ctx context.Context, c rttChannel) (int, error) {
	if c.size == 0 {
		return 0, nil
	}
	wr, rd, err := t.offsets(ctx, c)
	if err != nil || wr == rd {
		return 0, err
	}
	n := wr - rd
	if wr < rd {
		n = c.size - rd
	}
	n = min(n, rttMostBytes)
	p := make([]byte, n)
	if err := t.eng.read(ctx, 0, c.buffer+rd, p, t.run == 0); err != nil {
		return 0, err
	}
	if err := t.poke(ctx, c.descriptor+rttReadAt, (rd+n)%c.size); err != nil {
		return 0, err
	}
	t.con.put("rtt", p)
	return len(p), nil
}

// fillRTT gives the program input, as far as there is room.
func (t *Target) fillRTT(ctx context.Context, c rttChannel) error {
	if c.size < 2 {
		return nil
	}
	in := t.con.take(int(c.size))
	if len(in) == 0 {
		return nil
	}
	wr, rd, err := t.offsets(ctx, c)
	if err != nil {
		t.con.giveBack(in)
		return err
	}
	room := (rd + c.size - wr - 1) % c.size
	n := min(uint32(len(in)), room, c.size-wr)
	t.con.giveBack(in[n:])
	if n == 0 {
		return nil
	}
	if err := t.eng.write(ctx, 0, c.buffer+wr, in[:n], t.run == 0); err != nil {
		return err
	}
	return t.poke(ctx, c.descriptor+rttWriteAt, (wr+n)%c.size)
}
