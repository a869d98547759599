package debugport

import (
	"math/bits"
	"time"
)

// edge is one clock of the probe.
func (p *Probe) edge(level, driven bool) {
	p.line.Clock(level, driven)
	p.micros += 1e6 / float64(p.clock)
	p.line.dp.spend(time.Second / time.Duration(p.clock))
}

// timestamp is the test domain timer: microseconds, as the clocks made so far
// took them.
func (p *Probe) timestamp() uint32 { return uint32(uint64(p.micros)) }

// send drives n bits, the lowest first.
func (p *Probe) send(v uint64, n int) {
	for range n {
		p.edge(v&1 != 0, true)
		v >>= 1
	}
}

// receive samples n bits; release lets n clocks pass in which nobody drives.
func (p *Probe) receive(n int) (v uint64) {
	for i := range n {
		level := p.line.Level()
		if level {
			v |= 1 << i
		}
		p.edge(level, false)
	}
	return v
}

func (p *Probe) release(n int) { p.receive(n) }

// swd performs one packet at the wire. ack holds the acknowledge, and
// ackProtocolError instead if the parity of the data was wrong.
func (p *Probe) swd(r Request, w uint32) (v uint32, ack uint8) {
	parity := uint64(bits.OnesCount8(uint8(r)&0xf) & 1)
	p.send(1|uint64(r&0xf)<<1|parity<<5|1<<7, 8)
	p.release(p.turnaround)
	ack = uint8(p.receive(3))
	switch {
	case ack == AckOK && r.Read():
		d := p.receive(33)
		p.release(p.turnaround)
		v = uint32(d)
		if bits.OnesCount32(v)&1 != int(d>>32) {
			ack = ackProtocolError
		}
		p.send(0, p.idle)
	case ack == AckOK:
		p.release(p.turnaround)
		p.send(uint64(w)|uint64(bits.OnesCount32(w)&1)<<32, 33)
		p.send(0, p.idle)
	case ack == AckWait || ack == AckFault:
		switch {
		case p.dataPhase && r.Read():
			p.release(33 + p.turnaround)
		case p.dataPhase:
			p.release(p.turnaround)
			p.send(0, 33)
		default:
			p.release(p.turnaround)
		}
	default:
		// Nobody we know: keep off the line for as long as a read would take.
		p.release(p.turnaround + 33)
	}
	return v, ack
}

// maxRetries bounds the retries within one command, of WAIT and of values to
// match: a host may ask for 65535 of each, one within the other.
const maxRetries = 1 << 17

// retry reports whether one more retry is allowed, the last of which was try.
func (p *Probe) retry(try, limit int) bool {
	p.retries++
	return try < limit && p.retries < maxRetries
}

// packet is swd with the retries of WAIT that the host asked for.
func (p *Probe) packet(r Request, w uint32) (v uint32, ack uint8) {
	for try := 0; ; try++ {
		v, ack = p.swd(r, w)
		if ack != AckWait || !p.retry(try, p.waitRetry) {
			return v, ack
		}
	}
}
