package periph

import (
	"fmt"
	"math/rand"
	"testing"
)

// A small assembler: the operands of the encodings in datasheet 11.4.
func pJMP(cond, addr uint16) uint16     { return cond<<5 | addr }
func pWAIT(pol, src, idx uint16) uint16 { return 1<<13 | pol<<7 | src<<5 | idx }
func pIN(src, n uint16) uint16          { return 2<<13 | src<<5 | n&31 }
func pOUT(dst, n uint16) uint16         { return 3<<13 | dst<<5 | n&31 }
func pPUSH(iff, block uint16) uint16    { return 4<<13 | iff<<6 | block<<5 }
func pPULL(ife, block uint16) uint16    { return 4<<13 | 1<<7 | ife<<6 | block<<5 }
func pMOV(dst, op, src uint16) uint16   { return 5<<13 | dst<<5 | op<<3 | src }
func pIRQ(clr, wait, idx uint16) uint16 { return 6<<13 | clr<<6 | wait<<5 | idx }
func pSET(dst, v uint16) uint16         { return 7<<13 | dst<<5 | v }
func pDelay(ins, n uint16) uint16       { return ins | n<<8 }
func smReg(n int, off uint32) uint32    { return pioSM0 + uint32(n)*pioSMStride + off }
func txf(n int) uint32                  { return pioTXF0 + 4*uint32(n) }
func rxf(n int) uint32                  { return pioRXF0 + 4*uint32(n) }
func wrap(bottom, top uint32) uint32    { return bottom<<7 | top<<12 }
func load(p *PIO, prog ...uint16) {
	for i, v := range prog {
		put(p, pioInstr0+4*uint32(i), uint32(v))
	}
}
func exec(p *PIO, n int, ins ...uint16) {
	for _, v := range ins {
		put(p, smReg(n, smInstr), uint32(v))
	}
}
func start(p *PIO, mask uint32) { put(p, pioCtrl, mask|mask<<8) }

const shDefault = shInRight | shOutRight

func TestPIOSquareWave(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[0]
	selectFunc(s, 6, FuncPIO0)
	// set pindirs 1; loop: set pins 1 [1]; set pins 0 — period 2+1.
	load(p, pSET(4, 1), pDelay(pSET(0, 1), 1), pSET(0, 0))
	put(p, smReg(0, smPinCtrl), 1<<26|6<<5)
	put(p, smReg(0, smExecCtrl), wrap(1, 2))
	put(p, smReg(0, smClkDiv), 2<<16)
	at := edges(f, s.Pins, 6)
	start(p, 1)
	f.run(40)
	got := *at
	if len(got) < 8 {
		t.Fatalf("edges %v", got)
	}
	for i := 1; i < len(got); i++ {
		want := uint64(4) // high for two ticks
		if i%2 == 0 {
			want = 2
		}
		if got[i]-got[i-1] != want {
			t.Errorf("edges %v: step %d is %d, want %d", got, i, got[i]-got[i-1], want)
		}
	}
	if read(p, pioPadOE) != 1<<6 || read(p, pioCfgInfo) != 0x10200404 {
		t.Errorf("PADOE %#x CFGINFO %#x", read(p, pioPadOE), read(p, pioCfgInfo))
	}
}

func TestPIOFractionalDivider(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[2]
	load(p, pJMP(2, 0)) // x--
	put(p, smReg(1, smExecCtrl), wrap(0, 0))
	put(p, smReg(1, smClkDiv), 2<<16|0x80<<8) // 2.5
	exec(p, 1, pMOV(1, 1, 3))                 // x = ~0
	start(p, 2)
	f.run(1001)
	exec(p, 1, pMOV(6, 0, 1), pPUSH(0, 0))
	if got := ^uint32(0) - read(p, rxf(1)); got < 400 || got > 401 {
		t.Errorf("%d steps in 1000 cycles at 2.5", got)
	}
}

func TestPIOAutopushPull(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[0]
	load(p, pOUT(1, 32), pIN(1, 32))
	put(p, smReg(0, smShift), shDefault|shAutopush|shAutopull)
	put(p, smReg(0, smExecCtrl), wrap(0, 1))
	start(p, 1)
	f.run(20)
	for i := range uint32(4) {
		put(p, txf(0), i*3+1)
	}
	f.run(20)
	if lev := read(p, pioFLevel); lev != 4<<4 {
		t.Errorf("FLEVEL = %#x", lev)
	}
	if st := read(p, pioFStat); st&(1<<24) == 0 || st&1 == 0 {
		t.Errorf("FSTAT = %#x", st)
	}
	for i := range uint32(4) {
		if got := read(p, rxf(0)); got != i*3+1 {
			t.Errorf("word %d = %d", i, got)
		}
	}
	if fd := read(p, pioFDebug); fd&(1<<24) == 0 {
		t.Errorf("FDEBUG = %#x, TXSTALL is missing", fd)
	}
	read(p, rxf(0))
	if read(p, pioFDebug)&(1<<8) == 0 {
		t.Error("RXUNDER is missing")
	}
	put(p, pioFDebug, 0x0f0f0f0f)
	if fd := read(p, pioFDebug); fd != 1<<24 {
		t.Errorf("FDEBUG = %#x after clearing, want TXSTALL: the machine still stalls", fd)
	}
	put(p, pioCtrl, 0)
	put(p, pioFDebug, 0x0f0f0f0f)
	if fd := read(p, pioFDebug); fd != 0 {
		t.Errorf("FDEBUG = %#x with the machine off", fd)
	}
}

func TestPIOAutopullThroughput(t *testing.T) {
	// A word a cycle and no gap: OUT with a threshold of 32 and data waiting.
	f, s := newFake(t)
	p := s.PIO[0]
	load(p, pOUT(1, 32))
	put(p, smReg(0, smShift), shDefault|shAutopull|shJoinTX)
	put(p, smReg(0, smExecCtrl), wrap(0, 0))
	for i := range uint32(8) {
		put(p, txf(0), i)
	}
	if read(p, pioFStat)&(1<<16|1) != 1<<16|1 || read(p, pioFStat)&(1<<8) == 0 {
		t.Errorf("joined: FSTAT %#x, the receive FIFO must read full and empty", read(p, pioFStat))
	}
	start(p, 1)
	f.run(1 + 1 + 8) // start, first refill, eight words
	if read(p, pioFLevel)&15 != 0 {
		t.Errorf("%d words left", read(p, pioFLevel)&15)
	}
	exec(p, 0, pMOV(1, 0, 1))
	// Changing a join empties the FIFOs and brings the request back.
	put(p, txf(0), 1)
	put(p, smReg(0, smShift), shDefault|shAutopull)
	if read(p, pioFLevel) != 0 || !s.Requests.High(DREQPIO0TX0) {
		t.Error("changing FJOIN keeps data")
	}
}

func TestPIOSideSetHoldsWhileStalled(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[1]
	selectFunc(s, 20, FuncPIO1)
	selectFunc(s, 21, FuncPIO1)
	// .side_set 1 opt: pull side 1; out pins,1 side 0 [1]
	load(p, pPULL(0, 1)|1<<12|1<<11, pDelay(pOUT(0, 1), 1)|1<<12)
	put(p, smReg(0, smPinCtrl), 2<<29|1<<20|20<<10|21)
	put(p, smReg(0, smExecCtrl), wrap(0, 1)|1<<30)
	exec(p, 0, pSET(4, 0))
	put(p, smReg(0, smPinCtrl), 2<<29|1<<20|20<<10|21|2<<26|20<<5)
	exec(p, 0, pSET(4, 3))
	start(p, 1)
	f.run(10)
	if s.Pins.Levels()>>20&3 != 1 {
		t.Errorf("the side-set of the stalled PULL is missing: %b", s.Pins.Levels()>>20&3)
	}
	a, b := edges(f, s.Pins, 20), edges(f, s.Pins, 21)
	now := f.now
	put(p, txf(0), 1)
	f.run(10)
	// PULL completes a cycle after the word came, OUT with side 0 follows, and
	// after its delay the next PULL stalls with side 1.
	if len(*a) != 2 || (*a)[0]-now != 2 || (*a)[1]-now != 4 || len(*b) != 1 || (*b)[0]-now != 2 {
		t.Errorf("clock %v data %v from %d", *a, *b, now)
	}
}

func TestPIOWaitPinTakesTwoCyclesOfSynchroniser(t *testing.T) {
	for _, c := range []struct {
		bypass uint32
		want   uint64
	}{{0, 4}, {1 << 9, 2}} {
		f, s := newFake(t)
		p := s.PIO[0]
		selectFunc(s, 10, FuncPIO0)
		put(s.PadsBank0, 4+4*9, padIE)
		load(p, pWAIT(1, 0, 9), pSET(0, 1), pJMP(0, 2))
		put(p, pioBypass, c.bypass)
		put(p, smReg(0, smPinCtrl), 1<<26|10<<5)
		exec(p, 0, pSET(4, 1))
		at := edges(f, s.Pins, 10)
		start(p, 1)
		f.run(50)
		now := f.now
		s.Pins.Drive(9, DriveHigh)
		f.run(10)
		if len(*at) != 1 || (*at)[0]-now != c.want {
			t.Errorf("bypass %#x: edges %v from %d, want one after %d", c.bypass, *at, now, c.want)
		}
	}
}

func TestPIOIRQFlags(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[0]
	// Machine 1: irq wait 4 rel (flag 5), then flag 0. Machine 2: wait 1 irq 6.
	load(p, pIRQ(0, 1, 0x14), pIRQ(0, 0, 0), pJMP(0, 2), pWAIT(1, 2, 6), pSET(1, 9), pJMP(0, 5))
	put(p, pioINTE0, 1<<8|1<<13)
	exec(p, 2, pJMP(0, 3))
	start(p, 6)
	f.run(20)
	if read(p, pioIRQ) != 1<<5 || !f.irq[15] || read(p, pioINTS0) != 1<<13 {
		t.Errorf("IRQ = %#x INTS0 %#x", read(p, pioIRQ), read(p, pioINTS0))
	}
	if read(p, smReg(1, smAddr)) != 0 || read(p, smReg(2, smAddr)) != 3 {
		t.Error("the machines do not wait")
	}
	put(p, pioIRQ, 1<<5)
	f.run(10)
	if read(p, pioIRQ) != 1 || read(p, smReg(1, smAddr)) != 2 {
		t.Errorf("after the acknowledgement: IRQ %#x pc %d", read(p, pioIRQ), read(p, smReg(1, smAddr)))
	}
	put(p, pioIRQForce, 1<<6)
	f.run(10)
	if read(p, pioIRQ) != 1 || read(p, smReg(2, smAddr)) != 5 {
		t.Errorf("WAIT 1 IRQ must clear the flag: %#x, pc %d", read(p, pioIRQ), read(p, smReg(2, smAddr)))
	}
	// The neighbours' flags: NEXT of PIO0 is PIO1, PREV is PIO2.
	exec(p, 3, pIRQ(0, 0, 0x18|2), pIRQ(0, 0, 0x08|3))
	if read(s.PIO[1], pioIRQ) != 1<<2 || read(s.PIO[2], pioIRQ) != 1<<3 {
		t.Errorf("neighbours: %#x %#x", read(s.PIO[1], pioIRQ), read(s.PIO[2], pioIRQ))
	}
}

func TestPIOShiftAndMove(t *testing.T) {
	_, s := newFake(t)
	p := s.PIO[0]
	do := func(shift uint32, ins ...uint16) uint32 {
		put(p, smReg(0, smShift), shift)
		exec(p, 0, ins...)
		exec(p, 0, pPUSH(0, 0))
		return read(p, rxf(0))
	}
	put(p, txf(0), 0x12345678)
	if got := do(shDefault, pPULL(0, 1), pOUT(1, 8), pMOV(6, 0, 1)); got != 0x78 {
		t.Errorf("out x,8 right: %#x", got)
	}
	if got := do(0, pOUT(2, 8), pMOV(6, 0, 2)); got != 0x00 {
		t.Errorf("out y,8 left of the rest: %#x", got)
	}
	exec(p, 0, pSET(1, 0x15))
	for _, c := range []struct {
		name  string
		shift uint32
		ins   []uint16
		want  uint32
	}{
		{"invert", shDefault, []uint16{pMOV(6, 1, 1)}, ^uint32(0x15)},
		{"reverse", shDefault, []uint16{pMOV(6, 2, 1)}, 0xa8000000},
		{"in right", shDefault, []uint16{pMOV(6, 0, 3), pIN(1, 5), pIN(1, 3)}, 0x15<<24 | 5<<29},
		{"in left", shOutRight, []uint16{pMOV(6, 0, 3), pIN(1, 5), pIN(1, 3)}, 0x15<<3 | 5},
		{"in 32", shDefault, []uint16{pIN(1, 32)}, 0x15},
		{"out isr", shDefault, []uint16{pMOV(7, 1, 3), pOUT(6, 12)}, 0xfff},
		{"status tx", shDefault, []uint16{pMOV(6, 0, 5)}, 0},
	} {
		if got := do(c.shift, c.ins...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	put(p, smReg(0, smExecCtrl), 1)
	if got := do(shDefault, pMOV(6, 0, 5)); got != ^uint32(0) {
		t.Errorf("STATUS with TX level 0 < 1: %#x", got)
	}
	// Non-blocking PULL from an empty FIFO takes X; x-- always decrements.
	if got := do(shDefault, pPULL(0, 0), pMOV(6, 0, 7)); got != 0x15 {
		t.Errorf("pull noblock: %#x", got)
	}
	exec(p, 0, pSET(1, 0), pJMP(2, 7))
	if read(p, smReg(0, smAddr)) == 7 {
		t.Error("jmp x-- with x = 0 jumps")
	}
	if got := do(shDefault, pMOV(6, 0, 1)); got != ^uint32(0) {
		t.Errorf("jmp x-- does not decrement 0: %#x", got)
	}
}

func TestPIOExec(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[0]
	load(p, pJMP(0, 0), pOUT(7, 32), pJMP(0, 1))
	put(p, smReg(0, smShift), shDefault|shAutopull)
	start(p, 1)
	f.run(5)
	exec(p, 0, pJMP(0, 1))
	for _, v := range []uint32{uint32(pOUT(1, 32)), 12345678, uint32(pIN(1, 32)), uint32(pPUSH(0, 1))} {
		put(p, txf(0), v)
	}
	f.run(30)
	if got := read(p, rxf(0)); got != 12345678 {
		t.Errorf("executed from the FIFO: %d", got)
	}
	if read(p, smReg(0, smExecCtrl))>>31 != 0 {
		t.Error("EXEC_STALLED without a stalled instruction by hand")
	}
	// A disabled machine executes by hand and may stall.
	put(p, pioCtrl, 0)
	exec(p, 0, pPULL(0, 1))
	if read(p, smReg(0, smExecCtrl))>>31 != 1 {
		t.Error("EXEC_STALLED is 0")
	}
	put(p, txf(0), 77)
	f.run(3)
	exec(p, 0, pMOV(6, 0, 7), pPUSH(0, 0))
	if got := read(p, rxf(0)); got != 77 {
		t.Errorf("the stalled PULL gave %d", got)
	}
}

// TestPIODrain does what pio_sm_drain_tx_fifo does, behind a machine that waits:
// nothing of what was queued may be left, not even in the shift register.
func TestPIODrain(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[0]
	load(p, pOUT(3, 16), pIRQ(0, 1, 0), pOUT(1, 16), pIN(1, 16), pPUSH(0, 0))
	put(p, smReg(0, smShift), shAutopull|16<<25)
	put(p, smReg(0, smClkDiv), 40<<16)
	for i := range uint32(5) {
		put(p, txf(0), (i+1)<<16)
		if i == 0 {
			start(p, 1)
			f.run(200)
		}
	}
	if read(p, pioIRQ) != 1 {
		t.Fatal("the machine does not wait")
	}
	for n := 0; read(p, pioFStat)&(1<<24) == 0; n++ {
		if n > 20 {
			t.Fatal("the FIFO does not drain")
		}
		exec(p, 0, pOUT(3, 32))
		f.run(10)
	}
	exec(p, 0, pJMP(0, 2))
	put(p, txf(0), 99<<16)
	f.run(500)
	if got := read(p, rxf(0)); got != 99 {
		t.Errorf("the machine sees %d, want the word after the drain", got)
	}
}

func TestPIORandomAccessFIFO(t *testing.T) {
	_, s := newFake(t)
	p := s.PIO[0]
	put(p, smReg(1, smShift), shDefault|shPut)
	exec(p, 1, pSET(1, 21), pMOV(6, 0, 1), 4<<13|1<<4|1<<3|2)
	if got := read(p, pioPutGet0+16+8); got != 21 {
		t.Errorf("mov rxfifo[2], isr: %d", got)
	}
	put(p, smReg(1, smShift), shDefault|shGet)
	put(p, pioPutGet0+16+12, 99)
	exec(p, 1, pSET(2, 3), 4<<13|1<<7|1<<4, pMOV(1, 0, 7), pMOV(6, 0, 1))
	if m := &p.sm[1]; m.isr != 99 {
		t.Errorf("mov osr, rxfifo[y]: %d", m.isr)
	}
}

func TestPIOPinPriorityAndSticky(t *testing.T) {
	f, s := newFake(t)
	p := s.PIO[0]
	load(p, pSET(0, 1), pSET(0, 0))
	for n := range 2 {
		put(p, smReg(n, smPinCtrl), 1<<26|3<<5)
		put(p, smReg(n, smExecCtrl), wrap(uint32(n), uint32(n)))
		exec(p, n, pJMP(0, uint16(n)))
	}
	start(p, 3)
	f.run(10)
	if read(p, pioPadOut) != 0 {
		t.Error("machine 1 must win over machine 0")
	}
	// A sticky write of the lower machine still loses to the higher one's
	// present write, and comes back when that is silent.
	put(p, pioCtrl, 1)
	f.run(10)
	if read(p, pioPadOut) != 1<<3 {
		t.Error("machine 0 alone does not drive")
	}
}

// TestPIOLazyIsExact runs random programs with and without an observer: the
// machines end in the same state, whether they run by the cycle or in one go.
func TestPIOLazyIsExact(t *testing.T) {
	for seed := range int64(60) {
		run := func(watched bool) string {
			r := rand.New(rand.NewSource(seed))
			f, s := newFake(t)
			p := s.PIO[0]
			for pin := range 8 {
				selectFunc(s, pin, FuncPIO0)
			}
			for pin := 8; pin < 12; pin++ {
				put(s.PadsBank0, 4+4*uint32(pin), padIE)
			}
			for i := range uint32(32) {
				put(p, pioInstr0+4*i, uint32(r.Intn(1<<16)))
			}
			for n := range pioMachines {
				put(p, smReg(n, smClkDiv), uint32(1+r.Intn(3))<<16|uint32(r.Intn(2)*0x4000))
				put(p, smReg(n, smShift), uint32(r.Int63())&^(shPut|shGet|shJoinTX|shJoinRX))
				put(p, smReg(n, smExecCtrl), uint32(r.Int63())&^(1<<17))
				put(p, smReg(n, smPinCtrl), uint32(r.Intn(4))<<29|uint32(r.Intn(6))<<26|uint32(r.Intn(9))<<20|
					uint32(r.Intn(12))<<15|uint32(r.Intn(8))<<10|uint32(r.Intn(8))<<5|uint32(r.Intn(8)))
				exec(p, n, pJMP(0, uint16(r.Intn(32))))
			}
			if watched {
				s.Pins.Watch(0xff, func(PinChange) {})
			}
			start(p, 15)
			for range 40 {
				f.run(uint64(1 + r.Intn(150)))
				n := r.Intn(4)
				switch r.Intn(5) {
				case 0, 1:
					put(p, txf(n), uint32(r.Int63()))
				case 2:
					read(p, rxf(n))
				case 3:
					put(p, pioIRQ, uint32(r.Intn(256)))
				case 4:
					s.Pins.Drive(8+n, DriveLow+Drive(r.Intn(2)))
				}
			}
			out := fmt.Sprintf("%08x %08x %02x %x", read(p, pioPadOut), read(p, pioPadOE), read(p, pioIRQ), read(p, pioFLevel))
			for n := range p.sm {
				m := &p.sm[n]
				out += fmt.Sprintf(" | %d %x %x %x %x %d %d", m.pc, m.x, m.y, m.isr, m.osr, m.isrCount, m.osrCount)
			}
			return out
		}
		if a, b := run(false), run(true); a != b {
			t.Fatalf("seed %d:\nlate  %s\nexact %s", seed, a, b)
		}
	}
}
