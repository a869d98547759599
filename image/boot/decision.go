package boot

// Outcome is what the boot ROM ends up doing.
type Outcome string

// The outcomes.
const (
	// OutcomeBoot: an image is started.
	OutcomeBoot Outcome = "boot"
	// OutcomeSwitch: the chip restarts itself with the other CPU.
	OutcomeSwitch Outcome = "switch-cpu"
	// OutcomeBootsel: nothing can be started; the chip shows its USB drive.
	OutcomeBootsel Outcome = "bootsel"
	// OutcomeHang: the ROM never comes to an end.
	OutcomeHang Outcome = "hang"
)

// InvalidSP is the stack pointer that RISC-V images without an entry point
// item are started with. Source: boot ROM A2, src/main/native/bootrom.h.
const InvalidSP = 0xf0000000

// Entry is the state in which an image is entered.
type Entry struct {
	PC, SP, SPLimit uint32
	// VTOR is the vector table, of meaning on Arm.
	VTOR uint32
}

// Decision is what the boot ROM decides, and why.
type Decision struct {
	// Outcome is what happens, CPU which one ran the decision.
	Outcome Outcome
	CPU     CPU
	// Place is where the image came from.
	Place Place
	// Image is the image definition used, or that failed last.
	Image *Block
	// Check is its verification.
	Check *Verification
	// Entry is how it is entered, if Outcome is OutcomeBoot.
	Entry Entry
	// Rolled is true if address translation is set up; ATRANS are then the
	// values of QMI ATRANS0 to 3.
	Rolled bool
	ATRANS [4]uint32
	// Loads are the steps of the load map that the ROM carries out before it
	// enters the image, in order.
	Loads []LoadOp
	// PinXIPSRAM is true if the load map goes to XIP SRAM, so that the cache
	// is pinned as memory.
	PinXIPSRAM bool
	// TBYB is true if the image is entered on trial: it must say "buy" within
	// 16.7 seconds or the chip resets. TBYBAddr is its flag's word in flash.
	TBYB     bool
	TBYBAddr uint32
	// EraseOther is the flash address whose sector is erased once the image is
	// accepted, because it holds a newer version; 0 for none.
	EraseOther uint32
	// Table is the partition table that the ROM keeps afterwards.
	Table *Table
	// Slots are the searches of slot 0 and, if it came to that, slot 1.
	Slots []*Loop
	// Tried are the searches of partitions.
	Tried []PartitionTry
	// Diagnostics is the boot diagnostics word of GET_INFO: slot 0 or A in the
	// low half, slot 1 or B in the high half.
	Diagnostics uint32
	// Reason is the outcome in one sentence.
	Reason string
	// Steps tell how it was reached, one sentence each.
	Steps []string
}

// PartitionTry is one partition that the search looked into.
type PartitionTry struct {
	A, B  int // partition numbers; B is -1 without a pair
	Loops [2]*Loop
	Used  int // 0 for A, 1 for B
	Fate  string
}

// Bits of the diagnostics half words. Source: pico-sdk,
// src/rp2_common/boot_bootrom_headers/include/boot/bootrom_constants.h
// (BOOT_DIAGNOSTIC_*).
const (
	DiagSearched    = 0x0001
	DiagBadLoop     = 0x0002
	DiagGoodLoop    = 0x0004
	DiagImageDef    = 0x0008
	DiagTable       = 0x0010
	DiagConsidered  = 0x0020
	DiagChosen      = 0x0040
	DiagTableCheck  = 0x0080 // key match, hash, verified in three bits
	DiagImageCheck  = 0x0400 // the same for the image
	DiagLoadMap     = 0x2000
	DiagLaunched    = 0x4000
	DiagConditions  = 0x8000
	diagKeyMatch    = 1
	diagHash        = 2
	diagVerified    = 4
	diagTableShift  = 7
	diagImageShift  = 10
	diagSecondShift = 16
)
