package periph

import "testing"

// smState is what an instruction can change of a machine.
type smState struct {
	pc                 uint8
	x, y, isr, osr     uint32
	isrCount, osrCount uint8
	tx, rx             int
	rxTop              uint32 // the first word in the receive FIFO
	flags              uint8
	out, oe            uint32
	stalled            bool
}

func stateOf(p *PIO) smState {
	m := &p.sm[0]
	s := smState{pc: m.pc, x: m.x, y: m.y, isr: m.isr, osr: m.osr, isrCount: m.isrCount, osrCount: m.osrCount,
		tx: m.tx.len(), rx: m.rx.len(), flags: p.flags, out: p.out, oe: p.oe, stalled: m.blocked}
	if s.rx > 0 {
		s.rxTop = m.rx.peek()
	}
	return s
}

// pioCase is one instruction under one condition.
type pioCase struct {
	name  string
	ins   uint16
	set   func(c *pioSetup) // conditions; nil is the reset state
	want  func(s *smState)  // changes of the state before
	steps uint64            // cycles, 1 if 0
}

// pioSetup is what a case may prepare.
type pioSetup struct {
	p                  *PIO
	shift, exec, pin   uint32
	x, y, isr, osr     uint32
	isrCount, osrCount uint8
	tx, rx             []uint32
	flags              uint8
	pins               uint64
	other              []uint16 // instructions behind the first
}

const (
	right = shInRight | shOutRight
	left  = 0
)

// pioCases go through the instruction set (datasheet 11.4) with its corners:
// conditions true and false, counts of 0 that mean 32, shifts in both directions,
// thresholds, full and empty FIFOs, wrapping, every source and destination.
var pioCases = []pioCase{
	{name: "jmp", ins: pJMP(0, 9), want: func(s *smState) { s.pc = 9 }},
	{name: "jmp to itself", ins: pJMP(0, 0), want: func(s *smState) { s.pc = 0 }},
	{name: "jmp !x, x is 0", ins: pJMP(1, 9), want: func(s *smState) { s.pc = 9 }},
	{name: "jmp !x, x is not", ins: pJMP(1, 9), set: func(c *pioSetup) { c.x = 1 }, want: func(s *smState) { s.pc = 1 }},
	{name: "jmp x--, x is 0: wraps and falls through", ins: pJMP(2, 9), want: func(s *smState) { s.pc, s.x = 1, ^uint32(0) }},
	{name: "jmp x--, x is not", ins: pJMP(2, 9), set: func(c *pioSetup) { c.x = 5 }, want: func(s *smState) { s.pc, s.x = 9, 4 }},
	{name: "jmp !y", ins: pJMP(3, 9), want: func(s *smState) { s.pc = 9 }},
	{name: "jmp y--, y is 0", ins: pJMP(4, 9), want: func(s *smState) { s.pc, s.y = 1, ^uint32(0) }},
	{name: "jmp y--, y is 1", ins: pJMP(4, 9), set: func(c *pioSetup) { c.y = 1 }, want: func(s *smState) { s.pc, s.y = 9, 0 }},
	{name: "jmp x!=y, equal", ins: pJMP(5, 9), want: func(s *smState) { s.pc = 1 }},
	{name: "jmp x!=y, different", ins: pJMP(5, 9), set: func(c *pioSetup) { c.x = 1 }, want: func(s *smState) { s.pc = 9 }},
	{name: "jmp pin high", ins: pJMP(6, 9), set: func(c *pioSetup) { c.exec, c.pins = 5<<24, 1<<5 }, want: func(s *smState) { s.pc = 9 }},
	{name: "jmp pin low", ins: pJMP(6, 9), set: func(c *pioSetup) { c.exec, c.pins = 5<<24, 1<<6 }, want: func(s *smState) { s.pc = 1 }},
	{name: "jmp !osre, empty", ins: pJMP(7, 9), want: func(s *smState) { s.pc = 1 }},
	{name: "jmp !osre, not empty", ins: pJMP(7, 9), set: func(c *pioSetup) { c.osrCount = 31 }, want: func(s *smState) { s.pc = 9 }},
	{name: "jmp !osre, past the threshold", ins: pJMP(7, 9), set: func(c *pioSetup) { c.osrCount, c.shift = 8, right|8<<25 }, want: func(s *smState) { s.pc = 1 }},

	{name: "wait 1 gpio, high", ins: pWAIT(1, 0, 7), set: func(c *pioSetup) { c.pins = 1 << 7 }, want: func(s *smState) { s.pc = 1 }},
	{name: "wait 1 gpio, low: stalls", ins: pWAIT(1, 0, 7), want: func(s *smState) { s.stalled = true }},
	{name: "wait 0 gpio, low", ins: pWAIT(0, 0, 7), want: func(s *smState) { s.pc = 1 }},
	{name: "wait 1 pin counts from IN_BASE", ins: pWAIT(1, 1, 3), set: func(c *pioSetup) { c.pin, c.pins = 4<<15, 1<<7 }, want: func(s *smState) { s.pc = 1 }},
	{name: "wait 1 pin wraps at 32", ins: pWAIT(1, 1, 3), set: func(c *pioSetup) { c.pin, c.pins = 31<<15, 1<<2 }, want: func(s *smState) { s.pc = 1 }},
	{name: "wait 1 jmppin + 1", ins: pWAIT(1, 3, 1), set: func(c *pioSetup) { c.exec, c.pins = 9<<24, 1<<10 }, want: func(s *smState) { s.pc = 1 }},
	{name: "wait 1 irq, set: clears it", ins: pWAIT(1, 2, 3), set: func(c *pioSetup) { c.flags = 0xff }, want: func(s *smState) { s.pc, s.flags = 1, 0xf7 }},
	{name: "wait 1 irq, clear: stalls", ins: pWAIT(1, 2, 3), want: func(s *smState) { s.stalled = true }},
	{name: "wait 0 irq, clear: leaves it", ins: pWAIT(0, 2, 3), set: func(c *pioSetup) { c.flags = 0xf7 }, want: func(s *smState) { s.pc = 1 }},

	{name: "in null, 32 (encoded 0)", ins: pIN(3, 0), set: func(c *pioSetup) { c.shift, c.isr = left, 0xffffffff }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0, 32 }},
	{name: "in x, 8 to the right", ins: pIN(1, 8), set: func(c *pioSetup) { c.shift, c.x, c.isr = right, 0x1234, 0xff }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0x34000000, 8 }},
	{name: "in x, 8 to the left", ins: pIN(1, 8), set: func(c *pioSetup) { c.shift, c.x, c.isr = left, 0x1234, 0xff }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0xff34, 8 }},
	{name: "in: the count saturates at 32", ins: pIN(1, 8), set: func(c *pioSetup) { c.isrCount = 30 }, want: func(s *smState) { s.pc, s.isrCount = 1, 32 }},
	{name: "in pins masks by IN_COUNT", ins: pIN(0, 32), set: func(c *pioSetup) { c.shift, c.pins, c.pin = 4, 0xffff, 2<<15 }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0xf, 32 }},
	{name: "in isr shifts itself", ins: pIN(6, 4), set: func(c *pioSetup) { c.isr = 0xabc }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0xabcc, 4 }},
	{name: "in osr", ins: pIN(7, 16), set: func(c *pioSetup) { c.osr = 0x12345678 }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0x5678, 16 }},
	{name: "in with autopush", ins: pIN(1, 8), set: func(c *pioSetup) { c.shift, c.x, c.isrCount = shAutopush|16<<20, 0xab, 8 }, want: func(s *smState) { s.pc, s.rx, s.rxTop, s.isrCount = 1, 1, 0xab, 0 }},
	{name: "in with autopush below the threshold", ins: pIN(1, 8), set: func(c *pioSetup) { c.shift, c.x = shAutopush|16<<20, 0xab }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0xab, 8 }},
	{name: "in with autopush, FIFO full: stalls, nothing is shifted", ins: pIN(1, 8), set: func(c *pioSetup) { c.shift, c.x, c.isr, c.rx = shAutopush|8<<20, 1, 7, []uint32{1, 2, 3, 4} }, want: func(s *smState) { s.stalled = true }},

	{name: "out x, 8 to the right", ins: pOUT(1, 8), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount = right, 0x12345678, 0 }, want: func(s *smState) { s.pc, s.x, s.osr, s.osrCount = 1, 0x78, 0x123456, 8 }},
	{name: "out y, 8 to the left", ins: pOUT(2, 8), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount = left, 0x12345678, 0 }, want: func(s *smState) { s.pc, s.y, s.osr, s.osrCount = 1, 0x12, 0x34567800, 8 }},
	{name: "out null, 32", ins: pOUT(3, 0), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount = right, 5, 0 }, want: func(s *smState) { s.pc, s.osr, s.osrCount = 1, 0, 32 }},
	{name: "out pins from OUT_BASE", ins: pOUT(0, 8), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount, c.pin = right, 0xff, 0, 4|3<<20 }, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.out = 1, 0, 8, 7<<4 }},
	{name: "out pins wraps at 32", ins: pOUT(0, 4), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount, c.pin = right, 0xf, 0, 30|4<<20 }, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.out = 1, 0, 4, 0xc0000003 }},
	{name: "out pindirs", ins: pOUT(4, 2), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount, c.pin = right, 2, 0, 5|2<<20 }, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.oe = 1, 0, 2, 1<<6 }},
	{name: "out pc", ins: pOUT(5, 5), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount = right, 17, 0 }, want: func(s *smState) { s.pc, s.osr, s.osrCount = 17, 0, 5 }},
	{name: "out isr sets its count", ins: pOUT(6, 12), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount = right, 0xabc, 0 }, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.isr, s.isrCount = 1, 0, 12, 0xabc, 12 }},
	{name: "out exec runs in the next cycle", ins: pOUT(7, 16), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount = right, uint32(pSET(1, 21)), 0 }, steps: 2, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.x = 1, 0, 16, 21 }},
	{name: "out: the count saturates", ins: pOUT(3, 8), set: func(c *pioSetup) { c.shift, c.osrCount = right, 30 }, want: func(s *smState) { s.pc, s.osrCount = 1, 32 }},
	{name: "out with autopull, all empty: stalls", ins: pOUT(1, 8), set: func(c *pioSetup) { c.shift = right | shAutopull }, want: func(s *smState) { s.stalled = true }},
	{name: "out with autopull refills behind it", ins: pOUT(1, 8), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount, c.tx = right|shAutopull|8<<25, 0x55, 0, []uint32{0x99} }, want: func(s *smState) { s.pc, s.x, s.osr, s.osrCount, s.tx = 1, 0x55, 0x99, 0, 0 }},
	{name: "out with autopull, word in the FIFO: one cycle more", ins: pOUT(1, 8), set: func(c *pioSetup) { c.shift, c.tx = right|shAutopull, []uint32{0x99} }, steps: 2, want: func(s *smState) { s.pc, s.x, s.osrCount, s.tx = 1, 0x99, 8, 0 }},

	{name: "push", ins: pPUSH(0, 1), set: func(c *pioSetup) { c.isr, c.isrCount = 9, 3 }, want: func(s *smState) { s.pc, s.isr, s.isrCount, s.rx, s.rxTop = 1, 0, 0, 1, 9 }},
	{name: "push iffull below the threshold", ins: pPUSH(1, 1), set: func(c *pioSetup) { c.isr, c.isrCount = 9, 3 }, want: func(s *smState) { s.pc = 1 }},
	{name: "push block, full: stalls", ins: pPUSH(0, 1), set: func(c *pioSetup) { c.isr, c.rx = 9, []uint32{1, 2, 3, 4} }, want: func(s *smState) { s.stalled = true }},
	{name: "push noblock, full: the word is lost, ISR cleared", ins: pPUSH(0, 0), set: func(c *pioSetup) { c.isr, c.isrCount, c.rx = 9, 3, []uint32{1, 2, 3, 4} }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 0, 0 }},
	{name: "pull", ins: pPULL(0, 1), set: func(c *pioSetup) { c.tx = []uint32{7, 8} }, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.tx = 1, 7, 0, 1 }},
	{name: "pull ifempty, not empty", ins: pPULL(1, 1), set: func(c *pioSetup) { c.tx, c.osrCount = []uint32{7}, 8 }, want: func(s *smState) { s.pc = 1 }},
	{name: "pull block, empty: stalls", ins: pPULL(0, 1), want: func(s *smState) { s.stalled = true }},
	{name: "pull noblock, empty: OSR is X", ins: pPULL(0, 0), set: func(c *pioSetup) { c.x = 77 }, want: func(s *smState) { s.pc, s.osr, s.osrCount = 1, 77, 0 }},
	{name: "pull with autopull and OSR full: nothing", ins: pPULL(0, 1), set: func(c *pioSetup) { c.shift, c.osr, c.osrCount, c.tx = right|shAutopull, 3, 0, []uint32{7} }, want: func(s *smState) { s.pc = 1 }},

	{name: "mov x, y", ins: pMOV(1, 0, 2), set: func(c *pioSetup) { c.y = 5 }, want: func(s *smState) { s.pc, s.x = 1, 5 }},
	{name: "mov y, ~x", ins: pMOV(2, 1, 1), set: func(c *pioSetup) { c.x = 0xf0 }, want: func(s *smState) { s.pc, s.y = 1, ^uint32(0xf0) }},
	{name: "mov x, ::osr", ins: pMOV(1, 2, 7), set: func(c *pioSetup) { c.osr = 1 }, want: func(s *smState) { s.pc, s.x = 1, 0x80000000 }},
	{name: "mov x, null", ins: pMOV(1, 0, 3), set: func(c *pioSetup) { c.x = 4 }, want: func(s *smState) { s.pc, s.x = 1, 0 }},
	{name: "mov x, pins", ins: pMOV(1, 0, 0), set: func(c *pioSetup) { c.pins, c.pin = 0xf0, 4<<15 }, want: func(s *smState) { s.pc, s.x = 1, 0xf }},
	{name: "mov x, pins rotates", ins: pMOV(1, 0, 0), set: func(c *pioSetup) { c.pins, c.pin = 1, 1<<15 }, want: func(s *smState) { s.pc, s.x = 1, 0x80000000 }},
	{name: "mov isr, x resets its count", ins: pMOV(6, 0, 1), set: func(c *pioSetup) { c.x, c.isrCount = 3, 9 }, want: func(s *smState) { s.pc, s.isr, s.isrCount = 1, 3, 0 }},
	{name: "mov osr, x makes it full", ins: pMOV(7, 0, 1), set: func(c *pioSetup) { c.x = 3 }, want: func(s *smState) { s.pc, s.osr, s.osrCount = 1, 3, 0 }},
	{name: "mov pins, x", ins: pMOV(0, 0, 1), set: func(c *pioSetup) { c.x, c.pin = 5, 2|3<<20 }, want: func(s *smState) { s.pc, s.out = 1, 5<<2 }},
	{name: "mov pindirs, x", ins: pMOV(3, 0, 1), set: func(c *pioSetup) { c.x, c.pin = 5, 2|3<<20 }, want: func(s *smState) { s.pc, s.oe = 1, 5<<2 }},
	{name: "mov pc, x", ins: pMOV(5, 0, 1), set: func(c *pioSetup) { c.x = 12 }, want: func(s *smState) { s.pc = 12 }},
	{name: "mov exec, x", ins: pMOV(4, 0, 1), set: func(c *pioSetup) { c.x = uint32(pSET(2, 30)) }, steps: 2, want: func(s *smState) { s.pc, s.y = 1, 30 }},
	{name: "mov x, status: TX below N", ins: pMOV(1, 0, 5), set: func(c *pioSetup) { c.exec, c.tx = 2, []uint32{1} }, want: func(s *smState) { s.pc, s.x = 1, ^uint32(0) }},
	{name: "mov x, status: TX not below N", ins: pMOV(1, 0, 5), set: func(c *pioSetup) { c.exec, c.tx, c.x = 1, []uint32{1}, 9 }, want: func(s *smState) { s.pc, s.x = 1, 0 }},
	{name: "mov x, status: RX below N", ins: pMOV(1, 0, 5), set: func(c *pioSetup) { c.exec = 1<<5 | 1 }, want: func(s *smState) { s.pc, s.x = 1, ^uint32(0) }},
	{name: "mov x, status: flag 4", ins: pMOV(1, 0, 5), set: func(c *pioSetup) { c.exec, c.flags = 2<<5|4, 1<<4 }, want: func(s *smState) { s.pc, s.x = 1, ^uint32(0) }},

	{name: "irq set", ins: pIRQ(0, 0, 5), want: func(s *smState) { s.pc, s.flags = 1, 1<<5 }},
	{name: "irq clear", ins: pIRQ(1, 0, 5), set: func(c *pioSetup) { c.flags = 0x30 }, want: func(s *smState) { s.pc, s.flags = 1, 0x10 }},
	{name: "irq wait: stalls until it is cleared", ins: pIRQ(0, 1, 2), want: func(s *smState) { s.flags, s.stalled = 1<<2, true }},
	{name: "irq rel adds the machine's number", ins: pIRQ(0, 0, 2<<3|6), want: func(s *smState) { s.pc, s.flags = 1, 1<<6 }},
	{name: "set x", ins: pSET(1, 31), want: func(s *smState) { s.pc, s.x = 1, 31 }},
	{name: "set y", ins: pSET(2, 17), want: func(s *smState) { s.pc, s.y = 1, 17 }},
	{name: "set pins", ins: pSET(0, 31), set: func(c *pioSetup) { c.pin = 3<<26 | 29<<5 }, want: func(s *smState) { s.pc, s.out = 1, 0xe0000000 }},
	{name: "set pins wraps", ins: pSET(0, 31), set: func(c *pioSetup) { c.pin = 5<<26 | 30<<5 }, want: func(s *smState) { s.pc, s.out = 1, 0xc0000007 }},
	{name: "set pindirs", ins: pSET(4, 1), set: func(c *pioSetup) { c.pin = 1<<26 | 9<<5 }, want: func(s *smState) { s.pc, s.oe = 1, 1<<9 }},

	{name: "side-set beats set", ins: 1<<12 | pSET(0, 0), set: func(c *pioSetup) { c.pin = 1<<29 | 1<<26 | 4<<10 | 4<<5 }, want: func(s *smState) { s.pc, s.out = 1, 1<<4 }},
	{name: "side-set happens while stalled", ins: 1<<12 | pPULL(0, 1), set: func(c *pioSetup) { c.pin = 1<<29 | 4<<10 }, want: func(s *smState) { s.stalled, s.out = true, 1<<4 }},
	{name: "optional side-set, not enabled", ins: 1<<11 | pSET(1, 1), set: func(c *pioSetup) { c.pin, c.exec = 2<<29|4<<10, 1<<30 }, want: func(s *smState) { s.pc, s.x = 1, 1 }},
	{name: "optional side-set, enabled", ins: 3<<11 | pSET(1, 1), set: func(c *pioSetup) { c.pin, c.exec = 2<<29|4<<10, 1<<30 }, want: func(s *smState) { s.pc, s.x, s.out = 1, 1, 1<<4 }},
	{name: "side-set of directions", ins: 1<<12 | pSET(1, 1), set: func(c *pioSetup) { c.pin, c.exec = 1<<29|4<<10, 1<<29 }, want: func(s *smState) { s.pc, s.x, s.oe = 1, 1, 1<<4 }},
	{name: "delay holds the next instruction back", ins: pDelay(pSET(1, 1), 3), set: func(c *pioSetup) { c.other = []uint16{pSET(1, 2)} }, steps: 4, want: func(s *smState) { s.pc, s.x = 1, 1 }},
	{name: "after the delay it comes", ins: pDelay(pSET(1, 1), 3), set: func(c *pioSetup) { c.other = []uint16{pSET(1, 2)} }, steps: 5, want: func(s *smState) { s.pc, s.x = 2, 2 }},
	{name: "wrap", ins: pSET(1, 1), set: func(c *pioSetup) { c.exec = wrap(7, 0) }, want: func(s *smState) { s.pc, s.x = 7, 1 }},
	{name: "a taken jump at the top does not wrap", ins: pJMP(0, 3), set: func(c *pioSetup) { c.exec = wrap(7, 0) }, want: func(s *smState) { s.pc = 3 }},
	{name: "an untaken jump at the top wraps", ins: pJMP(1, 3), set: func(c *pioSetup) { c.exec, c.x = wrap(7, 0), 1 }, want: func(s *smState) { s.pc = 7 }},
	{name: "INLINE_OUT_EN off: nothing is driven", ins: pOUT(0, 8), set: func(c *pioSetup) {
		c.shift, c.osr, c.osrCount, c.pin, c.exec = right, 0x7f, 0, 8<<20, 1<<18|7<<19
	}, want: func(s *smState) { s.pc, s.osr, s.osrCount = 1, 0, 8 }},
	{name: "INLINE_OUT_EN on", ins: pOUT(0, 8), set: func(c *pioSetup) {
		c.shift, c.osr, c.osrCount, c.pin, c.exec = right, 0xff, 0, 8<<20, 1<<18|7<<19
	}, want: func(s *smState) { s.pc, s.osr, s.osrCount, s.out = 1, 0, 8, 0xff }},
}

// TestPIOInstructions steps machine 0 through one instruction in each case and
// compares everything that it can change.
func TestPIOInstructions(t *testing.T) {
	for _, tt := range pioCases {
		t.Run(tt.name, func(t *testing.T) {
			f, s := newFake(t)
			p := s.PIO[0]
			c := &pioSetup{p: p, shift: left, exec: wrap(0, 31), osrCount: 32}
			if tt.set != nil {
				tt.set(c)
				if c.exec&0x1ff80 == 0 {
					c.exec |= wrap(0, 31)
				}
			}
			for n := range 30 {
				if c.pins>>n&1 != 0 {
					s.Pins.Drive(n, DriveHigh)
				}
			}
			for n := range 30 { // inputs reach the blocks
				s.PadsBank0.Write(4+4*uint32(n), Write{Raw: 1<<6 | 1<<2})
			}
			load(p, append([]uint16{tt.ins}, c.other...)...)
			put(p, smReg(0, smShift), c.shift)
			put(p, smReg(0, smExecCtrl), c.exec)
			put(p, smReg(0, smPinCtrl), c.pin)
			for _, v := range c.tx {
				put(p, txf(0), v)
			}
			m := &p.sm[0]
			for _, v := range c.rx {
				m.rx.push(v)
			}
			m.x, m.y, m.isr, m.osr, m.isrCount, m.osrCount = c.x, c.y, c.isr, c.osr, c.isrCount, c.osrCount
			p.flags = c.flags
			f.run(8) // through the synchronisers
			want := stateOf(p)
			tt.want(&want)
			put(p, pioCtrl, 1)
			f.run(max(tt.steps, 1))
			p.catchUp()
			if got := stateOf(p); got != want {
				t.Errorf("instruction %04x\n got %+v\nwant %+v", tt.ins, got, want)
			}
		})
	}
}
