package periph

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func usbWord(s *Peripherals, off, v uint32) {
	usbRAM{s.USB}.Write(off, Write{Raw: v, Size: 4})
}

// usbOn brings the controller up as the SDK's drivers do.
func usbOn(s *Peripherals) {
	put(s.USB, usbMuxing, 1|1<<3)
	put(s.USB, usbPwr, 1<<2|1<<3)
	put(s.USB, usbMain, mainEnable)
	put(s.USB, usbSIECtrl, sieEP0Int1)
	put(s.USB, usbINTE, usbIntBuff|usbIntReset|usbIntSetup)
	putOp(s.USB, usbSIECtrl, siePullup, Set)
}

func TestUSBWithoutAHost(t *testing.T) {
	f, s := newFake(t)
	usbOn(s)
	f.run(1_000_000)
	if f.irq[14] || read(s.USB, usbSIEStatus)&(sieConnected|sieBusReset|sieSetup) != 0 || read(s.USB, usbINTS) != 0 {
		t.Errorf("something happens on a bus without a host: SIE_STATUS %#x", read(s.USB, usbSIEStatus))
	}
	if read(s.USB, usbSIEStatus)&sieVBUS == 0 {
		t.Error("VBUS is not overridden")
	}
}

func TestUSBControlTransfer(t *testing.T) {
	f, s := newFake(t)
	h := s.USB.Host()
	if h.Attached() {
		t.Error("attached after reset")
	}
	usbOn(s)
	h.Power(true)
	h.Reset()
	if !f.irq[14] || read(s.USB, usbINTS) != usbIntReset || !h.Attached() {
		t.Errorf("INTS %#x", read(s.USB, usbINTS))
	}
	putOp(s.USB, usbSIEStatus, sieBusReset, Clear) // as TinyUSB clears it
	if f.irq[14] {
		t.Error("BUS_RESET does not clear through the CLR alias")
	}
	pkt := [8]byte{0x80, 6, 0, 1, 0, 0, 18, 0}
	if h.Setup(0, pkt) != ACK || read(s.USB, usbINTS) != usbIntSetup || !bytes.Equal(s.USB.ram[:8], pkt[:]) {
		t.Error("SETUP is not received")
	}
	if h.Setup(5, pkt) != NoAnswer {
		t.Error("it answers another address")
	}
	putOp(s.USB, usbSIEStatus, sieSetup, Clear)
	if _, _, a := h.In(0, 0); a != NAK {
		t.Errorf("IN before data: %v", a)
	}
	copy(s.USB.ram[0x100:], "eighteen bytes! :)")
	usbWord(s, 0x80, bufFull|bufPID|18)
	usbWord(s, 0x80, bufFull|bufPID|18|bufAvail)
	data, pid, a := h.In(0, 0)
	if a != ACK || !pid || string(data) != "eighteen bytes! :)" {
		t.Errorf("IN: %q %v %v", data, pid, a)
	}
	if read(s.USB, usbBuffStatus) != 1 || read(s.USB, usbINTS) != usbIntBuff {
		t.Errorf("BUFF_STATUS %#x", read(s.USB, usbBuffStatus))
	}
	if c := (usbRAM{s.USB}).Read(0x80, false); c&(bufAvail|bufFull) != 0 {
		t.Errorf("buffer control %#x", c)
	}
	putOp(s.USB, usbBuffStatus, 1, Clear)
	if f.irq[14] {
		t.Error("BUFF_STATUS does not clear")
	}
	usbWord(s, 0x84, bufPID|bufAvail|64)
	if h.Out(0, 0, nil, true) != ACK || read(s.USB, usbBuffStatus) != 2 {
		t.Error("status stage")
	}
	if c := (usbRAM{s.USB}).Read(0x84, false); c&(bufFull|bufLen|bufAvail) != bufFull {
		t.Errorf("OUT buffer control %#x", c)
	}
	put(s.USB, usbAddr, 7)
	if h.Setup(7, pkt) != ACK {
		t.Error("the new address is not answered")
	}
	// A stall of endpoint 0 needs EP_STALL_ARM and ends with the next SETUP.
	usbWord(s, 0x80, bufStall)
	if _, _, a := h.In(7, 0); a != NAK {
		t.Errorf("unarmed stall: %v", a)
	}
	put(s.USB, usbStallArm, 1)
	if _, _, a := h.In(7, 0); a != STALL {
		t.Errorf("armed stall: %v", a)
	}
	h.Setup(7, pkt)
	if read(s.USB, usbStallArm) != 0 {
		t.Error("SETUP does not disarm")
	}
}

func TestUSBEndpointsAndDoubleBuffers(t *testing.T) {
	_, s := newFake(t)
	h := s.USB.Host()
	usbOn(s)
	h.Power(true)
	if h.Out(0, 2, []byte("x"), false) != NoAnswer {
		t.Error("an endpoint that is off answers")
	}
	usbWord(s, 0x08+4*3, 1<<31|1<<29|1<<30|2<<26|0x400) // EP2 OUT, bulk, two buffers
	both := uint32(bufAvail | 64)
	usbWord(s, 0x80+4*5, both|both<<16|bufPID<<16|bufReset)
	if h.Out(0, 2, []byte("first"), false) != ACK || h.Out(0, 2, []byte("second"), true) != ACK {
		t.Fatal("two packets are not taken")
	}
	if h.Out(0, 2, []byte("third"), false) != NAK {
		t.Error("a third packet is taken")
	}
	if string(s.USB.ram[0x400:0x405]) != "first" || string(s.USB.ram[0x440:0x446]) != "second" {
		t.Errorf("buffers %q %q", s.USB.ram[0x400:0x405], s.USB.ram[0x440:0x446])
	}
	if read(s.USB, usbBuffStatus) != 1<<5 {
		t.Errorf("BUFF_STATUS %#x", read(s.USB, usbBuffStatus))
	}
	// A repeated packet is acknowledged and dropped.
	usbWord(s, 0x08+4*1, 1<<31|1<<29|2<<26|0x600) // EP1 OUT
	usbWord(s, 0x80+4*3, bufAvail|bufPID|64)
	if h.Out(0, 1, []byte("again"), false) != ACK || read(s.USB, usbSIEStatus)&sieSeqError == 0 || s.USB.ram[0x600] != 0 {
		t.Error("a packet with the wrong toggle is stored")
	}
	// NAK and STALL statistics on request.
	usbWord(s, 0x08+4*4, 1<<31|1<<16|1<<17) // EP3 IN
	h.In(0, 3)
	if read(s.USB, usbStallNak) != 1<<6 {
		t.Errorf("EP_STATUS_STALL_NAK %#x", read(s.USB, usbStallNak))
	}
	put(s.USB, usbAbort, 1<<6)
	if read(s.USB, usbAbortDone) != 1<<6 {
		t.Error("EP_ABORT is never done")
	}
}

func TestUSBMemoryHasByteStrobes(t *testing.T) {
	_, s := newFake(t)
	r := usbRAM{s.USB}
	r.Write(0x200, Write{Raw: 0x11223344, Size: 4})
	r.Write(0x200, Write{Raw: 0xa5a5a5a5, Size: 1, Lane: 2})
	r.Write(0x200, Write{Raw: 0xbeefbeef, Size: 2, Lane: 0})
	if got := binary.LittleEndian.Uint32(s.USB.ram[0x200:]); got != 0x11a5beef {
		t.Errorf("memory %#x", got)
	}
}
