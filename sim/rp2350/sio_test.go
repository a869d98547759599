package rp2350

import "testing"

func TestFIFOIsFourDeepWithStatusBits(t *testing.T) {
	r := newRig(t, Options{})
	r.drainFIFOs()
	st := func(core int) uint32 { return r.load32(core, sioBase+sioFIFOSt) }
	if st(0) != fifoRDY || st(1) != fifoRDY {
		t.Fatalf("status %#x, %#x", st(0), st(1))
	}
	for i := range uint32(5) {
		r.store32(0, sioBase+sioFIFOWr, 10+i)
	}
	if st(0) != fifoWOF {
		t.Errorf("writer's status is %#x: full and overflowed", st(0))
	}
	if st(1) != fifoVLD|fifoRDY || !r.line(1, irqFIFO) || !r.line(0, irqFIFO) {
		t.Errorf("reader's status is %#x", st(1))
	}
	for i := range uint32(4) {
		if v := r.load32(1, sioBase+sioFIFORd); v != 10+i {
			t.Errorf("word %d is %d", i, v)
		}
	}
	if r.line(1, irqFIFO) {
		t.Error("an empty FIFO without errors should not interrupt")
	}
	r.load32(1, sioBase+sioFIFORd)
	if st(1) != fifoRDY|fifoROE || !r.line(1, irqFIFO) {
		t.Errorf("a read of an empty FIFO gives status %#x", st(1))
	}
	r.store32(0, sioBase+sioFIFOSt, 0)
	r.store32(1, sioBase+sioFIFOSt, 0)
	if st(0) != fifoRDY || st(1) != fifoRDY || r.line(0, irqFIFO) || r.line(1, irqFIFO) {
		t.Error("any write should clear the errors")
	}
}

// drainFIFOs takes what the ROM's cores left.
func (r *rig) drainFIFOs() {
	for i := range r.nodes {
		r.sio.banks[0].fifo[i] = fifo{}
		r.sio.refresh(i)
	}
}

func TestSpinlocksAndErratumE2(t *testing.T) {
	r := newRig(t, Options{})
	for n := range uint32(32) {
		if v := r.load32(0, sioBase+0x100+4*n); v != 1<<n {
			t.Errorf("claiming lock %d gives %#x", n, v)
		}
		if v := r.load32(1, sioBase+0x100+4*n); v != 0 {
			t.Errorf("lock %d was claimed twice", n)
		}
	}
	r.store32(1, sioBase+0x100+4*31, 0)
	r.want(sioBase+sioSpinSt, 0x7fffffff)
	for off := uint32(0x180); off < 0x200; off += 4 {
		if off != sioSoftIRQ {
			r.storeN(0, sioBase+off, 4, 0)
		}
	}
	// Locks 5, 6, 7, 10, 11 and from 18 on are safe; 8 was left out above.
	r.want(sioBase+sioSpinSt, 0x7ffc0000|1<<5|1<<6|1<<7|1<<8|1<<10|1<<11)
}

func TestDoorbells(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, sioBase+sioBellOutSet, 0x81)
	if v := r.load32(1, sioBase+sioBellInSet); v != 0x81 || !r.line(1, irqBell) || r.line(0, irqBell) {
		t.Errorf("core 1 sees %#x", v)
	}
	r.want(sioBase+sioBellOutClr, 0x81)
	r.store32(1, sioBase+sioBellInClr, 0x80)
	r.want(sioBase+sioBellOutSet, 0x01)
	r.store32(0, sioBase+sioBellOutClr, 0xff)
	if r.line(1, irqBell) {
		t.Error("cleared doorbells should not interrupt")
	}
	r.store32(1, sioBase+sioBellInSet, 2)
	if !r.line(1, irqBell) || r.line(0, irqBell) {
		t.Error("IN_SET rings the core's own bell")
	}
}

func TestNonSecureBankIsItsOwn(t *testing.T) {
	r := newRig(t, Options{})
	r.drainFIFOs()
	r.store32(0, sioNonSecure+sioFIFOWr, 5)
	if r.line(1, irqFIFO) || !r.line(1, irqFIFONS) {
		t.Error("the Non-secure FIFO has an interrupt of its own")
	}
	if v := r.load32(1, sioNonSecure+sioFIFORd); v != 5 {
		t.Errorf("read %d", v)
	}
}

func TestSoftIRQ(t *testing.T) {
	r := newRig(t, Options{})
	mip := func(core int) uint32 { v, _ := r.nodes[core].cpu.(riscv).CSR(0x344); return v & 8 }
	r.store32(0, sioBase+sioSoftIRQ, 2)
	if mip(0) != 0 || mip(1) != 8 || r.load32(0, sioBase+sioSoftIRQ)&3 != 2 {
		t.Errorf("mip %#x, %#x", mip(0), mip(1))
	}
	r.store32(1, sioBase+sioSoftIRQ, 0x201)
	if mip(0) != 8 || mip(1) != 0 {
		t.Errorf("mip %#x, %#x", mip(0), mip(1))
	}
}

func TestMachineTimerFullSpeed(t *testing.T) {
	r := newRig(t, Options{})
	p := (&asm{}).wfi().back(1)
	r.program(p)
	r.until(200)
	r.store32(0, sioBase+sioMTime, 0)
	r.store32(0, sioBase+sioMTimeH, 0)
	r.store32(0, sioBase+sioMTimeCmpH, 0)
	r.store32(0, sioBase+sioMTimeCmp, 1000)
	r.store32(0, sioBase+sioMTimeCtrl, mtimeEN|mtimeFullSpeed)
	start := r.Now()
	r.Run(start + 999)
	if r.line(0, irqMTimeCmp) {
		t.Error("the timer is early")
	}
	r.Run(start + 1000)
	if !r.line(0, irqMTimeCmp) || r.line(1, irqMTimeCmp) {
		t.Error("mtime >= mtimecmp should interrupt core 0 alone")
	}
	r.want(sioBase+sioMTime, 1000)
	r.store32(0, sioBase+sioMTimeCmp, 5000)
	if r.line(0, irqMTimeCmp) {
		t.Error("the interrupt is a level")
	}
}

func TestSIOGPIO(t *testing.T) {
	r := newRig(t, Options{})
	const out, hi = sioBase + 0x10, sioBase + 0x14
	r.store32(0, out, 0xff)
	r.store32(0, out+0x18, 0x0f)
	r.store32(1, out+0x10, 0xf0)
	r.store32(0, out+0x08, 0x100)
	r.want(out, 0x100)
	r.store32(0, hi+0x08, 0xffffffff)
	r.want(hi, 0xff00ffff)
	// GPIO 25 as an output: pad out of isolation, function SIO.
	r.store32(0, 0x40028000+25*8+4, 5)
	r.store32(0, 0x40038000+4+25*4, 1<<6)
	r.store32(0, out+0x28, 1<<25)
	r.store32(0, out+0x08, 1<<25)
	if r.Pins().Levels()>>25&1 != 1 || r.load32(0, sioBase+sioGPIOIn)>>25&1 != 1 {
		t.Error("the LED should be on")
	}
	if r.load32(0, sioBase+sioGPIOHiIn)>>27&1 != 1 {
		t.Error("QSPI CSn should read 1 without the BOOTSEL button")
	}
}

func TestCPUID(t *testing.T) {
	r := newRig(t, Options{})
	if r.load32(0, sioBase) != 0 || r.load32(1, sioBase) != 1 {
		t.Error("CPUID")
	}
	if v, _ := r.load(1, sioBase+3, 1); v != 0 {
		t.Error("narrow reads pick their lane")
	}
}
