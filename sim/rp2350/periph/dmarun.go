package periph

import (
	"fmt"
	"math/bits"
)

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
		d.empty(n)
		return
	}
	c.busy = true
	if d.probe != nil {
		d.probe.DMA(n, d.env.Now(), false, 0, 0)
	}
	t := c.treq()
	d.requests.Watch(t, true)
	if t >= treqTimer0 && t < treqForce {
		d.timers[t-treqTimer0].restart(d.env.Now())
	}
	d.free = max(d.free, d.env.Now()+1)
}

// empty completes a sequence without transfers at once. It chains only if no
// other channel has completed a write since this one did (erratum RP2350-E8).
func (d *DMA) empty(n int) {
	d.announce(n)
	if to := d.ch[n].chain(); to != n && d.wrote == n+1 {
		d.chain(n, to)
	}
}

// chain is CTRL.CHAIN_TO: the channel to trigger next, itself for none.
func (c *dmaChannel) chain() int { return int(c.ctrl >> 13 & 15) }

// chain triggers channel n from another one, whose level must not be lower. Channels without transfers that
// chain in a circle would keep each other busy for ever; they get one round.
func (d *DMA) chain(from, n int) {
	if d.depth++; d.depth <= dmaChannels && d.security(from)&secSP >= d.security(n)&secSP {
		d.trigger(n)
	}
	d.depth--
}

// announce raises the interrupt of a sequence that is complete.
func (d *DMA) announce(n int) {
	if d.ch[n].ctrl&dmaQuiet == 0 {
		d.intr |= 1 << n
		d.interrupt()
	}
}

// abort is a write of CHAN_ABORT. An active channel that was the last one to
// complete a write chains nevertheless; a channel that is triggered by that while
// it is aborted itself completes without a transfer, and chains, too (erratum
// RP2350-E5).
func (d *DMA) abort(mask uint32) {
	var again [][2]int
	for n := range d.ch {
		if mask>>n&1 == 0 {
			continue
		}
		c := &d.ch[n]
		c.count &= 0xf0000000
		if !c.busy {
			continue
		}
		d.stop(n)
		if to := c.chain(); to != n && d.wrote == n+1 {
			again = append(again, [2]int{n, to})
		}
	}
	for _, link := range again {
		n := link[1]
		c := &d.ch[n]
		switch {
		case mask>>n&1 == 0:
			d.chain(link[0], n)
		case c.ctrl&dmaEN != 0 && c.errors == 0:
			d.announce(n)
			if to := c.chain(); to != n {
				d.chain(n, to)
			}
		}
	}
}

// stop ends channel n's sequence.
func (d *DMA) stop(n int) {
	c := &d.ch[n]
	if !c.busy {
		return
	}
	c.busy = false
	if d.probe != nil {
		d.probe.DMA(n, d.env.Now(), false, 0, 0)
	}
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
	d.announce(n)
	if c.reload>>28 == dmaModeSelf && c.reload&0x0fffffff != 0 {
		d.trigger(n)
	}
	if to := c.chain(); to != n {
		d.chain(n, to)
	}
}

// fail stops a channel after a bus error, of which is told once for each channel.
func (d *DMA) fail(n int, errors, addr uint32, why string) {
	if d.told>>n&1 == 0 {
		d.told |= 1 << n
		verb, flag := "load from", "READ_ERROR"
		if errors&dmaWriteErr != 0 {
			verb, flag = "store to", "WRITE_ERROR"
		}
		d.env.Notice(fmt.Sprintf("DMA channel %d stops: %s %#08x: %s (CTRL.%s)", n, verb, addr, why, flag))
	}
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
		return d.timers[t-treqTimer0].next() <= cycle && d.observes(n, t)
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
	if d.running || d.gated {
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
	if d.gated {
		d.env.Cancel(&d.event)
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
			if !d.observes(n, t) {
				continue
			}
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
	if memory && shortest > 1 && d.probe == nil {
		at += uint64(shortest) - 1
	}
	d.env.Schedule(&d.event, max(at, d.env.Now()))
}

// plainMemory reports whether an address is SRAM or XIP.
func plainMemory(addr uint32) bool { return addr>>28 == 1 || addr>>28 == 2 }

// catchUp does what is due before software looks or writes.
func (d *DMA) catchUp() {
	if !d.running && !d.gated && d.event.Index != 0 && d.free <= d.env.Now() {
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

// observes reports whether channel n may see the pacing timer of a request.
func (d *DMA) observes(n, treq int) bool {
	return d.timerLevel(uint32(treq-treqTimer0)) <= d.security(n)&secSP
}

// nextTimer is when the first pacing timer of a busy channel asks.
func (d *DMA) nextTimer() uint64 {
	at := uint64(Never)
	for n := range d.ch {
		if c := &d.ch[n]; c.busy && c.ctrl&dmaEN != 0 {
			if t := c.treq(); t >= treqTimer0 && t < treqForce && d.observes(n, t) {
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
	o := d.origin(n)
	from, to := c.read&^uint32(size-1), c.write&^uint32(size-1)
	c.read = c.step(c.read, uint32(size), c.ctrl&dmaIncR != 0, c.ctrl&dmaIncRRev != 0, c.ctrl&dmaRingSel == 0)
	c.write = c.step(c.write, uint32(size), c.ctrl&dmaIncW != 0, c.ctrl&dmaIncWRev != 0, c.ctrl&dmaRingSel != 0)
	if c.count>>28 != dmaModeEndless {
		c.count--
	}
	if d.guarded && (d.protects(n, from) || d.protects(n, to)) {
		errors, addr := uint32(dmaReadErr), from
		if !d.protects(n, from) {
			errors, addr = dmaWriteErr, to
		}
		d.fail(n, errors, addr, "a region of the controller's own protection unit keeps it out")
		return 0
	}
	v, wr, ok := d.bus.DMARead(from, size, o)
	if !ok {
		d.fail(n, dmaReadErr, from, d.bus.DMARefusal(from, false, o))
		return wr
	}
	ctrl := c.ctrl
	if ctrl&dmaSniffEn != 0 && d.security(n)&secSP <= d.get(dmaSecMisc)&secSP {
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
	if d.probe != nil {
		d.probe.DMA(n, d.free, true, from, to)
	}
	ww, ok := d.bus.DMAWrite(to, size, v, o)
	if ok {
		d.wrote = n + 1
	}
	switch {
	case !ok:
		d.fail(n, dmaWriteErr, to, d.bus.DMARefusal(to, true, o))
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
