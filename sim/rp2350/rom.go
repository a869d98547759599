package rp2350

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// Addresses in the ROM. The documented ones are those of the A2 ROM
// (pico-bootrom-rp2350, riscv_bootrom_rt0.S); the others are ours.
const (
	romGateLo       = 0x7000 // from here on a pc is served by romGate
	romArmStubs     = 0x7000 // entries for Arm callers, 4 bytes each
	romTable        = 0x7c00
	romLookupValue  = 0x7de0
	romLookupEntry  = 0x7de4
	romReturnAddr   = 0x7de8 // an image's entry returns here
	romGitRevision  = 0x7df0
	romEntry        = 0x7dfc
	romTrapVector   = 0x7ffc
	romVariables    = 0x7000 - 16 // words that data entries point at
	romVarPartTable = romVariables
	romVarXIPSetup  = romVariables + 4
	romVarDevInfo   = romVariables + 8

	// gitRevisionA2 is the word at romGitRevision of A2 silicon.
	gitRevisionA2 = 0x312e22fa
)

// Flags of a table entry (pico-sdk bootrom.h, RT_FLAG_*).
const (
	rtRISCV    = 0x01
	rtRISCVFar = 0x03
	rtArmSec   = 0x04
	rtArmNS    = 0x10
	rtData     = 0x40
)

// rom is the ROM as firmware reads it, and what its entries do.
type rom struct {
	mem [romSize]byte
	// funcs are the functions by the address a caller jumps to.
	funcs map[uint32]*romFunc
	// table is where each entry begins, by code.
	table []romEntryAt
}

type romEntryAt struct {
	code  uint16
	flags uint16
	addr  uint32 // of the first halfword behind code and flags
}

// romFunc is one function of the ROM.
type romFunc struct {
	code string
	name string
	run  func(c *Chip, call *romCall)
}

// newROM lays the ROM out: header, function table, variables.
func newROM(opt Options) *rom {
	r := &rom{funcs: map[uint32]*romFunc{}}
	w16 := func(a uint32, v uint16) { binary.LittleEndian.PutUint16(r.mem[a:], v) }
	w32 := func(a uint32, v uint32) { binary.LittleEndian.PutUint32(r.mem[a:], v) }

	// The header that Arm firmware reads (pico-sdk bootrom_constants.h).
	w32(0x00, 0xf0000000)
	w32(0x04, romEntry|1)
	w32(0x08, romTrapVector|1) // NMI
	w32(0x0c, romTrapVector|1) // HardFault
	r.mem[0x10], r.mem[0x11], r.mem[0x12] = 'M', 'u', 2
	r.mem[0x13] = romVersion(opt.Revision)
	w16(0x14, romTable)
	w16(0x16, romLookupValue|1)
	w16(0x18, romLookupEntry|1)
	// And the one at the end that RISC-V firmware reads.
	w32(romGitRevision, gitRevisionA2)
	w16(0x7df6, romTable)
	w16(0x7df8, romLookupValue)
	w16(0x7dfa, romLookupEntry)

	w32(romVarPartTable, bootRAMBase+btPartitionTable)
	w32(romVarXIPSetup, bootRAMBase+btXIPSetup)
	w32(romVarDevInfo, bootRAMBase+btFlashDevInfo)

	at := uint32(romTable)
	put := func(code string, flags uint16, words ...uint16) uint32 {
		v := uint16(code[0]) | uint16(code[1])<<8
		w16(at, v)
		w16(at+2, flags)
		r.table = append(r.table, romEntryAt{v, flags, at + 4})
		first := at + 4
		at += 4
		for _, h := range words {
			w16(at, h)
			at += 2
		}
		return first
	}
	for i := range romFuncs {
		f := &romFuncs[i]
		arm := uint32(romArmStubs + 4*i)
		switch f.code {
		case "SC": // for Non-secure Arm callers alone
			put(f.code, rtArmNS, uint16(arm|1))
		case "VB", "SP": // Arm alone
			put(f.code, rtArmSec, uint16(arm|1))
		case "SS": // RISC-V alone
			r.funcs[put(f.code, rtRISCVFar, 0, 0)] = f
		default:
			r.funcs[put(f.code, rtRISCVFar|rtArmSec|rtArmNS, 0, 0, uint16(arm|1), uint16(arm|1))] = f
		}
		r.funcs[arm] = f
	}
	put("GR", rtData, romGitRevision)
	put("PT", rtData, romVarPartTable)
	put("XF", rtData, romVarXIPSetup)
	put("FD", rtData, romVarDevInfo)
	return r
}

// romVersion is the byte at 0x13: 2 on A2, 3 on A3, 4 on A4.
func romVersion(rev hazard3.Revision) byte { return byte(rev) }

// lookup finds the entry with a code that has any of the flags of mask, and
// returns the address of the first halfword that belongs to one of them.
func (r *rom) lookup(code, mask uint32) uint32 {
	for _, e := range r.table {
		if uint32(e.code) != code&0xffff {
			continue
		}
		hit := uint32(e.flags) & mask
		if hit == 0 {
			continue
		}
		at := e.addr
		for bit := uint32(1); bit < hit&-hit; bit <<= 1 {
			if uint32(e.flags)&bit != 0 {
				at += 2
			}
		}
		return at
	}
	return 0
}
