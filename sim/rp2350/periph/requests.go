package periph

// Requests are the data request lines of the peripherals to the DMA controller
// (datasheet 12.6.4). Most are levels: a line is high while the peripheral would
// take or give one more item. A transfer changes the FIFO and with it the level,
// so a level that is looked at before each transfer is as exact as credits. Some
// sources have no FIFO and make pulses; those are counted until they are taken.
type Requests struct {
	level   uint64
	pulses  [64]uint8
	watched uint64
	rise    func(n int)
	watch   [64]func()
	deaf    bool // the controller's clock is gated
}

// maxPulses is how many requests a channel remembers (datasheet 12.6.4.2: the
// credit counter has six bits).
const maxPulses = 63

// Data request numbers (datasheet table in 12.6.4.1).
const (
	DREQPIO0TX0   = 0
	DREQSPI0TX    = 24
	DREQUART0TX   = 28
	DREQPWMWrap0  = 32
	DREQI2C0TX    = 44
	DREQADC       = 48
	DREQXIPStream = 49
	DREQXIPQMITX  = 50
	DREQXIPQMIRX  = 51
	DREQHSTX      = 52
	DREQCoreSight = 53
	DREQSHA256    = 54
)

// OnRise calls f when line n goes high or pulses.
func (r *Requests) OnRise(f func(n int)) { r.rise = f }

// High reports whether line n asks for a transfer.
func (r *Requests) High(n int) bool { return r.level>>(n&63)&1 != 0 || r.pulses[n&63] != 0 }

// Take uses up one pulse of line n, if it is one that pulses.
func (r *Requests) Take(n int) {
	if r.pulses[n&63] != 0 {
		r.pulses[n&63]--
	}
}

// Watch says whether somebody waits for line n; sources that would need an
// event for each pulse make none otherwise. Old pulses are forgotten.
func (r *Requests) Watch(n int, on bool) {
	n &= 63
	r.pulses[n] = 0
	if r.Watched(n) == on {
		return
	}
	r.watched ^= 1 << n
	if f := r.watch[n]; f != nil {
		f()
	}
}

// Watched reports whether somebody waits for line n.
func (r *Requests) Watched(n int) bool { return r.watched>>(n&63)&1 != 0 }

// onWatch calls f when line n begins or ceases to be watched.
func (r *Requests) onWatch(n int, f func()) { r.watch[n] = f }

// Pulse makes one request on line n.
func (r *Requests) Pulse(n int) {
	if r.deaf || !r.Watched(n) || r.pulses[n] == maxPulses {
		return
	}
	r.pulses[n]++
	if r.rise != nil {
		r.rise(n)
	}
}

// Set drives line n.
func (r *Requests) Set(n int, high bool) {
	b := uint64(1) << n
	switch {
	case !high:
		r.level &^= b
	case r.level&b == 0:
		r.level |= b
		if r.rise != nil {
			r.rise(n)
		}
	}
}
