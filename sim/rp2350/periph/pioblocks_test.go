package periph

import "testing"

// TestPIOAcrossBlocks: flags, STATUS and controls of the neighbouring blocks, of
// which the first and the last are neighbours, too.
func TestPIOAcrossBlocks(t *testing.T) {
	const prev, next = 1 << 3, 3 << 3
	for n := range 3 {
		f, s := newFake(t)
		p, before, behind := s.PIO[n], s.PIO[(n+2)%3], s.PIO[(n+1)%3]
		exec(p, 1, pIRQ(0, 0, prev|2), pIRQ(0, 0, next|5), pIRQ(0, 0, 7))
		if before.flags != 1<<2 || behind.flags != 1<<5 || p.flags != 1<<7 {
			t.Errorf("PIO%d: flags %#x, %#x, %#x", n, before.flags, p.flags, behind.flags)
		}
		exec(p, 1, pIRQ(1, 0, prev|2))
		if before.flags != 0 {
			t.Errorf("PIO%d does not clear a flag of the block before", n)
		}
		// A machine waits for a flag of the next block, and clears it.
		put(behind, pioIRQ, 0xff)
		load(p, pWAIT(1, 2, next|3), pSET(1, 9), pJMP(0, 2))
		start(p, 1)
		f.run(10)
		p.catchUp()
		if p.sm[0].x == 9 || !p.sm[0].blocked {
			t.Errorf("PIO%d does not wait for a flag of the next block", n)
		}
		put(behind, pioIRQForce, 1<<3)
		f.run(5)
		p.catchUp()
		if p.sm[0].x != 9 || behind.flags != 0 {
			t.Errorf("PIO%d: x = %d, flags %#x", n, p.sm[0].x, behind.flags)
		}
		// An IRQ WAIT on a flag of the block before is let go by its clearing.
		put(p, pioCtrl, 0)
		load(p, pIRQ(0, 1, prev|1), pSET(2, 4), pJMP(0, 2))
		exec(p, 0, pJMP(0, 0))
		start(p, 1)
		f.run(10)
		p.catchUp()
		if p.sm[0].y == 4 || before.flags != 1<<1 {
			t.Errorf("PIO%d: y = %d, flags %#x", n, p.sm[0].y, before.flags)
		}
		put(before, pioIRQ, 1<<1)
		f.run(5)
		p.catchUp()
		if p.sm[0].y != 4 {
			t.Errorf("PIO%d waits for a flag that is clear", n)
		}
		// STATUS.
		put(p, pioCtrl, 0)
		put(before, pioIRQForce, 1<<6)
		put(p, smReg(2, smExecCtrl), 2<<5|1<<3|6)
		exec(p, 2, pMOV(1, 0, 5))
		put(p, smReg(2, smExecCtrl), 2<<5|2<<3|6)
		exec(p, 2, pMOV(2, 0, 5))
		if p.sm[2].x != ^uint32(0) || p.sm[2].y != 0 {
			t.Errorf("PIO%d: STATUS of the neighbours is %#x, %#x", n, p.sm[2].x, p.sm[2].y)
		}
		// CTRL: machines of all three start in one cycle, with their dividers.
		put(p, pioCtrl, 5|9<<16|6<<20|1<<24|1<<26)
		if read(p, pioCtrl) != 5 || read(before, pioCtrl) != 9 || read(behind, pioCtrl) != 6 {
			t.Errorf("PIO%d enables %#x, %#x, %#x", n, read(before, pioCtrl), read(p, pioCtrl), read(behind, pioCtrl))
		}
		put(p, pioCtrl, 5|1<<16|2<<20|1<<25)
		if read(before, pioCtrl) != 8 || read(behind, pioCtrl) != 4 {
			t.Errorf("PIO%d disables %#x, %#x", n, read(before, pioCtrl), read(behind, pioCtrl))
		}
	}
}

// TestPIOGPIOBase: with GPIOBASE 16 a block sees and drives GPIO16 to 47 as its
// pins 0 to 31.
func TestPIOGPIOBase(t *testing.T) {
	f, s := newFakeWith(t, Config{Identity: Identity{ChipID: 0x20004927}})
	p := s.PIO[1]
	for _, pin := range []int{16, 47, 0, 31} {
		selectFunc(s, pin, FuncPIO1)
	}
	put(p, pioGPIOBase, 16)
	if v := read(p, pioGPIOBase); v != 16 {
		t.Errorf("GPIOBASE = %d", v)
	}
	// SET of two pins from 31 on wraps: GPIO47 and GPIO16.
	put(p, smReg(0, smPinCtrl), 2<<26|31<<5|31<<15)
	exec(p, 0, pSET(4, 3), pSET(0, 3))
	if v := s.Pins.Levels(); v>>16&1 != 1 || v>>47&1 != 1 || v&1 != 0 {
		t.Errorf("levels %#x", v)
	}
	exec(p, 0, pSET(0, 1))
	if v := s.Pins.Levels(); v>>16&1 != 0 || v>>47&1 != 1 {
		t.Errorf("levels %#x", v)
	}
	exec(p, 0, pSET(4, 0))
	s.Pins.Drive(16, DriveHigh)
	s.Pins.Drive(47, DriveLow)
	f.run(5)
	exec(p, 0, pMOV(1, 0, 0)) // pins from 31 on: GPIO47, GPIO16, …
	if v := p.sm[0].x; v&3 != 2 {
		t.Errorf("pins read %#x", v)
	}
	// WAIT GPIO counts from GPIOBASE, too.
	load(p, pWAIT(0, 0, 0), pSET(2, 3), pJMP(0, 2))
	start(p, 1)
	f.run(10)
	p.catchUp()
	if p.sm[0].y == 3 {
		t.Error("WAIT does not look at GPIO16")
	}
	s.Pins.Drive(16, DriveLow)
	f.run(10)
	p.catchUp()
	if p.sm[0].y != 3 {
		t.Error("WAIT does not see GPIO16 fall")
	}
	for _, v := range []uint32{1, 8, 15, 0xffffffef} {
		put(p, pioGPIOBase, v)
		if got := read(p, pioGPIOBase); got != 0 {
			t.Errorf("GPIOBASE %#x reads %#x", v, got)
		}
	}
}
