package virtual

import "time"

// Stats is what a simulated device has done so far, and what that takes on
// hardware. The difference of two is what happened between them (Sub).
type Stats struct {
	// Transfers are those that ended (in success or a stall), Packets and Bytes
	// what crossed the bus for them. Packets that were answered with NAK do not
	// count.
	Transfers uint64 `json:"transfers"`
	Packets   uint64 `json:"packets"`
	Bytes     uint64 `json:"bytes"`
	// Erases are sectors of 4 KiB, Programs and Reads pages of 256 bytes of
	// flash, as the boot ROM was asked for over USB, Fuses OTP rows programmed.
	Erases   uint64 `json:"erases"`
	Programs uint64 `json:"programs"`
	Reads    uint64 `json:"reads"`
	Fuses    uint64 `json:"fuses"`
	// Enumerations are how often the device came to the bus.
	Enumerations uint64 `json:"enumerations"`
	Time         Times  `json:"time"`
}

// Times are simulated times by cause. They do not overlap, as the boot ROM does
// one thing at a time.
type Times struct {
	// Bus is full-speed USB, Erase and Program are the flash, ROM is what the
	// boot ROM adds for each page, Boot what restarts and the enumerations behind
	// them take.
	Bus     time.Duration `json:"bus_ns"`
	Erase   time.Duration `json:"erase_ns"`
	Program time.Duration `json:"program_ns"`
	ROM     time.Duration `json:"rom_ns"`
	Boot    time.Duration `json:"boot_ns"`
}

// Stats is what was counted so far.
func (c *Clock) Stats() Stats {
	ns := func(picos uint64) time.Duration { return time.Duration(picos / 1000) }
	return Stats{
		Transfers: c.Transfers, Packets: c.Packets, Bytes: c.Bytes, Erases: c.Sectors, Programs: c.Pages, Reads: c.Reads,
		Fuses: c.Fuses, Enumerations: c.Enumerations,
		Time: Times{ns(c.Bus), ns(c.Erase), ns(c.Program), ns(c.ROM), ns(c.Boot)},
	}
}

// Total is the simulated time of all causes together.
func (s Stats) Total() time.Duration {
	t := s.Time
	return t.Bus + t.Erase + t.Program + t.ROM + t.Boot
}

// Sub is what happened since old was taken.
func (s Stats) Sub(old Stats) Stats {
	return Stats{
		Transfers: s.Transfers - old.Transfers, Packets: s.Packets - old.Packets, Bytes: s.Bytes - old.Bytes,
		Erases: s.Erases - old.Erases, Programs: s.Programs - old.Programs, Reads: s.Reads - old.Reads,
		Fuses: s.Fuses - old.Fuses, Enumerations: s.Enumerations - old.Enumerations,
		Time: Times{
			s.Time.Bus - old.Time.Bus, s.Time.Erase - old.Time.Erase, s.Time.Program - old.Time.Program,
			s.Time.ROM - old.Time.ROM, s.Time.Boot - old.Time.Boot,
		},
	}
}
