package cortexm33

// Attribution is the security attribution of an address, as an implementation-defined attribution
// unit gives it.
type Attribution uint8

const (
	// AttrSecure: Secure, not callable from Non-secure code.
	AttrSecure Attribution = iota
	// AttrNSC: Secure, Non-secure callable.
	AttrNSC
	// AttrNonSecure: Non-secure.
	AttrNonSecure
	// AttrExempt: not checked; an access has the security state of the core.
	AttrExempt
)

// Config holds the parameters in which implementations of the core differ.
type Config struct {
	// NumIRQs is the number of external interrupts (at most 64) and PrioBits
	// the number of priority bits.
	NumIRQs  int
	PrioBits uint
	// CPUID is the value of the register of that name.
	CPUID uint32
	// InitVTOR is the Secure vector table address after reset, InitVTORNS the
	// Non-secure one.
	InitVTOR, InitVTORNS uint32
	// ResetPC, if not 0, is where the core starts after reset, without a look at
	// the vector table: a boot ROM that the machine emulates.
	ResetPC uint32
	// MPURegions and SAURegions are the numbers of regions of each unit.
	MPURegions, SAURegions int
	// IDAU attributes an address; nil means Non-secure everywhere, so that the
	// SAU alone decides.
	IDAU func(addr uint32) Attribution
	// CalibS and CalibNS are the SYST_CALIB values, and RefTicks tells how many
	// ticks the external SysTick reference has made at a cycle; nil means there
	// is no reference clock.
	CalibS, CalibNS uint32
	RefTicks        func(cycle uint64) uint64
	// RefCycle is the inverse of RefTicks: the first cycle at which the
	// reference has made n ticks.
	RefCycle func(ticks uint64) uint64
	// EPPB is whether the RP2350's registers at 0xe0080000 exist.
	EPPB bool
	// Coprocessors answers coprocessor instructions by number; nil entries make
	// them fault with NOCP. 10 and 11 are the FPU's and stay nil.
	Coprocessors [8]Coprocessor
	// Breakpoints and Watchpoints are the numbers of FPB and DWT comparators.
	Breakpoints, Watchpoints int
}

// RP2350 returns the parameters of the cores of that chip (datasheet 3.7).
func RP2350() Config {
	return Config{
		NumIRQs: 52, PrioBits: 4, CPUID: 0x411fd210,
		MPURegions: 8, SAURegions: 8,
		IDAU:   RP2350IDAU,
		CalibS: 100000, CalibNS: 100000,
		EPPB:        true,
		Breakpoints: 8, Watchpoints: 4,
	}
}

// Bare returns the parameters of a plain Cortex-M33 with its vectors at vtor
// and no attribution unit: the machine that this package's tests use.
func Bare(vtor uint32) Config {
	return Config{
		NumIRQs: 52, PrioBits: 4, CPUID: 0x411fd210,
		InitVTOR: vtor, InitVTORNS: vtor,
		MPURegions: 8, SAURegions: 8,
		Breakpoints: 8, Watchpoints: 4,
	}
}
