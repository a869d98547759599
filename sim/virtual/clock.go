package virtual

import "time"

// Clock counts what a board's USB traffic and flash would have cost on hardware,
// in simulated time: the boot ROM neither overlaps them nor does anything else
// meanwhile, so they add up.
type Clock struct {
	// Bus, Erase and Program are picoseconds; ROM is what the boot ROM spends on
	// pages besides.
	Bus, Erase, Program, ROM uint64
	// Packets and Bytes are what crossed the bus, Sectors and Pages what was
	// erased and programmed.
	Packets, Bytes, Sectors, Pages uint64
}

// fullPacket is a bulk packet of 64 bytes: nineteen fit a frame of 1 ms (USB
// 2.0, table 5-9).
const fullPacket = 1_000_000_000 / 19

// overhead is what a transaction costs beyond its data, in bytes.
const overhead = 13

// packet counts a packet with n bytes of data.
func (c *Clock) packet(n int) {
	if c == nil {
		return
	}
	c.Packets++
	c.Bytes += uint64(n)
	c.Bus += uint64(n+overhead) * fullPacket / (packetSize + overhead)
}

func (c *Clock) erased(picos uint64) {
	if c != nil {
		c.Sectors++
		c.Erase += picos
	}
}

// The boot ROM takes about 1.2 ms for a page it writes and 0.6 ms for one it
// reads; this is what the bus and the flash do not explain of it.
const (
	romWriteTime = 590_000_000
	romReadTime  = 390_000_000
)

func (c *Clock) programmed(picos uint64) {
	if c != nil {
		c.Pages++
		c.Program += picos
		c.ROM += romWriteTime
	}
}

func (c *Clock) read() {
	if c != nil {
		c.ROM += romReadTime
	}
}

// fuseTime is what the ROM takes for an OTP row.
const fuseTime = 200_000_000

func (c *Clock) fused() {
	if c != nil {
		c.Program += fuseTime
	}
}

// Total is everything together.
func (c *Clock) Total() time.Duration {
	return time.Duration((c.Bus + c.Erase + c.Program + c.ROM) / 1000)
}
