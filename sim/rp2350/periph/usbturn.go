package periph

import "math/bits"

// Drive lets a host take its turns in simulated time: turn makes at most one
// transaction and returns the picoseconds that it takes on the bus. If there was
// none to make, it returns 0 and after how long to ask again, 0 for not before
// something changes on the device's side. nil ends it.
func (h USBHost) Drive(turn func() (spent, later uint64)) {
	h.u.turn, h.u.free = turn, 0
	h.u.env.Cancel(&h.u.next)
	h.u.wake()
}

// Wake gives the host a turn as soon as the bus is free.
func (h USBHost) Wake() { h.u.wake() }

// wake schedules the host's turn for now, or when the bus is free.
func (u *USB) wake() {
	if u.turn == nil {
		return
	}
	at := max(u.env.Now(), u.free)
	if u.next.Index != 0 && u.next.When <= at {
		return
	}
	u.env.Schedule(&u.next, at)
}

// takeTurn lets the host make a transaction.
func (u *USB) takeTurn() {
	if u.turn == nil {
		return
	}
	now := u.env.Now()
	u.free = now
	spent, later := u.turn()
	switch {
	case u.turn == nil:
	case spent > 0:
		u.free = now + u.cycles(spent)
		u.env.Schedule(&u.next, u.free)
	case later > 0:
		// What the host did may have woken it for now already.
		if u.next.Index == 0 {
			u.env.Schedule(&u.next, now+u.cycles(later))
		}
	}
}

// cycles turns picoseconds into cycles of clk_sys at its present rate, at least
// one.
func (u *USB) cycles(picos uint64) uint64 {
	const second = 1_000_000_000_000
	r := u.rate()
	if r.Stopped() {
		return 1
	}
	hi, lo := bits.Mul64(picos, r.Num)
	den := r.Den * second
	if hi >= den {
		return 1
	}
	n, _ := bits.Div64(hi, lo, den)
	return max(n, 1)
}
