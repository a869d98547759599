package periph

import "github.com/stem-hw/stem-hw/sim/timebase"

// ResetCause says what asks for a reset of the chip.
type ResetCause uint8

const (
	// ResetWatchdogTimer: the watchdog's counter reached 0.
	ResetWatchdogTimer ResetCause = iota + 1
	// ResetWatchdogForce: WATCHDOG.CTRL.TRIGGER was written.
	ResetWatchdogForce
	// ResetChip: a chip-level reset (POWMAN, RUN pin, power): scratch registers
	// and reasons are lost too.
	ResetChip
)

// System is what the blocks that rule the chip (CLOCKS, RESETS, PSM, WATCHDOG,
// POWMAN, SYSCFG) may do to it. Calls take effect at Env.Now, except Reset,
// which takes place before the next instruction of any core.
type System interface {
	// SysClock tells that clk_sys runs at r from now on.
	SysClock(r timebase.Rate)
	// SysRate is the present frequency of clk_sys.
	SysRate() timebase.Rate
	// HoldBlocks tells which blocks RESETS holds in reset; bits as in
	// RESETS.RESET. A block is reset (Block.Reset) when its bit becomes 1 and
	// reads 0 and loses writes while it is.
	HoldBlocks(mask uint32)
	// HoldCore tells that PSM holds a core in reset (FRCE_OFF.PROCn), or lets
	// it start at its reset vector again.
	HoldCore(core int, held bool)
	// Reset asks for a reset of the parts that psm selects (bits as in
	// PSM.WDSEL). ResetChip resets everything whatever psm is.
	Reset(cause ResetCause, psm uint32)
	// CountBus tells that bus accesses are to be counted, or no more.
	CountBus(on bool)
	// Dormant tells that clk_sys has no source until something wakes it.
	Dormant()
	// PowerDown tells that the core domain is to be switched off as soon as both
	// cores wait, PowerUp that it is to be switched on. Memories tells which
	// power domains of memory have lost their contents.
	PowerDown()
	PowerUp()
	Memories(lost MemoryDomain)
}

// MemoryDomain names power domains of memory (datasheet 6.2.1).
type MemoryDomain uint32

const (
	// DomainSRAM1 is the upper half of the main SRAM and the two small ones.
	DomainSRAM1 MemoryDomain = 1 << iota
	// DomainSRAM0 is the lower half.
	DomainSRAM0
	// DomainXIP is the cache of XIP.
	DomainXIP
)

// Pads is the pin matrix as SIO sees it: bit n is GPIOn; bits 56 and 57 are USB
// DP and DM, 58 QSPI SCK, 59 CSn, 60..63 SD0..SD3 (datasheet 3.1.3: the upper
// word is GPIO_HI).
type Pads interface {
	// DriveSIO sets the levels and output enables of function SIO.
	DriveSIO(out, oe uint64)
	// Inputs are the levels that SIO reads.
	Inputs() uint64
}
