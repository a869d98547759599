package virtual

import "time"

// Clock counts what a device's USB traffic and flash would have cost on hardware,
// in simulated time: the boot ROM neither overlaps them nor does anything else
// meanwhile, so they add up. The figures are typical ones of full speed, of
// W25Q…JV flash and of the boot ROM.
type Clock struct {
	// Bus, Erase and Program are picoseconds; ROM is what the boot ROM spends on
	// pages besides, Boot what restarting and enumerating again takes.
	Bus, Erase, Program, ROM, Boot uint64
	// Transfers, Packets and Bytes are what crossed the bus, Sectors, Pages and
	// Reads what was erased, programmed and read of flash, in sectors and pages,
	// Fuses the OTP rows programmed, Enumerations how often the device came to
	// the bus.
	Transfers, Packets, Bytes, Sectors, Pages, Reads, Fuses, Enumerations uint64

	// Pace, if set, is the time that passes: devices then wait until what they
	// did has had its time, and do not get ahead of it by more than a frame.
	Pace func() time.Duration
	// busy is when the time of what was done ends, in picoseconds.
	busy uint64
}

// Again is the account for a board whose time starts anew.
func (c Clock) Again() Clock {
	c.busy = 0
	return c
}

// picos turns a time of Pace into picoseconds.
func picos(d time.Duration) uint64 { return uint64(max(d, 0)) * 1000 }

// frame is 1 ms, in picoseconds.
const frame = 1_000_000_000

// spend lets time be taken, and adds it to a cause.
func (c *Clock) spend(cause *uint64, n uint64) {
	*cause += n
	if c.Pace != nil {
		c.busy = max(c.busy, picos(c.Pace())) + n
	}
}

// waits reports whether the device has to wait for its time.
func (c *Clock) waits() bool {
	return c != nil && c.Pace != nil && c.busy > picos(c.Pace())+frame
}

// fullPacket is a bulk packet of 64 bytes: nineteen fit a frame of 1 ms (USB
// 2.0, table 5-9).
const fullPacket = frame / 19

// overhead is what a transaction costs beyond its data, in bytes.
const overhead = 13

// packetTime is what a packet with n bytes of data takes on the bus.
func packetTime(n int) uint64 { return uint64(n+overhead) * fullPacket / (packetSize + overhead) }

// packet counts a packet with n bytes of data.
func (c *Clock) packet(n int) {
	if c == nil {
		return
	}
	c.Packets++
	c.Bytes += uint64(n)
	c.spend(&c.Bus, packetTime(n))
}

// transfer counts a transfer that is complete.
func (c *Clock) transfer() {
	if c != nil {
		c.Transfers++
	}
}

func (c *Clock) erased(picos uint64) {
	if c != nil {
		c.Sectors++
		c.spend(&c.Erase, picos)
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
		c.spend(&c.Program, picos)
		c.spend(&c.ROM, romWriteTime)
	}
}

func (c *Clock) read() {
	if c != nil {
		c.Reads++
		c.spend(&c.ROM, romReadTime)
	}
}

// fuseTime is what the ROM takes for an OTP row.
const fuseTime = 200_000_000

func (c *Clock) fused() {
	if c != nil {
		c.Fuses++
		c.spend(&c.Program, fuseTime)
	}
}

// bootTime is a restart up to the end of the enumeration that follows.
const bootTime = 1200 * time.Millisecond

// enumerated counts that the device came to the bus; again says that it was
// there before, so that somebody waited for it.
func (c *Clock) enumerated(again bool) {
	c.Enumerations++
	if again {
		c.Boot += picos(bootTime)
	}
}

// Total is everything together.
func (c *Clock) Total() time.Duration { return c.Stats().Total() }
