package periph

// downCounter is the COUNT register of an oscillator: 16 bits that count down
// at its frequency and stop at 0.
type downCounter struct {
	clock *Clock
	end   uint64
}

func (d *downCounter) write(v uint32) { d.end = d.clock.Count() + uint64(v&0xffff) }

func (d *downCounter) read() uint32 {
	if n := d.clock.Count(); n < d.end {
		return uint32(d.end - n)
	}
	return 0
}
