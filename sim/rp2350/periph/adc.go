package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of ADC (datasheet 12.4.7).
const (
	adcCS     = 0x00
	adcResult = 0x04
	adcFCS    = 0x08
	adcFIFO   = 0x0c
	adcDIV    = 0x10
	adcINTR   = 0x14
	adcINTE   = 0x18
	adcINTF   = 0x1c
	adcINTS   = 0x20

	adcEN        = 1 << 0
	adcTempEN    = 1 << 1
	adcOnce      = 1 << 2
	adcMany      = 1 << 3
	adcReady     = 1 << 8
	adcErrSticky = 1 << 10

	fcsEN    = 1 << 0
	fcsShift = 1 << 1
	fcsErr   = 1 << 2
	fcsDREQ  = 1 << 3
	fcsUnder = 1 << 10
	fcsOver  = 1 << 11

	adcDepth  = 8
	adcCycles = 96
	irqADC    = 35
)

// ADC is the analogue-to-digital converter (datasheet 12.4): 96 cycles of
// clk_adc for a conversion. An input reads what SetInput gave it, the
// temperature sensor 27 degrees, a pin without an analogue source its digital
// level.
type ADC struct {
	storage
	clock    *Clock
	pins     *Pins
	requests *Requests
	inputs   int // external ones; the temperature sensor is next
	firstPin int
	source   [9]func() uint16

	fifo    ring
	result  uint32
	busy    bool
	channel uint32 // being converted
	flags   uint32 // UNDER, OVER
	done    Event
	doneAt  uint64
	trigger Event
	// base is when the pacing divider began, next the number of the next
	// conversion it starts.
	base, next uint64
	pacing     bool
}

func newADC(env Env, clock *Clock, pins *Pins, requests *Requests, qfn60 bool) *ADC {
	a := &ADC{storage: newStorage("ADC", env, regs.ADC), clock: clock, pins: pins, requests: requests,
		inputs: 8, firstPin: 40}
	if qfn60 {
		a.inputs, a.firstPin = 4, 26
	}
	a.done.Fire = func(uint64) { a.finish() }
	a.trigger.Fire = func(uint64) { a.paced() }
	a.fifo.depth = adcDepth
	clock.OnChange(a.replan)
	return a
}

// SetInput connects a source of 12-bit codes to an input, nil disconnects it.
// The input after the last pin is the temperature sensor.
func (a *ADC) SetInput(n int, source func() uint16) {
	if n >= 0 && n < len(a.source) {
		a.source[n] = source
	}
}

// Inputs is the number of pins with an ADC input, and the first of them.
func (a *ADC) Inputs() (n, firstPin int) { return a.inputs, a.firstPin }

// Reset stops conversions and empties the FIFO.
func (a *ADC) Reset() {
	a.storage.Reset()
	a.env.Cancel(&a.done)
	a.env.Cancel(&a.trigger)
	a.fifo.clear()
	a.result, a.flags, a.busy, a.pacing = 0, 0, false, false
	a.update()
}

// temperature27 is the sensor's code at 27 degrees: 0.706 V of 3.3 V (12.4.6).
const temperature27 = 876

func (a *ADC) sample(ch uint32) uint32 {
	switch {
	case int(ch) > a.inputs:
		return 0
	case a.source[ch] != nil:
		return uint32(a.source[ch]()) & 0xfff
	case int(ch) == a.inputs:
		if a.get(adcCS)&adcTempEN == 0 {
			return 0
		}
		return temperature27
	case a.pins.Levels()>>(a.firstPin+int(ch))&1 != 0:
		return 0xfff
	}
	return 0
}

// start begins a conversion of the selected input.
func (a *ADC) start() {
	if a.busy || a.get(adcCS)&adcEN == 0 {
		return
	}
	if !a.clock.Running() {
		a.env.Notice("ADC: nothing is converted, clk_adc does not run (CLOCKS.CLK_ADC_CTRL, or a gate in WAKE_EN)")
	}
	a.busy = true
	a.channel = a.get(adcCS) >> 12 & 15
	a.doneAt = a.clock.Count() + adcCycles
	a.replan()
}

// replan moves the events to where clk_adc now has them.
func (a *ADC) replan() {
	if a.busy {
		schedule(a.env, &a.done, a.clock.When(a.doneAt))
	}
	if a.pacing {
		schedule(a.env, &a.trigger, a.clock.When(a.pacedAt()))
	}
}

// period is the pace of START_MANY in 1/256 cycles.
func (a *ADC) period() uint64 { return 256 + uint64(a.get(adcDIV)) }

func (a *ADC) pacedAt() uint64 { return a.base + a.next*a.period()/256 }

// pace starts or stops the free-running mode.
func (a *ADC) pace() {
	a.env.Cancel(&a.trigger)
	a.pacing = a.get(adcCS)&(adcEN|adcMany) == adcEN|adcMany
	if !a.pacing {
		return
	}
	a.base, a.next = a.clock.Count(), 0
	a.paced()
}

// paced is a tick of the pacing divider; one that comes while a conversion runs
// is lost.
func (a *ADC) paced() {
	a.start()
	if a.get(adcDIV) == 0 {
		a.pacing = false // back to back: finish starts the next one
		return
	}
	a.next++
	if skip := a.doneAt; a.busy && a.pacedAt() < skip {
		a.next = ((skip-a.base)*256 + a.period() - 1) / a.period()
	}
	schedule(a.env, &a.trigger, a.clock.When(a.pacedAt()))
}

// finish ends a conversion.
func (a *ADC) finish() {
	a.busy = false
	a.result = a.sample(a.channel)
	cs := a.get(adcCS)
	if mask := cs >> 16 & 0x1ff; mask != 0 {
		next := a.channel
		for range 9 {
			if next = (next + 1) % 9; mask>>next&1 != 0 {
				break
			}
		}
		a.set(adcCS, cs&^(15<<12)|next<<12)
	}
	if fcs := a.get(adcFCS); fcs&fcsEN != 0 {
		v := a.result
		if fcs&fcsShift != 0 {
			v >>= 4
		}
		if !a.fifo.push(v) {
			a.flags |= fcsOver
		}
	}
	if cs&(adcEN|adcMany) == adcEN|adcMany && a.get(adcDIV) == 0 {
		a.start()
	}
	a.update()
}

// reached reports whether the FIFO is at its threshold.
func (a *ADC) reached() bool {
	return a.fifo.len() >= max(int(a.get(adcFCS)>>24&15), 1)
}

func (a *ADC) pending() uint32 {
	return (bit(a.reached(), 0) | a.get(adcINTF)) & a.get(adcINTE)
}

func (a *ADC) update() {
	a.env.SetIRQ(irqADC, a.pending() != 0)
	a.requests.Set(DREQADC, a.get(adcFCS)&fcsDREQ != 0 && a.reached())
}

// Read returns a register.
func (a *ADC) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case adcCS:
		return a.get(adcCS) | bit(a.get(adcCS)&adcEN != 0 && !a.busy, 8)
	case adcResult:
		return a.result
	case adcFCS:
		return a.get(adcFCS) | a.flags | bit(a.fifo.empty(), 8) | bit(a.fifo.full(), 9) | uint32(a.fifo.len())<<16
	case adcFIFO:
		if peek {
			return a.fifo.peek()
		}
		v, ok := a.fifo.pop()
		if !ok {
			a.flags |= fcsUnder
		}
		a.update()
		return v
	case adcINTR:
		return bit(a.reached(), 0)
	case adcINTS:
		return a.pending()
	}
	return a.storage.Read(offset, peek)
}

// Write writes a register.
func (a *ADC) Write(offset uint32, w Write) {
	old := a.get(adcCS)
	a.storage.Write(offset, w)
	switch offset {
	case adcCS:
		if (old^a.get(adcCS))&(adcEN|adcMany) != 0 {
			if a.get(adcCS)&adcEN == 0 {
				a.env.Cancel(&a.done)
				a.busy = false
			}
			a.pace()
		}
		if w.Ones(adcOnce) != 0 {
			a.start()
		}
	case adcDIV:
		a.pace()
	case adcFCS:
		a.flags &^= w.Ones(fcsUnder | fcsOver)
	}
	a.update()
}
