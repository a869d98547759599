package periph

import "math/bits"

func (c *dmaChannel) treq() int { return int(c.ctrl >> 17 & 0x3f) }

// left is the number of transfers to go.
func (c *dmaChannel) left() uint32 { return c.count & 0x0fffffff }

// trigger starts channel n unless it is busy, disabled or in error.
func (d *DMA) trigger(n int) {
	c := &d.ch[n]
	if c.busy || c.ctrl&dmaEN == 0 || c.errors != 0 {
		return
	}
	c.count = c.reload
	if c.left() == 0 {
		// An empty sequence ends at once and chains to nobody (erratum E8).
		if c.ctrl&dmaQuiet == 0 {
			d.intr |= 1 << n
			d.interrupt()
		}
		return
	}
	c.busy = true
	t := c.treq()
	d.requests.Watch(t, true)
	if t >= treqTimer0 && t < treqForce {
		d.timers[t-treqTimer0].restart(d.env.Now())
	}
	d.free = max(d.free, d.env.Now()+1)
}

// stop ends channel n's sequence.
func (d *DMA) stop(n int) {
	c := &d.ch[n]
	if !c.busy {
		return
	}
	c.busy = false
	t := c.treq()
	for i := range d.ch {
		if d.ch[i].busy && d.ch[i].treq() == t {
			return
		}
	}
	d.requests.Watch(t, false)
}

// complete ends a sequence that ran to its end: interrupt, chain, or again.
func (d *DMA) complete(n int) {
	c := &d.ch[n]
	d.stop(n)
	if c.ctrl&dmaQuiet == 0 {
		d.intr |= 1 << n
		d.interrupt()
	}
	if c.reload>>28 == dmaModeSelf && c.reload&0x0fffffff != 0 {
		d.trigger(n)
	}
	if to := int(c.ctrl >> 13 & 15); to != n {
		d.trigger(to)
	}
}

// fail stops a channel after a bus error.
func (d *DMA) fail(n int, errors uint32) {
	d.ch[n].errors |= errors
	d.stop(n)
	d.intr |= 1 << n
	d.interrupt()
}

// ready reports whether channel n could transfer at a cycle.
func (d *DMA) ready(n int, cycle uint64) bool {
	c := &d.ch[n]
	if !c.busy || c.ctrl&dmaEN == 0 {
		return false
	}
	switch t := c.treq(); {
	case t == treqForce:
		return true
	case t >= treqTimer0:
		return d.timers[t-treqTimer0].next() <= cycle
	default:
		return d.requests.High(t)
	}
}

// pick chooses the channel to serve: high priority first, then in turn.
func (d *DMA) pick(cycle uint64) int {
	best := -1
	for i := 1; i <= dmaChannels; i++ {
		n := (d.last + i) % dmaChannels
		if !d.ch[n].busy || !d.ready(n, cycle) {
			continue
		}
		if d.ch[n].ctrl&dmaHigh != 0 {
			return n
		}
		if best < 0 {
			best = n
		}
	}
	return best
}

// requested follows a rising request line.
func (d *DMA) requested(n int) {
	if d.running {
		return
	}
	for i := range d.ch {
		if c := &d.ch[i]; c.busy && c.treq() == n {
			d.catchUp()
			d.free = max(d.free, d.env.Now()+1)
			d.plan()
			return
		}
	}
}

// burst is how many transfers between memories the controller may be behind
// when nobody looks at it: one event does for them.
const burst = 32

// plan schedules the next event.
func (d *DMA) plan() {
	if d.running {
		return
	}
	at := uint64(Never)
	var shortest uint32 = burst
	memory := true
	for n := range d.ch {
		c := &d.ch[n]
		if !c.busy || c.ctrl&dmaEN == 0 {
			continue
		}
		switch t := c.treq(); {
		case t == treqForce:
			shortest = min(shortest, c.left())
			memory = memory && plainMemory(c.read) && plainMemory(c.write)
			at = min(at, d.free)
		case t >= treqTimer0:
			memory = false
			at = min(at, max(d.free, d.timers[t-treqTimer0].next()))
		case d.requests.High(t):
			memory = false
			at = min(at, d.free)
		}
	}
	if at == Never {
		d.env.Cancel(&d.event)
		return
	}
	if memory && shortest > 1 {
		at += uint64(shortest) - 1
	}
	d.env.Schedule(&d.event, max(at, d.env.Now()))
}

// plainMemory reports whether an address is SRAM or XIP.
func plainMemory(addr uint32) bool { return addr>>28 == 1 || addr>>28 == 2 }

// catchUp does what is due before software looks or writes.
func (d *DMA) catchUp() {
	if !d.running && d.event.Index != 0 && d.free <= d.env.Now() {
		d.work(d.env.Now())
	}
}

// run is the event.
func (d *DMA) run() {
	d.work(d.env.Now())
	d.plan()
}

// work makes the transfers that fall into cycles up to now.
func (d *DMA) work(now uint64) {
	d.running = true
	for d.free <= now {
		n := d.pick(d.free)
		if n < 0 {
			// Nothing until a request, or until a pacing timer.
			next := d.nextTimer()
			if next > now {
				d.free = max(d.free, min(now+1, next))
				break
			}
			d.free = max(next, d.free+1)
			continue
		}
		d.last = n
		d.free += 1 + uint64(d.transfer(n))
	}
	d.running = false
}

// nextTimer is when the first pacing timer of a busy channel asks.
func (d *DMA) nextTimer() uint64 {
	at := uint64(Never)
	for n := range d.ch {
		if c := &d.ch[n]; c.busy && c.ctrl&dmaEN != 0 {
			if t := c.treq(); t >= treqTimer0 && t < treqForce {
				at = min(at, d.timers[t-treqTimer0].next())
			}
		}
	}
	return at
}

// transfer moves one item of channel n and returns the wait states.
func (d *DMA) transfer(n int) (wait uint32) {
	c := &d.ch[n]
	switch t := c.treq(); {
	case t == treqForce:
	case t >= treqTimer0:
		d.timers[t-treqTimer0].take()
	default:
		d.requests.Take(t)
	}
	size := uint8(1) << min(c.ctrl>>2&3, 2)
	o := Origin{Core: 2, Privileged: true}
	from, to := c.read&^uint32(size-1), c.write&^uint32(size-1)
	c.read = c.step(c.read, uint32(size), c.ctrl&dmaIncR != 0, c.ctrl&dmaIncRRev != 0, c.ctrl&dmaRingSel == 0)
	c.write = c.step(c.write, uint32(size), c.ctrl&dmaIncW != 0, c.ctrl&dmaIncWRev != 0, c.ctrl&dmaRingSel != 0)
	if c.count>>28 != dmaModeEndless {
		c.count--
	}
	v, wr, ok := d.bus.DMARead(from, size, o)
	if !ok {
		d.fail(n, dmaReadErr)
		return wr
	}
	ctrl := c.ctrl
	if ctrl&dmaSniffEn != 0 {
		d.sniff.feed(d.get(dmaSniffCtrl), n, v, size)
	}
	if ctrl&dmaBSwap != 0 {
		switch size {
		case 2:
			v = uint32(bits.ReverseBytes16(uint16(v)))
		case 4:
			v = bits.ReverseBytes32(v)
		}
	}
	ww, ok := d.bus.DMAWrite(to, size, v, o)
	switch {
	case !ok:
		d.fail(n, dmaWriteErr)
	case c.busy && c.left() == 0:
		d.complete(n)
	}
	// Reads and writes go through ports of their own and overlap.
	return max(wr, ww)
}

// step moves an address on.
func (c *dmaChannel) step(addr, size uint32, inc, rev, ring bool) uint32 {
	next := addr
	switch {
	case inc && rev:
		next -= size
	case inc:
		next += size
	case rev:
		next += 2 * size
	}
	if n := c.ctrl >> 8 & 15; ring && n != 0 {
		mask := uint32(1)<<n - 1
		next = addr&^mask | next&mask
	}
	return next
}

// pacing is one of the four timers: X requests in Y cycles.
type pacing struct {
	x, y  uint64
	since uint64
	taken uint64
}

func (p *pacing) set(reg uint32, now uint64) {
	p.x, p.y = uint64(reg>>16), uint64(reg&0xffff)
	p.restart(now)
}

func (p *pacing) restart(now uint64) { p.since, p.taken = now, 0 }

// next is the cycle of the next request.
func (p *pacing) next() uint64 {
	if p.x == 0 || p.y == 0 {
		return Never
	}
	if p.x >= p.y {
		return p.since + p.taken + 1
	}
	return p.since + ((p.taken+1)*p.y+p.x-1)/p.x
}

func (p *pacing) take() { p.taken++ }
