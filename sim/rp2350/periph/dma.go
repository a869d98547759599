package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of DMA (datasheet 12.6.10). A channel has 64 bytes: its four
// registers in four orders.
const (
	dmaINTR       = 0x400
	dmaTimer0     = 0x440
	dmaMulti      = 0x450
	dmaSniffCtrl  = 0x454
	dmaSniffData  = 0x458
	dmaFIFOLevels = 0x460
	dmaAbort      = 0x464
	dmaNChannels  = 0x468
	dmaSecCfg     = 0x480
	dmaDebug      = 0x800

	dmaChannels = 16
	irqDMA      = 10

	dmaEN       = 1 << 0
	dmaHigh     = 1 << 1
	dmaIncR     = 1 << 4
	dmaIncRRev  = 1 << 5
	dmaIncW     = 1 << 6
	dmaIncWRev  = 1 << 7
	dmaRingSel  = 1 << 12
	dmaQuiet    = 1 << 23
	dmaBSwap    = 1 << 24
	dmaSniffEn  = 1 << 25
	dmaBusy     = 1 << 26
	dmaWriteErr = 1 << 29
	dmaReadErr  = 1 << 30
	dmaAHBErr   = 1 << 31
	dmaCtrlRW   = 0x03ffffff

	// Modes in bits 31:28 of TRANS_COUNT.
	dmaModeSelf    = 1
	dmaModeEndless = 15

	treqTimer0 = 0x3b
	treqForce  = 0x3f
)

// MemoryBus is what the DMA controller reaches: all of the chip but SIO and the
// processors' own registers.
type MemoryBus interface {
	// DMARead and DMAWrite move size bytes at a multiple of size. wait is the
	// number of cycles beyond the one of the access; ok is false for a bus
	// error, and then nothing happened.
	DMARead(addr uint32, size uint8, o Origin) (v, wait uint32, ok bool)
	DMAWrite(addr uint32, size uint8, v uint32, o Origin) (wait uint32, ok bool)
	// DMARefusal says why an access was refused.
	DMARefusal(addr uint32, write bool, o Origin) string
}

// DMA is the DMA controller (datasheet 12.6): at best one transfer a cycle, the
// channels in turn, each paced by its request line.
type DMA struct {
	storage
	bus      MemoryBus
	requests *Requests
	ch       [dmaChannels]dmaChannel
	intr     uint32
	timers   [4]pacing
	sniff    sniffer

	event Event
	// free is the first cycle in which the controller can begin a transfer.
	free uint64
	last int // the channel that was served last
	// wrote is 1 more than the channel that completed a write last, 0 if none did.
	wrote   int
	depth   int // of chains that end at once
	gated   bool
	gatedAt uint64
	told    uint32 // the channels of whose bus errors was told
	// running guards against a transfer that writes the controller's own
	// registers.
	running bool
	probe   *Probe
	// lacks is how far the access that is served is below the highest level.
	lacks uint32
	// guarded says that a region of the protection unit is on.
	guarded bool
}

// dmaChannel is one channel. count is what is left, reload what is taken over
// with the next trigger.
type dmaChannel struct {
	read, write   uint32
	count, reload uint32 // with the mode in bits 31:28
	ctrl          uint32
	errors        uint32
	busy          bool
}

func newDMA(env Env, bus MemoryBus, requests *Requests) *DMA {
	d := &DMA{storage: newStorage("DMA", env, regs.DMA), bus: bus, requests: requests}
	d.event.Fire = func(uint64) { d.run() }
	requests.OnRise(func(n int) { d.requested(n) })
	return d
}

// Reset stops everything.
func (d *DMA) Reset() {
	d.storage.Reset()
	d.env.Cancel(&d.event)
	for n := range d.ch {
		if d.ch[n].busy {
			d.requests.Watch(d.ch[n].treq(), false)
		}
		d.ch[n] = dmaChannel{}
	}
	d.intr, d.free, d.last, d.wrote = 0, 0, 0, 0
	d.guarded = false
	d.timers = [4]pacing{}
	d.sniff = sniffer{}
	d.interrupt()
}

// pending are the channels that interrupt line shows: those at or below its
// level.
func (d *DMA) pending(line uint32) uint32 {
	base := uint32(dmaINTR) + line*16
	enabled := d.get(base + 4)
	if enabled == 0 {
		return 0
	}
	return (d.intr | d.get(base+8)) & enabled & d.visible(d.lineLevel(line))
}

func (d *DMA) interrupt() {
	for line := range uint32(4) {
		d.env.SetIRQ(irqDMA+int(line), d.pending(line) != 0)
	}
}

// The four registers of a channel, and where each alias has them.
const (
	dmaRead = iota
	dmaWrite
	dmaCount
	dmaCtrl
)

var dmaAlias = [16]uint8{
	dmaRead, dmaWrite, dmaCount, dmaCtrl,
	dmaCtrl, dmaRead, dmaWrite, dmaCount,
	dmaCtrl, dmaCount, dmaRead, dmaWrite,
	dmaCtrl, dmaWrite, dmaCount, dmaRead,
}

// reg returns one of a channel's registers.
func (c *dmaChannel) reg(which uint8) uint32 {
	switch which {
	case dmaRead:
		return c.read
	case dmaWrite:
		return c.write
	case dmaCount:
		return c.count
	}
	return c.ctrl | bit(c.busy, 26) | c.errors | bit(c.errors != 0, 31)
}

// Read returns a register.
func (d *DMA) Read(offset uint32, peek bool) uint32 {
	d.catchUp()
	if offset < dmaINTR {
		return d.ch[offset/0x40].reg(dmaAlias[offset/4&15])
	}
	switch offset {
	case dmaINTR, dmaINTR + 0x10, dmaINTR + 0x20, dmaINTR + 0x30:
		return d.intr & d.visible(d.level())
	case dmaINTR + 0xc, dmaINTR + 0x1c, dmaINTR + 0x2c, dmaINTR + 0x3c:
		return d.pending((offset - dmaINTR) / 16)
	case dmaSniffData:
		return d.sniff.result(d.get(dmaSniffCtrl))
	case dmaNChannels:
		return dmaChannels
	}
	if offset >= dmaDebug && offset < dmaDebug+0x40*dmaChannels {
		c := &d.ch[(offset-dmaDebug)/0x40]
		switch offset & 0x3f {
		case 0:
			return bit(c.busy && d.requests.High(c.treq()), 0)
		case 4:
			return c.reload & 0x0fffffff
		}
	}
	return d.storage.Read(offset, peek)
}

// Write writes a register.
func (d *DMA) Write(offset uint32, w Write) {
	d.catchUp()
	if offset < dmaINTR {
		d.writeChannel(int(offset/0x40), offset/4&15, w)
		d.plan()
		return
	}
	switch offset {
	case dmaINTR, dmaINTR + 0x10, dmaINTR + 0x20, dmaINTR + 0x30:
		d.intr &^= w.Ones(d.visible(d.level()))
	case dmaINTR + 0xc, dmaINTR + 0x1c, dmaINTR + 0x2c, dmaINTR + 0x3c:
		d.intr &^= w.Ones(d.visible(d.lineLevel((offset - dmaINTR) / 16)))
	case dmaMulti:
		for n := range d.ch {
			if w.Ones(d.visible(d.level()))>>n&1 != 0 {
				d.trigger(n)
			}
		}
	case dmaAbort:
		d.abort(w.Ones(d.visible(d.level())))
	case dmaSniffData:
		d.sniff.value = w.Apply(d.sniff.value)
	case dmaTimer0, dmaTimer0 + 4, dmaTimer0 + 8, dmaTimer0 + 12:
		d.storage.Write(offset, w)
		d.timers[(offset-dmaTimer0)/4].set(d.get(offset), d.env.Now())
	default:
		d.writeRest(offset, w)
	}
	d.interrupt()
	d.plan()
}

// writeRest writes the registers that are kept: masks, security, protection.
func (d *DMA) writeRest(offset uint32, w Write) {
	if offset < dmaSecCfg || offset > mpuLast {
		d.storage.Write(offset, w)
		return
	}
	d.writeSecurity(offset, w)
	if offset >= dmaMPUCtrl {
		d.regionsChanged()
	}
}

// writeChannel writes register word of channel n; the last of each alias
// triggers it.
func (d *DMA) writeChannel(n int, word uint32, w Write) {
	c := &d.ch[n]
	d.lock(n)
	var v uint32
	switch dmaAlias[word] {
	case dmaRead:
		c.read = w.Apply(c.read)
		v = c.read
	case dmaWrite:
		c.write = w.Apply(c.write)
		v = c.write
	case dmaCount:
		// The live counter, which reads show, takes it over at the next trigger.
		c.reload = w.Apply(c.count)
		v = c.reload
	default:
		old := c.treq()
		c.errors &^= w.Ones(dmaReadErr | dmaWriteErr)
		v = w.Apply(c.ctrl)
		c.ctrl = v & dmaCtrlRW
		if c.busy && c.treq() != old {
			d.requests.Watch(old, false)
			d.requests.Watch(c.treq(), true)
		}
	}
	if word&3 != 3 {
		return
	}
	if v == 0 { // a null trigger
		if c.ctrl&dmaQuiet != 0 {
			d.intr |= 1 << n
			d.interrupt()
		}
		return
	}
	d.trigger(n)
}
