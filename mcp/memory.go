package mcp

import (
	"fmt"
	"strconv"

	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/profiles"
)

// otpStart and otpEnd are the windows of the one-time-programmable memory: its
// registers and its data in four views (RP2350 datasheet, 2.2.4, "OTP_BASE" to
// the end of "OTP_DATA_RAW_GUARDED"). A read of a guarded row can lock up a core,
// a write burns for ever. Nothing here touches them.
const (
	otpStart = 0x40120000
	otpEnd   = 0x40140000
)

// plainMemory are the ranges that can be read without a side effect: ROM, flash
// and RAM of the session's chip.
func plainMemory(profile string) []gdbsync.MemoryRegion {
	if profile == profiles.NativeAMD64 {
		return nil // a process has no registers with side effects
	}
	var out []gdbsync.MemoryRegion
	// The simulator runs programs of both kinds of machines.
	for _, name := range []string{profile, profiles.RP2350} {
		p, err := profiles.Load(name)
		if err != nil {
			continue
		}
		for _, m := range p.Chip.Memory {
			r := gdbsync.MemoryRegion{Start: uint64(m.Base), End: uint64(m.Base) + uint64(m.Size)}
			if m.Kind != "io" && !overlaps(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

func overlaps(all []gdbsync.MemoryRegion, r gdbsync.MemoryRegion) bool {
	for _, o := range all {
		if r.Start < o.End && o.Start < r.End {
			return true
		}
	}
	return false
}

// ioMemory are the ranges of registers (RP2350 datasheet, 2.2: APB and AHB
// peripherals, SIO, the cores' private peripherals; the testbench's own).
var ioMemory = []gdbsync.MemoryRegion{
	{Start: 0x40000000, End: 0x50600000}, {Start: 0xd0000000, End: 0xd0040000}, {Start: 0xe0000000, End: 0xe0100000}, {Start: 0x80000000, End: 0x80001000},
}

// within says whether a range lies in one of several, which may touch.
func within(all []gdbsync.MemoryRegion, start, n uint64) bool {
	end := start + n
	if end < start {
		return false
	}
	for start < end {
		next := start
		for _, r := range all {
			if start >= r.Start && start < r.End {
				next = r.End
			}
		}
		if next == start {
			return false
		}
		start = next
	}
	return true
}

func touchesOTP(start, n uint64) bool { return start < otpEnd && start+n > otpStart }

// parseAddress reads an address: a number, decimal or 0x.
func parseAddress(text string) (uint64, error) {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, badArgument("address", "a number such as 0x20000000")
	}
	return v, nil
}

// checkMemory refuses what is not to be touched without mmio_read.
func (p *Place) checkMemory(start, n uint64) error {
	if p.native() {
		return nil
	}
	if touchesOTP(start, n) {
		return otpRefused(start)
	}
	if !within(plainMemory(p.Record.Profile), start, n) {
		f := refused("only ROM, flash and RAM are read here: reading a register can change something", fmt.Sprintf("%#x, %d bytes", start, n))
		f.Try = []string{"mmio_read, on the level assist"}
		return f
	}
	return nil
}

func otpRefused(start uint64) error {
	return refused("the one-time-programmable memory is not touched", fmt.Sprintf("%#x", start))
}
