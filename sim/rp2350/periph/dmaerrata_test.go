package periph

import "testing"

// erratumDMA starts channels that copy words, chained as ctrl says.
func erratumDMA(f *fakeChip, d *DMA) func(n, count, chain, treq uint32) {
	return func(n, count, chain, treq uint32) {
		put(d, 0x40*n, 0x20000000)
		put(d, 0x40*n+4, 0x20000100)
		put(d, 0x40*n+8, count)
		put(d, 0x40*n+0xc, dmaEN|2<<2|chain<<13|treq<<17)
		f.run(20)
	}
}

// TestErratumE8: a sequence without transfers chains only if its channel was the
// last one to complete a write.
func TestErratumE8(t *testing.T) {
	f, s := newFake(t)
	d := s.DMA
	start := erratumDMA(f, d)
	intr := func() uint32 {
		v := read(d, dmaINTR)
		put(d, dmaINTR, v)
		return v
	}
	start(2, 1, 2, treqForce) // so that channel 2 has a count to repeat
	intr()
	start(1, 0, 2, treqForce)
	if v := intr(); v != 2 {
		t.Errorf("channel 1 has written nothing and chains: INTR %#x", v)
	}
	start(1, 1, 1, treqForce)
	intr()
	start(1, 0, 2, treqForce)
	if v := intr(); v != 6 {
		t.Errorf("channel 1 wrote last and does not chain: INTR %#x", v)
	}
	start(1, 0, 2, treqForce)
	if v := intr(); v != 2 {
		t.Errorf("channel 2 wrote last and channel 1 chains: INTR %#x", v)
	}
	// Empty channels that chain in a circle come to an end.
	start(2, 0, 1, treqForce)
	start(1, 1, 1, treqForce)
	start(1, 0, 2, treqForce)
	if read(d, 0x50)&dmaBusy != 0 || read(d, 0x90)&dmaBusy != 0 {
		t.Error("the circle goes on")
	}
}

// TestErratumE5: an abort of the channel that wrote last chains, and starts a
// chain of aborted channels anew.
func TestErratumE5(t *testing.T) {
	f, s := newFake(t)
	d := s.DMA
	start := erratumDMA(f, d)
	busy := func(n uint32) bool { return read(d, 0x40*n+0x10)&dmaBusy != 0 }
	// Two channels that trigger each other, paced so that one is always at work.
	put(d, dmaTimer0, 1<<16|10)
	start(2, 0, 2, treqTimer0)
	put(d, 0x40*2+8, 100)
	start(1, 100, 2, treqTimer0)
	put(d, 0x40*2+0x10, dmaEN|2<<2|1<<13|treqTimer0<<17)
	if !busy(1) || read(d, 0x48) == 100 {
		t.Fatal("channel 1 does not run")
	}
	put(d, dmaAbort, 1<<1)
	if busy(1) || !busy(2) || read(d, dmaAbort) != 0 {
		t.Errorf("abort of the last writer: channel 1 busy %v, channel 2 %v", busy(1), busy(2))
	}
	f.run(50) // channel 2 writes
	put(d, dmaAbort, 1<<1|1<<2)
	if !busy(2) && !busy(1) {
		t.Error("aborted channels that chain to each other stay aborted")
	}
	// The workaround: EN is cleared first.
	for n := uint32(1); n <= 2; n++ {
		put(d, 0x40*n+0x10, read(d, 0x40*n+0x10)&^dmaEN)
	}
	put(d, dmaAbort, 1<<1|1<<2)
	f.run(100)
	if busy(1) || busy(2) {
		t.Errorf("after the workaround: channel 1 busy %v, channel 2 %v", busy(1), busy(2))
	}
	// A channel that did not write last is aborted in silence.
	put(d, dmaAbort, 0xffff)
	start(3, 5, 3, treqForce)
	start(1, 5, 2, treqTimer0+1) // the timer does not run
	put(d, dmaAbort, 1<<1)
	if busy(1) || busy(2) {
		t.Error("an abort chains although another channel wrote last")
	}
}
