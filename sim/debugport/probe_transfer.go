package debugport

import "encoding/binary"

// Bits of a transfer request beyond those of Request.
const (
	xferMatchValue uint8 = 1 << 4
	xferMatchMask  uint8 = 1 << 5
	xferTimestamp  uint8 = 1 << 7
)

// rdbuffRead is the request that fetches a posted read.
const rdbuffRead Request = 0xe

// transfer is one DAP_Transfer under way.
type transfer struct {
	p    *Probe
	out  []byte
	done uint8
	ack  uint8
	// posted: the result of a read of an access port is still to be fetched;
	// check: the last was a write, whose
	// failure shows with the next packet.
	posted, check bool
}

func (t *transfer) put(v uint32) { t.out = binary.LittleEndian.AppendUint32(t.out, v) }

// do performs a packet; false if it was not acknowledged.
func (t *transfer) do(r Request, w uint32) (v uint32, ok bool) {
	v, t.ack = t.p.packet(r, w)
	return v, t.ack == AckOK
}

// flush fetches a posted read.
func (t *transfer) flush() bool {
	if !t.posted {
		return true
	}
	t.posted = false
	v, ok := t.do(rdbuffRead, 0)
	if ok {
		t.put(v)
	}
	return ok
}

func (t *transfer) stamp(bits uint8) {
	if bits&xferTimestamp != 0 {
		t.put(t.p.timestamp())
	}
}

// transfer answers DAP_Transfer. Reads of access ports are posted: each fetches
// the result of the one before, and the probe the last one with RDBUFF. A packet
// that ends in a write is checked by a read of RDBUFF.
func (p *Probe) transfer(r *request) []byte {
	r.u8() // index of the DAP in a JTAG chain
	n := r.u8()
	t := &transfer{p: p}
	left := n
	for ; left > 0; left-- {
		bits := r.u8()
		if r.short || !t.one(bits, r) {
			left--
			break
		}
		t.done++
	}
	// What was not done is skipped, so that a following command is found.
	for ; left > 0 && !r.short; left-- {
		if bits := r.u8(); bits&2 == 0 || bits&xferMatchValue != 0 {
			r.u32()
		}
	}
	if t.ack == AckOK {
		if t.posted {
			t.flush()
		} else if t.check {
			t.do(rdbuffRead, 0)
		}
	}
	return append([]byte{dapTransfer, t.done, t.ack}, t.out...)
}

// one performs one request of a transfer.
func (t *transfer) one(bits uint8, r *request) bool {
	q := Request(bits & 0xf)
	if !q.Read() {
		w := r.u32()
		if r.short || !t.flush() {
			return false
		}
		if bits&xferMatchMask != 0 {
			t.p.matchMask, t.ack = w, AckOK
			return true
		}
		_, ok := t.do(q, w)
		if ok {
			t.stamp(bits)
			t.check = true
		}
		return ok
	}
	t.check = false
	if bits&xferMatchValue != 0 {
		want := r.u32()
		return !r.short && t.flush() && t.match(q, want)
	}
	if !q.AP() {
		if !t.flush() {
			return false
		}
		v, ok := t.do(q, 0)
		if ok {
			t.stamp(bits)
			t.put(v)
		}
		return ok
	}
	v, ok := t.do(q, 0)
	if !ok {
		return false
	}
	if t.posted {
		t.put(v)
	}
	t.stamp(bits)
	t.posted = true
	return true
}

// match reads until the masked value appears or the retries are spent.
func (t *transfer) match(q Request, want uint32) bool {
	if q.AP() {
		if _, ok := t.do(q, 0); !ok {
			return false
		}
	}
	for try := 0; ; try++ {
		v, ok := t.do(q, 0)
		if !ok {
			return false
		}
		if v&t.p.matchMask == want {
			return true
		}
		if !t.p.retry(try, t.p.matchRetry) {
			t.ack |= ackMismatch
			return false
		}
	}
}

// transferBlock answers DAP_TransferBlock: many accesses to one register.
func (p *Probe) transferBlock(r *request) []byte {
	r.u8()
	n := int(r.u16())
	q := Request(r.u8() & 0xf)
	t := &transfer{p: p}
	done := 0
	switch {
	case r.short || n == 0:
	case q.Read():
		// A block that does not fit in the answer is a fault of the host.
		done = t.readBlock(q, min(n, (p.id.PacketSize-4)/4))
	default:
		done = t.writeBlock(q, n, r)
	}
	return append([]byte{dapTransferBlock, uint8(done), uint8(done >> 8), t.ack}, t.out...)
}

func (t *transfer) writeBlock(q Request, n int, r *request) (done int) {
	for done < n {
		w := r.u32()
		if r.short {
			return done
		}
		if _, ok := t.do(q, w); !ok {
			r.bytes(4 * (n - done - 1))
			return done
		}
		done++
	}
	t.do(rdbuffRead, 0)
	return done
}

func (t *transfer) readBlock(q Request, n int) (done int) {
	if q.AP() {
		if _, ok := t.do(q, 0); !ok {
			return 0
		}
	}
	for ; done < n; done++ {
		next := q
		if q.AP() && done == n-1 {
			next = rdbuffRead
		}
		v, ok := t.do(next, 0)
		if !ok {
			return done
		}
		t.put(v)
	}
	return done
}
