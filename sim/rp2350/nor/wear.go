package nor

// stuckBit is a bit that keeps its value.
type stuckBit struct {
	addr  uint32
	mask  byte
	level bool
}

// Stick makes a bit keep a value from now on, whatever is erased or programmed.
func (f *Flash) Stick(addr uint32, bit uint8, level bool) {
	s := stuckBit{addr & (f.Size() - 1), 1 << (bit & 7), level}
	f.stuck = append(f.stuck, s)
	f.tell(s.addr, 1)
}

// hold gives stuck bits their value back.
func (f *Flash) hold() {
	for _, s := range f.stuck {
		f.mem[s.addr] &^= s.mask
		if s.level {
			f.mem[s.addr] |= s.mask
		}
	}
}

// Cut sets what is asked before each erase and program; if it says true, power
// is lost in the middle of that one. Nothing is erased or programmed any more
// until PowerCycle. nil asks nobody.
func (f *Flash) Cut(lost func(erase bool, addr, n uint32) bool) { f.cut = lost }

// tear is an erase (p is nil) or a program that was cut off: half of it is done,
// of the next cells some have changed and some have not, the rest is as it was.
func (f *Flash) tear(addr, n uint32, p []byte) {
	f.dead = true
	half := n / 2
	for i := range min(n, half+n/8+1) {
		some := byte(0xff)
		if i >= half { // bits that got there; the same ones each time
			some = byte((i*167 + addr>>8 + 91) * 29 >> 3)
		}
		m := &f.mem[(addr+i)&(f.Size()-1)]
		if p == nil {
			*m |= some
		} else {
			*m &= p[i] | ^some
		}
	}
	f.tell(addr, n)
}
