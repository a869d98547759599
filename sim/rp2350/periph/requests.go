package periph

// Requests are the data request lines of the peripherals to the DMA controller
// (datasheet 12.6.4), as levels: a line is high while the peripheral would take
// or give one more item. A transfer changes the FIFO and with it the level, so a
// level that is looked at before each transfer is as exact as credits.
type Requests struct {
	level uint64
	rise  func(n int)
}

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

// OnRise calls f when line n goes high.
func (r *Requests) OnRise(f func(n int)) { r.rise = f }

// High reports whether line n is high.
func (r *Requests) High(n int) bool { return r.level>>(n&63)&1 != 0 }

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
