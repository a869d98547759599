package rp2350

import "testing"

func TestDMAReachesMemoryAndNotSIO(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).wfi().back(1))
	r.Run(100)
	r.InputOpen(true)
	r.store32(0, regResetsClear, 0x1fffffff)
	r.Flash().Load(0, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	r.lr(1, sramBase+0x2000)
	const dma = 0x50000000
	r.store32(0, dma+0, xipBase)
	r.store32(0, dma+4, sramBase+0x2000)
	r.store32(0, dma+8, 2)
	// CTRL_TRIG: enabled, words, both addresses increment, no pacing, no chain.
	const ctrl = 1 | 2<<2 | 1<<4 | 1<<6 | 0x3f<<17
	r.store32(0, dma+0xc, ctrl)
	r.Run(r.Now() + 100)
	r.want(sramBase+0x2000, 0x04030201)
	r.want(sramBase+0x2004, 0x08070605)
	if r.sc(1, sramBase+0x2000, 0) {
		t.Error("a DMA write should kill a reservation")
	}
	r.store32(0, dma+0, sioBase)
	r.store32(0, dma+4, sramBase+0x2000)
	r.store32(0, dma+0xc, ctrl)
	r.Run(r.Now() + 100)
	if v := r.load32(0, dma+0xc); v&(1<<30) == 0 {
		t.Errorf("reading SIO by DMA should be an error, CTRL %#x", v)
	}
	const told = "DMA channel 0 stops: load from 0xd0000000: DMA reaches neither SIO nor the cores' own registers (CTRL.READ_ERROR)"
	if n := len(r.notices); n != 1 || r.notices[0].Text != told {
		t.Errorf("told: %+v", r.notices)
	}
}
