package periph

// ring is a FIFO of up to 32 entries whose depth can change.
type ring struct {
	buf   [32]uint32
	head  int
	n     int
	depth int
}

func (r *ring) len() int    { return r.n }
func (r *ring) empty() bool { return r.n == 0 }
func (r *ring) full() bool  { return r.n >= r.depth }
func (r *ring) clear()      { r.head, r.n = 0, 0 }

// push adds v; it reports false, and adds nothing, if the FIFO is full.
func (r *ring) push(v uint32) bool {
	if r.full() {
		return false
	}
	r.buf[(r.head+r.n)%len(r.buf)] = v
	r.n++
	return true
}

// pop takes the oldest entry; ok is false if there is none.
func (r *ring) pop() (v uint32, ok bool) {
	if r.n == 0 {
		return 0, false
	}
	v = r.buf[r.head]
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return v, true
}

// peek returns the oldest entry without taking it, 0 if there is none.
func (r *ring) peek() uint32 {
	if r.n == 0 {
		return 0
	}
	return r.buf[r.head]
}
