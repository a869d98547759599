package virtual

import (
	"math"
	"math/bits"
)

// Serial is the UART behind a probe (raspberrypi/debugprobe v2.3.1,
// src/cdc_uart.c and src/autobaud.c). The probe's end has the rate that the host
// sets. Where the target's is another one, what arrives is what a receiver makes
// of such a line.
type Serial struct {
	// Receive takes what the host sends and returns how much of it there was
	// room for.
	Receive func(p []byte) int
	// Rate is the target's rate in baud, 0 while it has none; nil is always that
	// of the probe.
	Rate func() float64
	// Break holds the line to the target low, or lets it go; may be nil.
	Break func(on bool)

	out []byte
	// dtr: a host has the port open. The firmware moves nothing for one that has
	// not.
	dtr bool
	// baud is the rate of the probe's end. auto: it is measured; edges are those
	// seen meanwhile.
	baud  float64
	auto  bool
	edges int
}

const (
	// uartFIFO is what the probe's receiver holds while nobody takes it: the rest
	// is lost.
	uartFIFO = 32
	// serialRoom bounds what is kept for a host that does not read. It is more than
	// the firmware's 4 KiB: a host that is itself simulated stands still at times.
	serialRoom = 64 << 10
	// magicBaud is no rate: it lets the firmware measure the target's.
	magicBaud = 9728
	// enoughEdges is how many edges it looks at before it believes in what it
	// measured: 1-exp(-n/40) is to be more than 0.6.
	enoughEdges = 37
	// defaultBaud is the rate before a host set one.
	defaultBaud = 115200
)

// Send hands the host what the target printed. What does not fit is lost, the
// newest of it.
func (s *Serial) Send(p []byte) {
	target := s.target()
	if s.auto && target > 0 {
		s.edges += edges(p)
		if s.edges >= enoughEdges && math.Abs(target/s.baud-1) > 0.005 {
			s.setRate(target)
		}
	}
	p = heard(p, target, s.rate())
	room := uartFIFO
	if s.dtr {
		room = serialRoom
	}
	s.out = append(s.out, p[:max(0, min(len(p), room-len(s.out)))]...)
}

// give sends the target bytes of the host, and returns how many it took.
func (s *Serial) give(p []byte) int {
	target := s.target()
	if same(s.rate(), target) {
		return s.Receive(p)
	}
	q := heard(p, s.rate(), target)
	if len(q) > 0 && s.Receive(q) == 0 {
		return 0
	}
	return len(p)
}

// code is a new line coding.
func (s *Serial) code(baud uint32) {
	if baud == magicBaud {
		s.auto, s.edges = true, 0
		return
	}
	s.auto = false
	s.setRate(float64(baud))
}

// setRate changes the rate, with which the FIFOs begin anew.
func (s *Serial) setRate(baud float64) {
	s.baud, s.out = baud, s.out[:0]
}

func (s *Serial) rate() float64 {
	if s.baud == 0 {
		return defaultBaud
	}
	return s.baud
}

func (s *Serial) target() float64 {
	if s.Rate == nil {
		return s.rate()
	}
	return s.Rate()
}

// frameBits are those of a byte on the line: a start bit, eight bits, the lowest
// first, and a stop bit.
const frameBits = 10

func framed(b byte) uint16 { return uint16(b)<<1 | 1<<9 }

// edges counts how often the line changes for some bytes.
func edges(p []byte) (n int) {
	for _, b := range p {
		n += bits.OnesCount16((framed(b) ^ (1 | framed(b)<<1)) & (1<<frameBits - 1))
	}
	return n
}

// tolerance is how far apart rates may be for every byte to arrive.
const tolerance = 0.03

// same reports whether rates are near enough, or one of them is none.
func same(a, b float64) bool {
	return a <= 0 || b <= 0 || math.Abs(a/b-1) <= tolerance
}

// heard is what a receiver at one rate makes of bytes sent at another, one behind
// the other: it looks for the begin of a start bit, and then at the line in the
// middle of each of its own bits.
func heard(p []byte, sender, receiver float64) []byte {
	if same(sender, receiver) {
		return p
	}
	level := func(t float64) bool { // t in bits of the sender
		i := int(t)
		return i >= frameBits*len(p) || framed(p[i/frameBits])>>(i%frameBits)&1 != 0
	}
	var out []byte
	bit := sender / receiver // a receiver's bit
	for t := 0.0; ; {
		for int(t) < frameBits*len(p) && level(t) {
			t = math.Floor(t) + 1
		}
		if int(t) >= frameBits*len(p) {
			return out
		}
		var b byte
		for i := range 8 {
			if level(t + (1.5+float64(i))*bit) {
				b |= 1 << i
			}
		}
		out = append(out, b)
		// Behind the middle of the stop bit, and when the line is up again.
		for t += 9.5 * bit; !level(t); {
			t = math.Floor(t) + 1
		}
	}
}
