package rp2350

import (
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// Results of ROM functions (pico-sdk bootrom_constants.h, BOOTROM_*).
const (
	romOK                 = 0
	romNotPermitted       = -4
	romInvalidArg         = -5
	romInvalidAddress     = -10
	romBadAlignment       = -11
	romInvalidState       = -12
	romBufferTooSmall     = -13
	romPreconditionNotMet = -14
	romModifiedData       = -15
	romInvalidData        = -16
	romNotFound           = -17
	romUnsupportedModify  = -18
	romLockRequired       = -19
	bootLockSHA256        = 0
	bootLockFlash         = 1
	bootLockOTP           = 2
	romCallCycles         = 60 // what a short function costs, roughly
	romLookupCycles       = 120
)

// romCall is one call of a ROM function.
type romCall struct {
	c *Chip
	n *node
	// cycles is the time it takes.
	cycles uint64
	// result goes to the caller.
	result uint32
	// gone: the function does not return to its caller.
	gone bool
	name string
}

func (r *romCall) arg(i int) uint32 { return r.n.cpu.Arg(i) }

// ret sets the result.
func (r *romCall) ret(v int32) { r.result = uint32(v) }

// origin is how ROM code accesses memory.
func (r *romCall) origin() periph.Origin { return periph.Origin{Core: r.n.id, Privileged: true} }

// load and store access memory as the function would. A refused access ends the
// program: the real ROM would fault deep inside.
func (r *romCall) load(addr uint32, size uint8) uint32 {
	v, _, ok := r.c.load(r.n, addr, size, r.origin(), false)
	if !ok {
		r.fault("reads", addr)
	}
	return v
}

func (r *romCall) store(addr uint32, size uint8, v uint32) {
	if _, ok := r.c.store(r.n, addr, size, v, r.origin()); !ok {
		r.fault("writes", addr)
	}
}

func (r *romCall) word(addr uint32) uint32 { return r.load(addr, 4) }
func (r *romCall) setWord(addr, v uint32)  { r.store(addr, 4, v) }

func (r *romCall) fault(verb string, addr uint32) {
	if r.gone {
		return
	}
	r.gone = true
	r.n.die()
	r.c.report(machine.Event{Kind: machine.EventCrash, Core: r.n.id,
		Cause: fmt.Sprintf("boot ROM function %s %s %#08x, which faults", r.name, verb, addr)})
}

// readBytes copies memory that a function was pointed at.
func (r *romCall) readBytes(addr, n uint32) []byte {
	out := make([]byte, 0, n)
	for uint32(len(out)) < n && !r.gone {
		a := addr + uint32(len(out))
		if a&3 == 0 && n-uint32(len(out)) >= 4 {
			out = binary.LittleEndian.AppendUint32(out, r.load(a, 4))
			continue
		}
		out = append(out, byte(r.load(a, 1)))
	}
	return out
}

// writeBytes copies into memory.
func (r *romCall) writeBytes(addr uint32, p []byte) {
	for i := 0; i < len(p) && !r.gone; {
		a := addr + uint32(i)
		if a&3 == 0 && len(p)-i >= 4 {
			r.store(a, 4, binary.LittleEndian.Uint32(p[i:]))
			i += 4
			continue
		}
		r.store(a, 1, uint32(p[i]))
		i++
	}
}

// lock checks the boot lock a function needs: only once lock 7 is claimed.
func (r *romCall) lock(n uint) bool {
	if r.c.boot.claimed(bootLockEnable) && !r.c.boot.claimed(n) {
		r.ret(romLockRequired)
		return false
	}
	return true
}

// romGate serves a core whose pc is in the ROM.
func (c *Chip) romGate(n *node, pc uint32) (done bool) {
	now := n.clock()
	if !n.bus.Ready(now) {
		return false
	}
	n.bus.at(now)
	switch pc {
	case romEntry:
		c.romReset(n)
		return true
	case romTrapVector:
		c.romTrap(n)
		return true
	case romReturnAddr:
		c.romReturned(n)
		return true
	}
	call := &romCall{c: c, n: n, cycles: romCallCycles}
	switch pc {
	case romLookupValue, romLookupEntry:
		call.name = "lookup"
		call.cycles = romLookupCycles
		at := c.rom.lookup(call.arg(0), call.arg(1))
		if pc == romLookupValue && at != 0 {
			at = uint32(binary.LittleEndian.Uint16(c.rom.mem[at:]))
		}
		call.result = at
	default:
		f := c.rom.funcs[pc]
		if f == nil {
			c.crash(n, fmt.Sprintf("execution at %#08x in the boot ROM, where no function begins", pc))
			return true
		}
		call.name = f.name
		f.run(c, call)
	}
	if call.gone {
		return true
	}
	n.cpu.SetResult(call.result)
	n.cpu.SetPC(n.cpu.ReturnAddress())
	n.cpu.SetClock(n.clock() + call.cycles)
	return true
}

// die lets a core sleep in the ROM for ever.
func (n *node) die() { n.rom, n.romPC = romDead, n.cpu.PC() }

// crash parks a core and reports why.
func (c *Chip) crash(n *node, cause string) {
	n.die()
	c.report(machine.Event{Kind: machine.EventCrash, Core: n.id, Cause: cause})
}

// romTrap is a trap taken while the vector still points into the ROM, which
// sleeps there for ever.
func (c *Chip) romTrap(n *node) {
	c.crash(n, "a trap before the program set its vectors: "+n.cpu.TrapText())
}

// romReturned is the entry of an image, or core 1's, returning to the ROM,
// which then sleeps for ever.
func (c *Chip) romReturned(n *node) {
	n.die()
	c.shorten(0)
}
