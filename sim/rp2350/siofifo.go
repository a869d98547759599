package rp2350

// fifo is the mailbox into one core (datasheet 3.1.5).
type fifo struct {
	q   [fifoDepth]uint32
	n   int
	wof bool // this core wrote when its receiver was full
	roe bool // this core read when empty
}

const (
	fifoDepth = 4

	fifoVLD = 1 << 0
	fifoRDY = 1 << 1
	fifoWOF = 1 << 2
	fifoROE = 1 << 3
)

func (f *fifo) full() bool { return f.n == fifoDepth }

// head is the next word without taking it.
func (f *fifo) head() uint32 {
	if f.n == 0 {
		return 0
	}
	return f.q[0]
}

// pop takes a word; reading an empty FIFO sets ROE and gives 0.
func (f *fifo) pop() uint32 {
	if f.n == 0 {
		f.roe = true
		return 0
	}
	v := f.q[0]
	copy(f.q[:], f.q[1:f.n])
	f.n--
	return v
}

func (f *fifo) drain() { f.n = 0 }

func (f *fifo) put(v uint32) {
	f.q[f.n] = v
	f.n++
}

// clearErrors is a write of any value to FIFO_ST.
func (f *fifo) clearErrors() { f.wof, f.roe = false, false }

// interrupts is the level of SIO_IRQ_FIFO for the owner.
func (f *fifo) interrupts() bool { return f.n > 0 || f.wof || f.roe }

// fifoStatus is FIFO_ST: VLD from the core's own receiver, RDY from the other
// one's room.
func (s *sio) fifoStatus(b *sioBank, core int) uint32 {
	own := &b.fifo[core]
	var v uint32
	if own.n > 0 {
		v |= fifoVLD
	}
	if !b.fifo[core^1].full() {
		v |= fifoRDY
	}
	if own.wof {
		v |= fifoWOF
	}
	if own.roe {
		v |= fifoROE
	}
	return v
}

// push sends a word to the other core; a full FIFO drops it and sets WOF.
func (s *sio) push(b *sioBank, core int, v uint32) {
	to := core ^ 1
	if b.fifo[to].full() {
		b.fifo[core].wof = true
		s.refresh(core)
		return
	}
	b.fifo[to].put(v)
	s.refresh(to)
}
