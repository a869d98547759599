package dap

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Acknowledges.
const (
	AckOK       uint8 = 1
	AckWait     uint8 = 2
	AckFault    uint8 = 4
	AckNone     uint8 = 7
	AckProtocol uint8 = 1 << 3 // the parity of the data was wrong
	ackMismatch uint8 = 1 << 4
)

// Request is one access to the debug port or to an access port.
type Request struct {
	// Bits: APnDP (0), RnW (1) and A[3:2] (3:2).
	Bits uint8
	// Value is what a write writes.
	Value uint32
	// Apart makes it the first of a packet: what came before has had its effect
	// by then.
	Apart bool
}

// Bits of a Request.
const (
	BitAP   uint8 = 1 << 0
	BitRead uint8 = 1 << 1
)

// Read reports whether it is a read.
func (r Request) Read() bool { return r.Bits&BitRead != 0 }

// TransferError is an access that was not acknowledged with OK.
type TransferError struct {
	// Done is how many requests were certainly performed before it.
	Done int
	Ack  uint8
}

// Error describes the acknowledge.
func (e *TransferError) Error() string {
	what := fmt.Sprintf("an acknowledge of %#x", e.Ack)
	switch e.Ack {
	case AckWait:
		what = "WAIT"
	case AckFault:
		what = "FAULT"
	case AckNone, 0:
		what = "no acknowledge"
	case AckProtocol, AckProtocol | AckOK:
		what = "data with wrong parity"
	}
	return fmt.Sprintf("access %d to the debug port: %s", e.Done, what)
}

// packet is one packet of requests under way.
type packet struct {
	id    uint8
	first int // index of its first request
	count int
	reads int
}

// Run performs requests in order, with as many packets outstanding as the probe
// holds, and returns what the reads read. A *TransferError ends it.
func (p *Probe) Run(ctx context.Context, reqs []Request) ([]uint32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &run{p: p, ctx: ctx, reqs: reqs, read: make([]uint32, 0, countReads(reqs))}
	depth := p.Depth()
	for r.next < len(reqs) && r.failed == nil {
		if len(r.flying) >= depth {
			r.collect()
			continue
		}
		if ctx.Err() != nil {
			r.failed = ctx.Err()
			break
		}
		raw, pk := p.build(reqs, r.next)
		if err := p.send(ctx, raw); err != nil {
			r.failed = err
			break
		}
		r.flying = append(r.flying, pk)
		r.next += pk.count
	}
	for len(r.flying) > 0 && p.broken == nil {
		r.collect()
	}
	if r.failed == nil && p.broken != nil {
		r.failed = p.broken
	}
	return r.read, r.failed
}

func countReads(reqs []Request) (n int) {
	for _, r := range reqs {
		if r.Read() {
			n++
		}
	}
	return n
}

// run is a call of Run under way.
type run struct {
	p      *Probe
	ctx    context.Context
	reqs   []Request
	next   int
	flying []packet
	read   []uint32
	failed error
}

// collect takes the answer to the oldest packet.
func (r *run) collect() {
	pk := r.flying[0]
	r.flying = r.flying[1:]
	a, err := r.p.receive(r.ctx, pk.id)
	if err != nil {
		r.failed = err
		return
	}
	done, ack, data, err := parse(a, pk)
	if err != nil {
		r.failed = r.p.breaks(err)
		return
	}
	if r.failed != nil {
		return // executed behind an error: no result
	}
	r.read = append(r.read, data...)
	if ack == AckOK && done == pk.count {
		return
	}
	if ack == AckOK {
		// Nobody said why it ended early.
		ack = AckProtocol
	}
	if last := pk.first + pk.count - 1; done == pk.count && r.reqs[last].Read() {
		done-- // the last read failed when it was fetched
	}
	r.failed = &TransferError{Done: pk.first + done, Ack: ack}
}

// parse takes the answer to a packet apart.
func parse(a []byte, pk packet) (done int, ack uint8, data []uint32, err error) {
	head := 3
	if pk.id == cmdTransferBlock {
		head = 4
	}
	bad := func(why string) (int, uint8, []uint32, error) {
		return 0, 0, nil, fmt.Errorf("%w: %s in % x", ErrAnswer, why, a[:min(len(a), 8)])
	}
	if len(a) < head {
		return bad("too few bytes")
	}
	done = int(a[1])
	if head == 4 {
		done |= int(a[2]) << 8
	}
	ack = a[head-1]
	if done > pk.count {
		return bad(fmt.Sprintf("%d of %d accesses", done, pk.count))
	}
	body := a[head:]
	n := pk.reads
	if done < pk.count || ack != AckOK {
		// The reads among those that were done are there; the last one may have
		// failed when it was fetched.
		n = min(n, len(body)/4)
	}
	if len(body) < 4*n {
		return bad(fmt.Sprintf("%d bytes of data for %d reads", len(body), n))
	}
	data = make([]uint32, n)
	for i := range data {
		data[i] = binary.LittleEndian.Uint32(body[4*i:])
	}
	return done, ack, data, nil
}

// build packs requests from first on into one packet: a block if enough of them
// are alike, else a list.
func (p *Probe) build(reqs []Request, first int) ([]byte, packet) {
	size := p.info.PacketSize
	maxReads := min((size-3)/4, 255)
	maxWrites := (size - 3) / 5
	alike := 1
	for first+alike < len(reqs) && alike < 0xffff && reqs[first+alike].Bits == reqs[first].Bits && !reqs[first+alike].Apart {
		alike++
	}
	block := 0
	if reqs[first].Read() {
		if alike >= maxReads {
			block = min(alike, (size-4)/4)
		}
	} else if alike > maxWrites {
		block = min(alike, (size-5)/4)
	}
	if block > 0 {
		return buildBlock(reqs[first:first+block], first)
	}
	return p.buildList(reqs, first, maxReads)
}

// buildBlock is DAP_TransferBlock.
func buildBlock(reqs []Request, first int) ([]byte, packet) {
	raw := binary.LittleEndian.AppendUint16([]byte{cmdTransferBlock, 0}, uint16(len(reqs)))
	raw = append(raw, reqs[0].Bits)
	pk := packet{id: cmdTransferBlock, first: first, count: len(reqs)}
	if reqs[0].Read() {
		pk.reads = len(reqs)
		return raw, pk
	}
	for _, r := range reqs {
		raw = binary.LittleEndian.AppendUint32(raw, r.Value)
	}
	return raw, pk
}

// buildList is DAP_Transfer.
func (p *Probe) buildList(reqs []Request, first, maxReads int) ([]byte, packet) {
	raw := []byte{cmdTransfer, 0, 0}
	pk := packet{id: cmdTransfer, first: first}
	for _, r := range reqs[first:] {
		n := 5
		if r.Read() {
			n = 1
		}
		if pk.count == 255 || r.Apart && pk.count > 0 || len(raw)+n > p.info.PacketSize || r.Read() && pk.reads == maxReads {
			break
		}
		raw = append(raw, r.Bits)
		if r.Read() {
			pk.reads++
		} else {
			raw = binary.LittleEndian.AppendUint32(raw, r.Value)
		}
		pk.count++
	}
	raw[2] = byte(pk.count)
	return raw, pk
}

// parity is the parity bit of a word.
func parity(v uint32) byte { return byte(bits.OnesCount32(v) & 1) }
