package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of BUSCTRL (datasheet 12.15.4).
const (
	busPriorityAck = 0x04
	busPerfEn      = 0x08
	busPerf0       = 0x0c // PERFCTR0, PERFSEL0, PERFCTR1 …

	perfMax = 1<<24 - 1
)

// BusEvent is an event that a performance counter selects (PERFSEL).
type BusEvent uint32

// The ports of the bus fabric, by their first event. An access is event 3 of its
// port, the cycles that a manager waits for the port are event 1.
const (
	PortSIO1     BusEvent = 0x00
	PortSIO0     BusEvent = 0x04
	PortAPB      BusEvent = 0x08
	PortFastPeri BusEvent = 0x0c
	PortSRAM9    BusEvent = 0x10
	PortSRAM0    BusEvent = 0x34 // SRAM1 to SRAM8 are below it, four apart
	PortXIP1     BusEvent = 0x38
	PortXIP0     BusEvent = 0x3c
	PortROM      BusEvent = 0x40

	portStall  = 1
	portAccess = 3
)

// BusCtrl is BUSCTRL: priorities are acknowledged at once; four counters count
// accesses to a port and the wait states of the port itself. Two managers never
// meet at a port here, so the contention events stay 0.
type BusCtrl struct {
	storage
	sys   System
	ctr   [4]uint32
	count bool
}

func newBusCtrl(env Env, sys System) *BusCtrl {
	return &BusCtrl{storage: newStorage("BUSCTRL", env, regs.BUSCTRL), sys: sys}
}

// Reset stops and clears the counters.
func (b *BusCtrl) Reset() {
	b.storage.Reset()
	b.ctr = [4]uint32{}
	b.enable()
}

func (b *BusCtrl) enable() {
	if on := b.get(busPerfEn)&1 != 0; on != b.count {
		b.count = on
		b.sys.CountBus(on)
	}
}

// Counting reports whether accesses are counted.
func (b *BusCtrl) Counting() bool { return b.count }

// Access counts an access to a port that took wait states.
func (b *BusCtrl) Access(port BusEvent, wait uint32) {
	for i := range b.ctr {
		switch BusEvent(b.get(busPerf0 + 4 + 8*uint32(i))) {
		case port + portAccess:
			b.ctr[i] = min(b.ctr[i]+1, perfMax)
		case port + portStall:
			b.ctr[i] = min(b.ctr[i]+wait, perfMax)
		}
	}
}

// Read returns a register.
func (b *BusCtrl) Read(offset uint32, peek bool) uint32 {
	switch {
	case offset == busPriorityAck:
		return 1
	case offset >= busPerf0 && offset < busPerf0+32 && (offset-busPerf0)%8 == 0:
		return b.ctr[(offset-busPerf0)/8]
	}
	return b.storage.Read(offset, peek)
}

// Write writes a register; any write of a counter clears it.
func (b *BusCtrl) Write(offset uint32, w Write) {
	if offset >= busPerf0 && offset < busPerf0+32 && (offset-busPerf0)%8 == 0 {
		b.ctr[(offset-busPerf0)/8] = 0
		return
	}
	b.storage.Write(offset, w)
	if offset == busPerfEn {
		b.enable()
	}
}
