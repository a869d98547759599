package periph

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

const (
	ramA = 0x20000000
	ramB = 0x20010000
	ramC = 0x20020000
)

// chan_ is the offset of a register word of a channel.
func dch(n int, word uint32) uint32 { return uint32(n)*0x40 + 4*word }

// ctrl builds a CTRL word that chains to itself, as the SDK's default does.
func dctrl(n int, size uint32, flags, treq uint32) uint32 {
	return dmaEN | size<<2 | uint32(n)<<13 | treq<<17 | flags
}

func TestDMACopies(t *testing.T) {
	f, s := newFake(t)
	src := []byte("What is moved here is longer than one burst of the controller: one hundred bytes or so.")
	src = append(src, bytes.Repeat([]byte{7}, 100-len(src))...)
	for size, shift := range map[uint32]uint32{1: 0, 2: 1, 4: 2} {
		f.poke(ramA, src)
		f.poke(ramB, make([]byte, 100))
		put(s.DMA, dmaINTR, 0xffff)
		put(s.DMA, dmaINTR+4, 1<<5)
		put(s.DMA, dch(5, 0), ramA)
		put(s.DMA, dch(5, 1), ramB)
		put(s.DMA, dch(5, 2), 100/size)
		put(s.DMA, dch(5, 3), dctrl(5, shift, dmaIncR|dmaIncW, treqForce))
		if read(s.DMA, dch(5, 3))&dmaBusy == 0 {
			t.Error("not busy after the trigger")
		}
		f.run(uint64(50 / size))
		if left := read(s.DMA, dch(5, 2)); left != 100/size-50/size {
			t.Errorf("size %d: %d left half way", size, left)
		}
		f.run(uint64(50/size) + 1)
		if !bytes.Equal(f.peek(ramB, 100), src) || !f.irq[10] || read(s.DMA, dch(5, 3))&dmaBusy != 0 {
			t.Errorf("size %d: %q irq %v", size, f.peek(ramB, 100), f.irq[10])
		}
		if read(s.DMA, dch(5, 0)) != ramA+100 || read(s.DMA, dch(5, 1)) != ramB+100 {
			t.Error("the addresses do not move on")
		}
	}
}

func TestDMATakesOneCycleATransferInAll(t *testing.T) {
	f, s := newFake(t)
	for n := range 4 {
		put(s.DMA, dch(n, 0), ramA)
		put(s.DMA, dch(n, 1), ramB+uint32(n)*0x100)
		put(s.DMA, dch(n, 2), 64)
		put(s.DMA, dch(n, 4), dctrl(n, 0, dmaIncW, treqForce))
	}
	put(s.DMA, dmaMulti, 0xf)
	f.run(255)
	if got := read(s.DMA, dmaINTR); got == 0xf {
		t.Errorf("256 transfers in 255 cycles")
	}
	f.run(2)
	if got := read(s.DMA, dmaINTR); got != 0xf {
		t.Errorf("INTR = %#x after 257 cycles", got)
	}
}

func TestDMAChainsAndNullTriggers(t *testing.T) {
	f, s := newFake(t)
	// Channel 0 copies control blocks (count, read address) into channel 1's
	// alias 3; channel 1 chains back; a block of zeros ends it.
	f.poke(ramA, []byte("one,two and three."))
	blocks := []uint32{4, ramA, 3, ramA + 4, 11, ramA + 7, 0, 0}
	for i, v := range blocks {
		f.poke(ramC+4*uint32(i), binary.LittleEndian.AppendUint32(nil, v))
	}
	put(s.DMA, dmaINTR+4, 1<<1)
	put(s.DMA, dch(1, 1), ramB)
	put(s.DMA, dch(1, 4), dmaEN|dmaIncR|dmaIncW|0<<13|treqForce<<17|dmaQuiet)
	put(s.DMA, dch(0, 0), ramC)
	put(s.DMA, dch(0, 1), 0x50000000+dch(1, 14))
	put(s.DMA, dch(0, 2), 2)
	put(s.DMA, dch(0, 3), dctrl(0, 2, dmaIncR|dmaIncW|dmaRingSel|3<<8, treqForce))
	f.run(100)
	if got := string(f.peek(ramB, 18)); got != "one,two and three." {
		t.Errorf("gathered %q", got)
	}
	if !f.irq[10] || read(s.DMA, dmaINTR)&2 == 0 {
		t.Error("the null trigger of a quiet channel does not interrupt")
	}
}

func TestDMAChainToResetsToChannelZero(t *testing.T) {
	f, s := newFake(t)
	put(s.DMA, dch(0, 0), ramA)
	put(s.DMA, dch(0, 1), ramB)
	put(s.DMA, dch(0, 2), 1)
	put(s.DMA, dch(0, 4), dctrl(0, 0, 0, treqForce))
	f.poke(ramA, []byte{42})
	put(s.DMA, dch(3, 0), ramA)
	put(s.DMA, dch(3, 1), ramC)
	put(s.DMA, dch(3, 2), 1)
	put(s.DMA, dch(3, 3), dmaEN|treqForce<<17) // CHAIN_TO 0
	f.run(10)
	if f.mem[ramB] != 42 || read(s.DMA, dmaINTR) != 1<<3|1 {
		t.Errorf("channel 0 did not run: INTR %#x", read(s.DMA, dmaINTR))
	}
}

func TestDMAPacedByUART(t *testing.T) {
	r := newUARTRig(t)
	text := bytes.Repeat([]byte("0123456789"), 10)
	r.poke(ramA, text)
	put(r.s.DMA, dch(0, 0), ramA)
	put(r.s.DMA, dch(0, 1), 0x40070000)
	put(r.s.DMA, dch(0, 2), 100)
	put(r.s.DMA, dch(0, 3), dctrl(0, 0, dmaIncR, DREQUART0TX))
	r.run(1000)
	if left := read(r.s.DMA, dch(0, 2)); left != 100-33 {
		t.Errorf("%d left once the FIFO is full, want 67", left)
	}
	r.run(13020 * 101)
	if !bytes.Equal(r.sent.Bytes(), text) || len(r.notices) != 0 {
		t.Errorf("sent %q, notices %q", r.sent.String(), r.notices)
	}
	// And back, from the receiver.
	put(r.s.DMA, dch(1, 0), 0x40070000)
	put(r.s.DMA, dch(1, 1), ramB)
	put(r.s.DMA, dch(1, 2), 5)
	put(r.s.DMA, dch(1, 3), dctrl(1, 0, dmaIncW, DREQUART0TX+1))
	r.u.Input([]byte("hello"))
	r.run(13020*5 + 10)
	if got := string(r.peek(ramB, 5)); got != "hello" {
		t.Errorf("received %q", got)
	}
}

func TestDMAPacingTimersAndEndless(t *testing.T) {
	f, s := newFake(t)
	put(s.DMA, dmaTimer0+4, 2<<16|25)
	put(s.DMA, dch(2, 0), ramA)
	put(s.DMA, dch(2, 1), ramB)
	put(s.DMA, dch(2, 2), 1000)
	put(s.DMA, dch(2, 3), dctrl(2, 0, dmaIncW, treqTimer0+1))
	f.run(1000)
	if got := read(s.DMA, dch(2, 1)) - ramB; got < 79 || got > 80 {
		t.Errorf("%d transfers in 1000 cycles at 2/25", got)
	}
	put(s.DMA, dmaAbort, 1<<2)
	if read(s.DMA, dmaAbort) != 0 || read(s.DMA, dch(2, 3))&dmaBusy != 0 || read(s.DMA, dch(2, 2)) != 0 {
		t.Error("the abort leaves something behind")
	}
	put(s.DMA, dch(4, 0), ramA)
	put(s.DMA, dch(4, 1), ramB)
	put(s.DMA, dch(4, 2), dmaModeEndless<<28|1)
	put(s.DMA, dch(4, 3), dctrl(4, 2, dmaIncW|dmaRingSel|4<<8, treqForce))
	f.run(1000)
	if read(s.DMA, dch(4, 3))&dmaBusy == 0 || read(s.DMA, dch(4, 2)) != 0xf0000001 {
		t.Errorf("endless: count %#x", read(s.DMA, dch(4, 2)))
	}
	if a := read(s.DMA, dch(4, 1)); a < ramB || a >= ramB+16 {
		t.Errorf("the ring was left: %#x", a)
	}
	put(s.DMA, dmaAbort, 1<<4)
	put(s.DMA, dch(4, 2), dmaModeSelf<<28|10)
	put(s.DMA, dch(4, 3), dctrl(4, 0, 0, treqForce))
	f.run(100)
	if read(s.DMA, dch(4, 3))&dmaBusy == 0 || read(s.DMA, dmaINTR)&(1<<4) == 0 {
		t.Error("mode 1 does not trigger itself again")
	}
}

func TestDMAErrorsAndDisabled(t *testing.T) {
	f, s := newFake(t)
	put(s.DMA, dch(1, 0), 0xd0000000) // SIO is out of reach
	put(s.DMA, dch(1, 1), ramB)
	put(s.DMA, dch(1, 2), 4)
	put(s.DMA, dch(1, 3), dctrl(1, 2, dmaQuiet, treqForce))
	f.run(10)
	if c := read(s.DMA, dch(1, 3)); c&(dmaReadErr|dmaAHBErr|dmaBusy) != dmaReadErr|dmaAHBErr || read(s.DMA, dmaINTR) != 2 {
		t.Errorf("CTRL = %#x INTR %#x", c, read(s.DMA, dmaINTR))
	}
	put(s.DMA, dch(1, 0), ramA)
	put(s.DMA, dmaMulti, 2)
	if read(s.DMA, dch(1, 3))&dmaBusy != 0 {
		t.Error("a channel in error starts")
	}
	putOp(s.DMA, dch(1, 4), dmaReadErr, Set)
	put(s.DMA, dmaMulti, 2)
	f.run(10)
	if read(s.DMA, dch(1, 3))&(dmaBusy|dmaAHBErr) != 0 || read(s.DMA, dch(1, 2)) != 0 {
		t.Error("it does not start after the error was cleared")
	}
	put(s.DMA, dch(6, 2), 1)
	put(s.DMA, dch(6, 3), 0x00ff0000)
	if read(s.DMA, dch(6, 3))&dmaBusy != 0 {
		t.Error("a disabled channel starts")
	}
	// EN pauses a running channel.
	put(s.DMA, dch(7, 0), ramA)
	put(s.DMA, dch(7, 1), ramB)
	put(s.DMA, dch(7, 2), 100)
	put(s.DMA, dch(7, 3), dctrl(7, 0, 0, treqForce))
	f.run(10)
	putOp(s.DMA, dch(7, 4), dmaEN, Clear)
	left := read(s.DMA, dch(7, 2))
	f.run(50)
	if read(s.DMA, dch(7, 2)) != left || read(s.DMA, dch(7, 3))&dmaBusy == 0 {
		t.Error("EN does not pause")
	}
	putOp(s.DMA, dch(7, 4), dmaEN, Set)
	f.run(100)
	if read(s.DMA, dch(7, 2)) != 0 {
		t.Error("EN does not resume")
	}
}

func TestDMASwapAndReverse(t *testing.T) {
	f, s := newFake(t)
	f.poke(ramA, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	put(s.DMA, dch(0, 0), ramA+4)
	put(s.DMA, dch(0, 1), ramB)
	put(s.DMA, dch(0, 2), 2)
	put(s.DMA, dch(0, 3), dctrl(0, 2, dmaIncR|dmaIncRRev|dmaIncW|dmaBSwap, treqForce))
	f.run(10)
	if got := f.peek(ramB, 8); !bytes.Equal(got, []byte{8, 7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("reversed: %v", got)
	}
}

func TestSniffer(t *testing.T) {
	data := []byte("123456789")
	run := func(calc, flags, seed uint32, n int, size uint32) uint32 {
		f, s := newFake(t)
		f.poke(ramA, data)
		put(s.DMA, dmaSniffCtrl, 1|2<<1|calc<<5|flags)
		put(s.DMA, dmaSniffData, seed)
		put(s.DMA, dch(2, 0), ramA)
		put(s.DMA, dch(2, 1), ramB)
		put(s.DMA, dch(2, 2), uint32(n))
		put(s.DMA, dch(2, 3), dctrl(2, size, dmaIncR|dmaSniffEn, treqForce))
		f.run(50)
		return read(s.DMA, dmaSniffData)
	}
	const rev, inv = 1 << 10, 1 << 11
	for _, c := range []struct {
		name              string
		calc, flags, seed uint32
		n                 int
		size              uint32
		want              uint32
	}{
		{"zlib", sniffCRC32R, rev | inv, 0xffffffff, 9, 0, crc32.ChecksumIEEE(data)},
		{"zlib by words", sniffCRC32R, rev | inv, 0xffffffff, 2, 2, crc32.ChecksumIEEE(data[:8])},
		{"bzip2", sniffCRC32, inv, 0xffffffff, 9, 0, 0xfc891918},
		{"CCITT-FALSE", sniffCRC16, 0, 0xffff, 9, 0, 0x29b1},
		{"XMODEM", sniffCRC16, 0, 0, 9, 0, 0x31c3},
		{"KERMIT", sniffCRC16R, rev, 0, 9, 0, 0x2189 << 16},
		{"X.25", sniffCRC16R, rev | inv, 0xffff, 9, 0, 0x906e<<16 | 0xffff},
		{"XMODEM by words of the other order", sniffCRC16, 1 << 9, 0, 2, 2, 0x9015},
		{"sum of halfwords", sniffSum, 0, 10, 4, 1, 10 + 0x3231 + 0x3433 + 0x3635 + 0x3837},
		{"sum of swapped halfwords", sniffSum, 1 << 9, 0, 4, 1, 0x3132 + 0x3334 + 0x3536 + 0x3738},
		{"sum", sniffSum, 0, 0, 9, 0, 477},
		{"parity", sniffEven, 0, 0, 9, 0, 1},
	} {
		if got := run(c.calc, c.flags, c.seed, c.n, c.size); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}
