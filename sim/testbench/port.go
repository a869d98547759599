package testbench

import "github.com/stem-hw/stem-hw/sim/bus"

// Ready: a hart may make an access that others notice while it is not ahead of
// them; at the same cycle the lower number goes first.
func (h *hart) Ready(now uint64) bool {
	h.want = now
	for _, o := range h.b.harts {
		if o != h && o.running() && (o.Cycle < now || o.Cycle == now && o.id < h.id) {
			return false
		}
	}
	return true
}

// Load reads what is not RAM.
func (h *hart) Load(now uint64, addr uint32, size uint8, _ bus.Access) (uint32, uint32, bool) {
	v, ok := h.b.dev.load(now, addr, size)
	return v, 0, ok
}

// Store writes what is not RAM.
func (h *hart) Store(now uint64, addr uint32, size uint8, v uint32, _ bus.Access) (uint32, bool) {
	return 0, h.b.dev.store(h.id, now, addr, size, v)
}

// Fetch: there is no code outside RAM.
func (h *hart) Fetch(uint32) (uint16, bool) { return 0, false }

// granule is the address mask of the exclusive monitor (tb.cpp).
const granule = 0xfffffff8

// word returns the bytes of RAM at addr, or nil.
func (b *board) word(addr uint32) []byte {
	if off := addr - b.base; off < uint32(len(b.ram)) {
		return b.ram[off : off+4]
	}
	return nil
}

func get(p []byte) uint32 {
	return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
}

func put(p []byte, v uint32) {
	p[0], p[1], p[2], p[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// LoadExclusive is the read of lr.w. While the monitor is off, every exclusive
// access succeeds.
func (h *hart) LoadExclusive(now uint64, addr uint32, size uint8, _ bus.Access) (v, wait uint32, granted, ok bool) {
	if p := h.b.word(addr); p != nil {
		v = get(p)
		if h.b.dev.exclusive() {
			h.b.flags[(addr-h.b.base)/bus.LineSize] |= bus.LineReserved
		}
	} else if v, ok = h.b.dev.load(now, addr, size); !ok {
		return 0, 0, false, false
	}
	h.res, h.resOK = addr&granule, true
	return v, 0, true, true
}

// StoreExclusive is the write of sc.w.
func (h *hart) StoreExclusive(now uint64, addr uint32, size uint8, v uint32, _ bus.Access) (wait uint32, stored, ok bool) {
	if h.b.dev.exclusive() {
		had := h.resOK && h.res == addr&granule
		h.resOK = false
		if !had {
			// Whether there is memory at all shows in the response anyway.
			_, ok = h.b.dev.load(now, addr, size)
			return 0, false, ok || h.b.word(addr) != nil
		}
		h.b.clearReservations(h.id, addr)
	}
	if p := h.b.word(addr); p != nil {
		put(p, v)
		h.b.watched(h.id, addr)
		return 0, true, true
	}
	ok = h.b.dev.store(h.id, now, addr, size, v)
	return 0, ok, ok
}

// AMO is a read and a write that cannot be parted.
func (h *hart) AMO(now uint64, addr uint32, f func(uint32) uint32, a bus.Access) (old, wait uint32, ok bool) {
	if p := h.b.word(addr); p != nil {
		old = get(p)
		put(p, f(old))
		if h.b.dev.exclusive() {
			h.resOK = false
			h.b.clearReservations(h.id, addr)
		}
		h.b.watched(h.id, addr)
		return old, 0, true
	}
	if old, ok = h.b.dev.load(now, addr, 4); !ok {
		return 0, 0, false
	}
	return old, 0, h.b.dev.store(h.id, now, addr, 4, f(old))
}

// SendEvent: each hart's unblock output is the unblock input of all.
func (h *hart) SendEvent(now uint64) {
	for _, o := range h.b.harts {
		o.PostEvent()
		h.b.woken(h, o, now)
	}
}

// woken brings the clock of a hart that another woke up to the present, and
// lets the other not run far ahead of it.
func (b *board) woken(by, o *hart, now uint64) {
	if o == by || !o.Asleep() || !o.running() {
		return
	}
	o.SkipTo(now)
	by.Shorten(now)
}

func (b *board) clearReservations(id int, addr uint32) {
	for _, o := range b.harts {
		if o.id != id && o.res == addr&granule {
			o.resOK = false
		}
	}
}

func (b *board) watched(id int, addr uint32) {
	if b.flags[(addr-b.base)/bus.LineSize]&bus.LineWatched != 0 {
		b.dev.stored(id, addr, 4)
	}
}
