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

// packet performs one packet with the retries the host asked for; the upper
// bits of the result are the errors of the answer.
func (p *Probe) packet(r Request, w uint32) (v uint32, ack uint8) {
	for try := 0; ; try++ {
		v, ack = p.line.Transfer(r, w)
		if ack != AckWait || try >= p.waitRetry {
			break
		}
	}
	if ack == AckNone {
		// Nobody drives the line: what is sampled is all ones.
		return 0, AckNone
	}
	if ack == AckOK && r.Read() && p.line.Spoiled() {
		return v, ack | ackProtocolError
	}
	return v, ack
}

// transfer answers DAP_Transfer. Reads of access ports are posted: the probe
// fetches the last one with RDBUFF. A packet that ends in writes is checked by
// a read of RDBUFF, as the firmware does.
func (p *Probe) transfer(r *request) []byte {
	r.u8() // index of the DAP in a JTAG chain
	n := int(r.u8())
	var data []byte
	done, ack := 0, uint8(0)
	posted, check := false, false
	flush := func() bool {
		if !posted {
			return true
		}
		posted = false
		var v uint32
		if v, ack = p.packet(rdbuffRead, 0); ack != AckOK {
			return false
		}
		data = binary.LittleEndian.AppendUint32(data, v)
		return true
	}
	ok := true
	for done < n && ok {
		bits := r.u8()
		if r.short {
			break
		}
		q := Request(bits & 0xf)
		check = false
		switch {
		case q.Read() && bits&xferMatchValue != 0:
			ok = flush() && p.match(q, r.u32(), &ack)
		case q.Read() && q.AP():
			var v uint32
			if v, ack = p.packet(q, 0); ack != AckOK {
				ok = false
				break
			}
			if posted {
				data = binary.LittleEndian.AppendUint32(data, v)
			}
			posted = true
		case q.Read():
			var v uint32
			if ok = flush(); !ok {
				break
			}
			if v, ack = p.packet(q, 0); ack != AckOK {
				ok = false
				break
			}
			data = binary.LittleEndian.AppendUint32(data, v)
		default:
			w := r.u32()
			if ok = flush(); !ok {
				break
			}
			if bits&xferMatchMask != 0 {
				p.matchMask, ack = w, AckOK
				break
			}
			_, ack = p.packet(q, w)
			ok = ack == AckOK
			check = true
		}
		if ok {
			done++
		}
	}
	// What was not done is skipped, so that a following command is found.
	for i := done + 1; i < n && !r.short && !ok; i++ {
		bits := r.u8()
		if bits&2 == 0 || bits&xferMatchValue != 0 {
			r.u32()
		}
	}
	if ok && posted {
		if !flush() {
			done--
		}
	} else if ok && check {
		_, ack = p.packet(rdbuffRead, 0)
	}
	return append([]byte{dapTransfer, uint8(done), ack}, data...)
}

// match reads until the masked value appears or the retries are spent.
func (p *Probe) match(q Request, want uint32, ack *uint8) bool {
	var v uint32
	if q.AP() {
		if _, *ack = p.packet(q, 0); *ack != AckOK {
			return false
		}
	}
	for try := 0; ; try++ {
		if v, *ack = p.packet(q, 0); *ack != AckOK {
			return false
		}
		if v&p.matchMask == want {
			return true
		}
		if try >= p.matchRetry {
			*ack |= ackMismatch
			return false
		}
	}
}

// transferBlock answers DAP_TransferBlock: many accesses to one register.
func (p *Probe) transferBlock(r *request) []byte {
	r.u8()
	n := int(r.u16())
	q := Request(r.u8() & 0xf)
	var data []byte
	done, ack := 0, uint8(0)
	answer := func() []byte {
		return append([]byte{dapTransferBlock, uint8(done), uint8(done >> 8), ack}, data...)
	}
	if r.short || n == 0 {
		return answer()
	}
	if !q.Read() {
		for done < n {
			w := r.u32()
			if r.short {
				return answer()
			}
			if _, ack = p.packet(q, w); ack != AckOK {
				r.bytes(4 * (n - done - 1))
				return answer()
			}
			done++
		}
		_, ack = p.packet(rdbuffRead, 0)
		return answer()
	}
	// A block that does not fit in the answer is a fault of the host.
	n = min(n, (p.id.PacketSize-4)/4)
	if q.AP() {
		if _, ack = p.packet(q, 0); ack != AckOK {
			return answer()
		}
	}
	for done < n {
		next := q
		if q.AP() && done == n-1 {
			next = rdbuffRead
		}
		var v uint32
		if v, ack = p.packet(next, 0); ack != AckOK {
			return answer()
		}
		data = binary.LittleEndian.AppendUint32(data, v)
		done++
	}
	return answer()
}
