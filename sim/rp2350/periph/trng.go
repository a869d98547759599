package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of TRNG (datasheet 12.12.5).
const (
	trngIMR     = 0x100
	trngISR     = 0x104
	trngICR     = 0x108
	trngValid   = 0x110
	trngEHR0    = 0x114
	trngEHR5    = 0x128
	trngEnable  = 0x12c
	trngSample  = 0x130
	trngDebug   = 0x138
	trngSWReset = 0x140
	trngBusy    = 0x1b8
	trngBits    = 0x1bc

	trngSamples = 192
	irqTRNG     = 39
)

// TRNG is the random number generator (datasheet 12.12). Its bits come from a
// seeded sequence: the same run gives the same bits.
type TRNG struct {
	storage
	seed, state uint64
	ehr         [6]uint32
	valid       bool
	busy        bool
	isr         uint32
	done        Event
	paused      pausedEvent
}

func newTRNG(env Env, seed uint64) *TRNG {
	t := &TRNG{storage: newStorage("TRNG", env, regs.TRNG), seed: seed, state: seed}
	t.done.Fire = func(uint64) { t.finish() }
	return t
}

// Reset stops the source. The sequence goes on where it was, as noise does.
func (t *TRNG) Reset() {
	t.storage.Reset()
	t.stop()
	t.isr = 0
	t.interrupt()
}

// restart begins the sequence anew, for power-up.
func (t *TRNG) restart() { t.state = t.seed }

func (t *TRNG) stop() {
	t.env.Cancel(&t.done)
	t.paused = pausedEvent{}
	t.busy, t.valid = false, false
	t.ehr = [6]uint32{}
}

// begin starts to collect 192 samples, each SAMPLE_CNT1+1 cycles apart. The von
// Neumann corrector throws three of four away.
func (t *TRNG) begin() {
	t.stop()
	if t.get(trngEnable)&1 == 0 {
		return
	}
	t.busy = true
	cycles := trngSamples * (uint64(t.get(trngSample)) + 1)
	if t.get(trngDebug)&(1<<1) == 0 {
		cycles *= 4
	}
	t.env.Schedule(&t.done, t.env.Now()+cycles)
}

func (t *TRNG) finish() {
	t.busy, t.valid = false, true
	for i := range t.ehr {
		t.ehr[i] = uint32(t.next() >> 32)
	}
	t.isr |= 1
	t.interrupt()
}

// next is splitmix64.
func (t *TRNG) next() uint64 {
	t.state += 0x9e3779b97f4a7c15
	z := t.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (t *TRNG) interrupt() { t.env.SetIRQ(irqTRNG, t.isr&^t.get(trngIMR)&15 != 0) }

// Read returns a register. Reading the last word takes the number and starts
// the next one.
func (t *TRNG) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case trngISR:
		return t.isr
	case trngICR, trngSWReset, trngBits:
		return 0
	case trngValid:
		return bit(t.valid, 0)
	case trngBusy:
		return bit(t.busy, 0)
	}
	if offset >= trngEHR0 && offset <= trngEHR5 {
		v := t.ehr[(offset-trngEHR0)/4]
		if offset == trngEHR5 && t.valid && !peek {
			t.begin()
		}
		return v
	}
	return t.storage.Read(offset, peek)
}

// Write writes a register.
func (t *TRNG) Write(offset uint32, w Write) {
	switch offset {
	case trngICR:
		t.isr &^= w.Ones(15)
		t.interrupt()
		return
	case trngSWReset:
		if w.Ones(1) != 0 {
			t.Reset()
		}
		return
	case trngBits:
		if w.Ones(1) != 0 && t.busy {
			t.begin()
		}
		return
	}
	old := t.get(trngEnable)
	t.storage.Write(offset, w)
	switch {
	case offset == trngEnable && t.get(trngEnable) != old:
		t.begin()
	case offset == trngIMR:
		t.interrupt()
	}
}
