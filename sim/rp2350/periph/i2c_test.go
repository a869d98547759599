package periph

import "testing"

func i2cSetup(s *Peripherals, n, sda int, con uint32) *I2C {
	c := s.I2C[n]
	for _, pin := range []int{sda, sda + 1} {
		selectFunc(s, pin, FuncI2C)
		putOp(s.PadsBank0, 4+4*uint32(pin), padPUE, Set)
		putOp(s.PadsBank0, 4+4*uint32(pin), padPDE, Clear)
	}
	put(c, icEnable, 0)
	put(c, icCon, con|2<<1|conTXEmpty)
	put(c, icFSHCNT, 600)
	put(c, icFSLCNT, 900)
	put(c, icSpkLen, 56)
	put(c, icTXTL, 0)
	return c
}

const i2cMasterCon = conMaster | conNoSlave | conRestart

func TestI2CNobodyAnswers(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	c := i2cSetup(s, 0, 4, i2cMasterCon)
	scl := edges(f, s.Pins, 5)
	put(c, icTAR, 0x42)
	put(c, icEnable, 1)
	put(c, icData, cmdStop|cmdRead)
	put(c, icData, 0x77)
	f.micros(200)
	if got := read(c, icAbort); got != abrt7Addr|2<<23 { // two commands were flushed
		t.Errorf("TX_ABRT_SOURCE = %#x", got)
	}
	if raw := read(c, icRawIntr); raw&(icTXAbrt|icStopDet) != icTXAbrt|icStopDet || read(c, icTXFLR) != 0 {
		t.Errorf("RAW %#x TXFLR %d", raw, read(c, icTXFLR))
	}
	// Nine clocks for the address, and one rise for the stop.
	if len(*scl) != 20 {
		t.Errorf("%d edges of SCL", len(*scl))
	}
	// SCL: (600+56+7) high, 901 low.
	if d := (*scl)[4] - (*scl)[2]; d != 663+901 {
		t.Errorf("period %d cycles", d)
	}
	put(c, icData, 1) // ignored until the abort is read
	if read(c, icTXFLR) != 0 {
		t.Error("the FIFO takes data before the abort is cleared")
	}
	if read(c, 0x54) != 1 || read(c, icAbort) != 0 || read(c, 0x60) != 1 || read(c, icRawIntr)&(icTXAbrt|icStopDet) != 0 {
		t.Error("the clear registers do not clear")
	}
	if st := read(c, icStatus); st != 6 {
		t.Errorf("STATUS = %#x", st)
	}
	if sda, high := c.line.levels(); !sda || !high {
		t.Error("the bus is not free")
	}
}

func TestI2CControllerAndTarget(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	m := i2cSetup(s, 0, 4, i2cMasterCon)
	d := i2cSetup(s, 1, 6, conRXHold)
	s.Pins.Connect(4, 6)
	s.Pins.Connect(5, 7)
	put(d, icSAR, 0x17)
	put(d, icIntrMask, icRDReq|icRXFull|icStopDet|icStart|icReStart|icRXDone)
	put(d, icEnable, 1)
	put(m, icTAR, 0x17)
	put(m, icEnable, 1)
	put(m, icData, 0x10)
	put(m, icData, 0xa5)
	put(m, icData, 0x5a|cmdStop)
	f.micros(400)
	if !f.irq[37] || read(m, icRawIntr)&(icTXAbrt|icTXEmpty|icStopDet) != icTXEmpty|icStopDet {
		t.Fatalf("controller RAW %#x, abort %#x; target RAW %#x", read(m, icRawIntr), read(m, icAbort), read(d, icRawIntr))
	}
	for i, want := range []uint32{0x10 | firstByte, 0xa5, 0x5a} {
		if got := read(d, icData); got != want {
			t.Errorf("byte %d = %#x, want %#x", i, got, want)
		}
	}
	if raw := read(d, icRawIntr); raw&(icStart|icStopDet) != icStart|icStopDet || raw&icReStart != 0 {
		t.Errorf("target RAW %#x", raw)
	}
	read(d, icClrIntr)
	// A register read: write one byte, restart, read two.
	put(m, icData, 0x20)
	put(m, icData, cmdRead|cmdRestart)
	put(m, icData, cmdRead|cmdStop)
	f.micros(220)
	if got := read(d, icData); got != 0x20|firstByte {
		t.Errorf("register number %#x", got)
	}
	f.micros(300)
	if read(d, icRawIntr)&icRDReq == 0 || read(m, icStatus)&(1<<5) == 0 {
		t.Errorf("no request: target RAW %#x", read(d, icRawIntr))
	}
	// The target stretches the clock for as long as it likes.
	f.micros(1000)
	if read(m, icRXFLR) != 0 {
		t.Error("data before it was supplied")
	}
	read(d, 0x50)
	put(d, icData, 0xc3)
	f.micros(150)
	if read(d, icRawIntr)&icRDReq == 0 {
		t.Error("no request for the second byte")
	}
	read(d, 0x50)
	put(d, icData, 0x99)
	f.micros(200)
	if a, b := read(m, icData), read(m, icData); a != 0xc3 || b != 0x99 {
		t.Errorf("read %#x %#x", a, b)
	}
	if raw := read(d, icRawIntr); raw&(icRXDone|icStopDet|icReStart) != icRXDone|icStopDet|icReStart {
		t.Errorf("target RAW %#x after the read", raw)
	}
	// Another address is not answered.
	put(m, icEnable, 0)
	put(m, icTAR, 0x18)
	put(m, icEnable, 1)
	put(m, icData, 1|cmdStop)
	f.micros(300)
	if read(m, icAbort)&abrt7Addr == 0 {
		t.Error("somebody answers address 0x18")
	}
}

func TestI2CHoldsTheBusWhenTheFIFORunsDry(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	m := i2cSetup(s, 0, 4, i2cMasterCon)
	d := i2cSetup(s, 1, 6, 0)
	s.Pins.Connect(4, 6)
	s.Pins.Connect(5, 7)
	put(d, icSAR, 0x17)
	put(d, icEnable, 1)
	put(m, icTAR, 0x17)
	put(m, icEnable, 1)
	put(m, icData, 1)
	f.micros(1000)
	if s.Pins.Levels()>>5&1 != 0 || read(m, icRawIntr)&icTXEmpty == 0 || read(m, icStatus)&(1<<5) == 0 {
		t.Errorf("SCL is not held: RAW %#x", read(m, icRawIntr))
	}
	put(m, icData, 2|cmdStop)
	f.micros(200)
	if s.Pins.Levels()>>4&3 != 3 || d.rx.len() != 2 {
		t.Errorf("the bus is not released, %d bytes", d.rx.len())
	}
	put(m, icEnable, 0)
	if read(m, icEnStatus) != 0 || read(m, icRawIntr)&icTXEmpty != 0 {
		t.Error("disabled but alive")
	}
}

// i2cPair is a controller and a target on one bus.
func i2cPair(t *testing.T, masterCon, slaveCon, address uint32) (f *fakeChip, m, d *I2C) {
	t.Helper()
	f, s := newFake(t)
	sdkClocks(t, f, s)
	m = i2cSetup(s, 0, 4, i2cMasterCon|masterCon)
	d = i2cSetup(s, 1, 6, conRXHold|slaveCon)
	s.Pins.Connect(4, 6)
	s.Pins.Connect(5, 7)
	put(d, icSAR, address)
	put(d, icEnable, 1)
	return f, m, d
}

// TestI2CTenBitAddresses: both sides, writing, reading behind a restart, and
// addresses of others.
func TestI2CTenBitAddresses(t *testing.T) {
	f, m, d := i2cPair(t, con10Master, con10Slave, 0x2a5)
	put(m, icTAR, 0x2a5)
	put(m, icEnable, 1)
	put(m, icData, 0x11)
	put(m, icData, cmdRead|cmdRestart|cmdStop)
	f.micros(400)
	if got := read(d, icData); got != 0x11|firstByte {
		t.Errorf("the target received %#x, controller's abort %#x", got, read(m, icAbort))
	}
	if read(d, icRawIntr)&icRDReq == 0 {
		t.Fatal("no read request")
	}
	read(d, 0x50)
	put(d, icData, 0x77)
	f.micros(200)
	if got := read(m, icData); got != 0x77 || read(m, icRawIntr)&icStopDet == 0 {
		t.Errorf("the controller read %#x", got)
	}
	for _, tt := range []struct{ tar, abort uint32 }{{0x1a5, abrt10Addr1}, {0x2a6, abrt10Addr2}} {
		put(m, icEnable, 0)
		put(m, icTAR, tt.tar)
		put(m, icEnable, 1)
		put(m, icData, 1|cmdStop)
		f.micros(400)
		if got := read(m, icAbort) & 0xffff; got != tt.abort {
			t.Errorf("address %#x: abort %#x, want %#x", tt.tar, got, tt.abort)
		}
		read(m, icClrIntr)
	}
	// A target with ten bits does not answer seven.
	put(m, icEnable, 0)
	put(m, icCon, read(m, icCon)&^con10Master)
	put(m, icTAR, 0x25)
	put(m, icEnable, 1)
	put(m, icData, 1|cmdStop)
	f.micros(400)
	if read(m, icAbort)&abrt7Addr == 0 {
		t.Error("a ten-bit target answers seven bits")
	}
}

// TestI2CGeneralCallAndStartByte: the two special addresses.
func TestI2CGeneralCallAndStartByte(t *testing.T) {
	for _, tt := range []struct {
		name           string
		tar, ack, data uint32
		abort, got     uint32
		con            uint32
	}{
		{name: "general call", tar: tarSpecial, ack: 1, data: 0x42 | cmdStop, got: 0x42 | firstByte},
		{name: "nobody takes general calls", tar: tarSpecial, data: 0x42 | cmdStop, abort: abrtGCNoAck},
		{name: "a general call that reads", tar: tarSpecial, ack: 1, data: cmdRead | cmdStop, abort: abrtGCRead},
		{name: "START byte", tar: tarSpecial | tarStart | 0x17, data: 0x42 | cmdStop, got: 0x42 | firstByte},
		{name: "START byte without restarts", tar: tarSpecial | tarStart | 0x17, data: 0x42 | cmdStop, con: conRestart, abort: abrtNoStart},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, m, d := i2cPair(t, 0, 0, 0x17)
			put(d, icAckGC, tt.ack)
			put(m, icCon, read(m, icCon)&^tt.con)
			put(m, icTAR, tt.tar)
			put(m, icEnable, 1)
			put(m, icData, tt.data)
			f.micros(500)
			if got := read(m, icAbort) & 0xffff; got != tt.abort {
				t.Errorf("abort %#x, want %#x", got, tt.abort)
			}
			if got := read(d, icData); got != tt.got {
				t.Errorf("the target received %#x, want %#x", got, tt.got)
			}
		})
	}
}
