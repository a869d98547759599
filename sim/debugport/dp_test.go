package debugport

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
)

func TestBanks(t *testing.T) {
	h := newHost(t)
	h.wake()
	for _, c := range []struct {
		req  byte
		bank uint32
		want uint32
	}{
		{reqDPIDR, 0, 0x4c013477}, {reqDPIDR, 1, 20}, {reqDPIDR, 2, 1}, {reqDPIDR, 3, 0},
		{reqReadCtrl, 1, 0}, {reqReadCtrl, 2, 0x00040927}, {reqReadCtrl, 3, 1}, {reqReadCtrl, 4, 0}, {reqReadCtrl, 5, 0},
	} {
		h.must(reqSelect, c.bank)
		if v := h.must(c.req, 0); v != c.want {
			t.Errorf("request %#x, bank %d: %#x, want %#x", c.req, c.bank, v, c.want)
		}
	}
	h.must(reqSelect, 5)
	h.must(reqWriteCtrl, 0x12345678)
	if v := h.must(reqReadCtrl, 0); v != 0x12345678 {
		t.Errorf("SELECT1 %#x", v)
	}
}

// The start of every OpenOCD.
func TestOpenOCDStart(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.must(reqAbort, 0x1e)
	h.must(reqSelect, 0)
	h.must(reqWriteCtrl, 0x50000022)
	h.must(reqWriteCtrl, 0x50000000)
	if v := h.must(reqReadCtrl, 0); v != 0xf0000000 {
		t.Errorf("CTRL/STAT %#x", v)
	}
	h.must(reqWriteCtrl, 0x50000001)
	h.overrun = true
	h.must(reqSelect, 1)
	if v := h.must(reqDPIDR, 0); v != 20 {
		t.Errorf("DPIDR1 %#x", v)
	}
}

func TestPower(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.must(reqWriteCtrl, 0)
	if v := h.must(reqReadCtrl, 0); v != 0 {
		t.Errorf("CTRL/STAT %#x without requests", v)
	}
	h.must(reqSelect, apROM)
	h.must(reqAPRead[0], 0)
	if s := h.sticky(); s != stickyErr {
		t.Errorf("an access port without power: sticky bits %#x", s)
	}
	if v := h.apRead(apRP + 8); v != 0x95e { // the RP-AP needs none
		t.Errorf("power state %#x", v)
	}
	h.dp.Trouble.NoPowerUp = true
	h.must(reqSelect, 0)
	h.must(reqWriteCtrl, 0x50000000)
	if v := h.must(reqReadCtrl, 0) &^ readOK; v != 0x50000000 {
		t.Errorf("CTRL/STAT %#x with a dead power domain", v)
	}
}

func TestPostedReads(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.must(reqSelect, apROM)
	h.must(reqAPRead[2], 0)
	second := h.must(reqAPRead[3], 0)
	third := h.must(reqRDBuff, 0)
	if second != 0x6003 || third != 0x7003 {
		t.Errorf("posted reads give %#x and %#x", second, third)
	}
	if v := h.must(reqResend, 0); v != third {
		t.Errorf("RESEND %#x, want %#x", v, third)
	}
	if v := h.must(reqReadCtrl, 0); v&readOK == 0 {
		t.Errorf("CTRL/STAT %#x: READOK is clear", v)
	}
}

func TestStickyErrors(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.chip.arch = image.ArchARM
	h.apWrite(apAHB0+regCSW, 0xa2000012)
	h.apWrite(apAHB0+regTAR, 0x90000000)
	h.apWrite(apAHB0+regDRW, 1) // acknowledged, the error shows afterwards
	h.ack(reqRDBuff, AckFault)
	h.ack(reqAPRead[0], AckFault)
	h.ack(reqAPWrite[0], AckFault)
	h.must(reqDPIDR, 0)
	if v := h.must(reqReadCtrl, 0); v&stickyMask != stickyErr {
		t.Errorf("CTRL/STAT %#x", v)
	}
	h.must(reqAbort, 1<<1|1<<3|1<<4) // the wrong bits
	h.ack(reqRDBuff, AckFault)
	h.must(reqAbort, 1<<2)
	h.must(reqRDBuff, 0)
	if v := h.apRead(apAHB0 + regTRR); v != 1 {
		t.Errorf("TRR %#x after an error", v)
	}
	h.apWrite(apAHB0+regTRR, 1)
	if v := h.apRead(apAHB0 + regTRR); v != 0 {
		t.Errorf("TRR %#x after it was cleared", v)
	}
}

func TestDebugReset(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.apWrite(apAPB+regTAR, 0x40)
	h.apWrite(apAPB+regCSW, 0xa2000002)
	h.apWrite(apAPB+regDRW, 1)
	h.must(reqSelect, 0)
	h.must(reqWriteCtrl, 0x54000000)
	if v := h.must(reqReadCtrl, 0); v&0xcc000000 != 0xcc000000 {
		t.Errorf("CTRL/STAT %#x", v)
	}
	h.must(reqWriteCtrl, 0x54000000)
	h.must(reqWriteCtrl, 0x50000000)
	if len(h.chip.resets) != 1 || h.chip.resets[0] != ResetCold {
		t.Errorf("resets %v, want one cold reset", h.chip.resets)
	}
	if h.apRead(apAPB + regTAR); h.dp.aps.dm.active || h.dp.aps.apb.tar != 0 {
		t.Error("the Debug Module or its access port kept their state")
	}
}
