package hazard3

// Revision is a silicon revision of the RP2350. The cores of A2, A3 and A4 are
// the same; the revision is kept for those who ask the core what it is.
type Revision uint8

const (
	A2 Revision = 2
	A3 Revision = 3
	A4 Revision = 4
)

// Config holds the parameters in which RP2350 and the testbench differ.
// Sources: Hazard3 hdl/hazard3_config.vh at commit 86fc4e3f (RP2350), the
// RP2350 datasheet 3.8.8, and Hazard3 test/sim/tb_cxxrtl/config_default.vh.
type Config struct {
	ResetPC, ResetMtvec           uint32
	Misa                          uint32
	Mvendorid, Mimpid, Mconfigptr uint32
	// Zbc says whether clmul, clmulh and clmulr exist.
	Zbc bool
	// PMPRegions is the number of PMP regions; a region is at least
	// 4<<PMPGrain bytes. With PMPGrain above 0 NA4 does not exist.
	PMPRegions int
	PMPGrain   uint
	// PMPHardwired: regions 8 to 10 are those of RP2350.
	PMPHardwired bool
	// PMPSwapRX: bits R and X of pmpcfg change places (erratum RP2350-E6).
	PMPSwapRX bool
	// NumIRQs is the number of external interrupt lines.
	NumIRQs int
	// UserModeNeedsMIE: interrupts need mstatus.MIE in U-mode too (erratum
	// RP2350-E7).
	UserModeNeedsMIE bool
	// FenceIInDebug: fence.i is a no-op in Debug mode and not illegal.
	FenceIInDebug bool
	// Revision is the silicon revision, 0 for the testbench.
	Revision Revision
}

// Silicon returns the parameters of RP2350's cores.
func Silicon(rev Revision) Config {
	return Config{
		ResetPC: 0x00007dfc, ResetMtvec: 0x00007ffc,
		Misa:      0x40901105,
		Mvendorid: 0x00000493, Mimpid: 0x86fc4e3f, Mconfigptr: 0,
		PMPRegions: 11, PMPGrain: 3, PMPHardwired: true, PMPSwapRX: true,
		NumIRQs:          52,
		UserModeNeedsMIE: true,
		Revision:         rev,
	}
}

// Testbench returns the parameters of Hazard3's own testbench.
func Testbench() Config {
	return Config{
		ResetPC: 0x40, ResetMtvec: 0,
		Misa:      0x40901107,
		Mvendorid: 0xdeadbeef, Mimpid: 0x12345678, Mconfigptr: 0x9abcdef0,
		Zbc:        true,
		PMPRegions: 4, PMPGrain: 0,
		NumIRQs:       32,
		FenceIInDebug: true,
	}
}
