package debugport

import "testing"

// The request bytes of the wire are those of the encoder in Probe.
func TestRequestBytes(t *testing.T) {
	h := newHost(t)
	p := NewProbe(DebugProbe("1"), h.line)
	h.wake()
	for _, c := range []struct {
		r    Request
		wire byte
	}{{2, reqDPIDR}, {0, reqAbort}, {6, reqReadCtrl}, {4, reqWriteCtrl}, {8, reqSelect}, {0xe, reqRDBuff}, {0xc, reqTargetSel},
		{3, 0x87}, {7, 0xaf}, {0xb, 0xb7}, {0xf, 0x9f}, {1, 0xa3}, {5, 0x8b}, {9, 0x93}, {0xd, 0xbb}} {
		p.swd(c.r, 0)
		if got := h.line.req; got != c.wire {
			t.Errorf("request %#x goes over the wire as %#x, want %#x", c.r, got, c.wire)
		}
		h.must(reqAbort, 0x1e)
	}
}

// What OpenOCD sends in one attempt to connect, and which step is answered.
func TestConnectSequences(t *testing.T) {
	jtagToSWD := func(h *host) {
		h.bytes(136, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x9e, 0xe7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00)
	}
	jtagToDormant := func(h *host) { h.bytes(40, 0xff, 0x75, 0x77, 0x77, 0x67) }
	dormantToSWD := func(h *host) {
		p := append([]byte{0xff}, alertBytes...)
		h.bytes(224, append(p, 0xa0, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00)...)
	}
	h := newHost(t)
	jtagToSWD(h)
	h.ack(reqDPIDR, AckNone) // dormant
	jtagToDormant(h)
	h.ack(reqDPIDR, AckNone)
	dormantToSWD(h)
	if v := h.must(reqDPIDR, 0); v != DPIDR {
		t.Errorf("DPIDR %#x after the third step", v)
	}
	// A port in SWD state answers at the first step.
	jtagToSWD(h)
	if v := h.must(reqDPIDR, 0); v != DPIDR {
		t.Errorf("DPIDR %#x after the first step", v)
	}
	// And goes back to sleep when it is told to.
	h.bytes(56+16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe3)
	if !h.line.Dormant() {
		t.Error("SWD-to-dormant has no effect")
	}
	jtagToSWD(h)
	h.ack(reqDPIDR, AckNone)
}

func TestWrongWakeUps(t *testing.T) {
	for name, send := range map[string]func(h *host){
		"alert with its words in the other order": func(h *host) {
			for i := 12; i >= 0; i -= 4 {
				h.bytes(32, alertBytes[i:i+4]...)
			}
			h.bytes(12, 0xa0, 0x01)
		},
		"activation code of JTAG":      func(h *host) { h.bytes(128, alertBytes...); h.bytes(12, 0xa0, 0x00) },
		"activation code of JTAG-DP":   func(h *host) { h.bytes(128, alertBytes...); h.bytes(12, 0xa0, 0x0a) },
		"no gap before the activation": func(h *host) { h.bytes(128, alertBytes...); h.bytes(8, 0x1a) },
	} {
		h := newHost(t)
		h.bytes(8, 0xff)
		send(h)
		h.lineReset()
		if _, ack, _ := h.packet(reqDPIDR, 0); ack != AckNone {
			t.Errorf("%s: the port woke up", name)
		}
	}
}

func TestAfterLineReset(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.lineReset()
	h.ack(reqReadCtrl, AckNone) // only DPIDR or TARGETSEL
	h.ack(reqDPIDR, AckNone)    // and now only a line reset helps
	h.lineReset()
	h.must(reqDPIDR, 0)
	// 49 ones are not enough.
	h.must(reqSelect, 2)
	h.bytes(1, 0)
	h.bytes(49, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	h.bytes(8, 0)
	h.ack(reqDPIDR, AckNone)
	h.lineReset()
	if v := h.must(reqDPIDR, 0); v != DPIDR {
		t.Errorf("register 0 is %#x after a line reset: DPBANKSEL is not cleared", v)
	}
}

func TestTargetSel(t *testing.T) {
	for _, c := range []struct {
		v      uint32
		parity bool
		want   uint8
	}{{TARGETID, true, AckOK}, {0x10040927 &^ 0x00040000, true, AckNone}, {0x10040927, true, AckNone}, {TARGETID, false, AckNone}} {
		h := newHost(t)
		h.wake()
		h.lineReset()
		h.bytes(8, reqTargetSel)
		for range 5 {
			if !h.in() {
				t.Error("somebody drives the acknowledge of TARGETSEL")
			}
		}
		ones := !c.parity
		for i := range 32 {
			b := c.v>>i&1 != 0
			ones = ones != b
			h.out(b)
		}
		h.out(ones)
		h.bytes(8, 0)
		_, ack, _ := h.packet(reqDPIDR, 0)
		if ack != c.want {
			t.Errorf("TARGETSEL %#x, parity %t: DPIDR is acknowledged with %d, want %d", c.v, c.parity, ack, c.want)
		}
	}
	h := newHost(t)
	h.wake()
	for bank, want := range map[uint32]uint32{2: TARGETID, 3: 1} {
		h.must(reqSelect, bank)
		if v := h.must(reqReadCtrl, 0); v != want {
			t.Errorf("bank %d of address 4 is %#x, want %#x", bank, v, want)
		}
	}
}

func TestParityOfWrites(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.bytes(8, reqSelect)
	for range 5 {
		h.in()
	}
	h.bytes(33, 0xf0, 0, 0, 0, 1) // four ones, parity one
	if v := h.must(reqReadCtrl, 0); v&stickyMask != wdataErr {
		t.Errorf("CTRL/STAT %#x, want WDATAERR", v)
	}
	if h.dp.sel != 0 {
		t.Errorf("SELECT took %#x", h.dp.sel)
	}
	h.ack(reqAPRead[0], AckFault)
	h.must(reqAbort, 8)
	h.must(reqSelect, 0xf0)
}

func TestBrokenRequests(t *testing.T) {
	for name, req := range map[string]byte{
		"parity": reqDPIDR ^ 0x20, "stop bit": reqDPIDR | 0x40, "park bit": reqDPIDR &^ 0x80,
	} {
		h := newHost(t)
		h.wake()
		h.ack(req, AckNone)
		h.ack(reqDPIDR, AckNone)
		h.lineReset()
		if _, ack, _ := h.packet(reqDPIDR, 0); ack != AckOK {
			t.Errorf("broken %s: a line reset does not help", name)
		}
	}
}

// WAIT and FAULT have a data phase only with overrun detection.
func TestDataPhases(t *testing.T) {
	for _, overrun := range []bool{false, true} {
		h := newHost(t)
		h.wake()
		ctrl := uint32(0x50000000)
		if overrun {
			ctrl |= orunDetect
		}
		h.must(reqWriteCtrl, ctrl)
		h.overrun = overrun
		for _, want := range []uint8{AckWait, AckFault} {
			h.dp.Trouble.Wait = want == AckWait
			if want == AckFault {
				h.apWrite(apAPB+regTAR, 0)
				h.must(reqSelect, apAHB0|regDRW&^0xf)
				h.must(reqAPRead[3], 0) // a core that is not Arm: fails
			}
			for _, req := range []byte{reqAPRead[3], reqAPWrite[3]} {
				h.ack(req, want)
				if overrun && want == AckWait {
					// An overrun is sticky: what follows faults.
					h.ack(req, AckFault)
					if s := h.sticky(); s != stickyOrun {
						t.Errorf("sticky bits %#x after an overrun", s)
					}
					h.must(reqSelect, apAHB0|regDRW&^0xf)
				}
			}
			s := h.sticky()
			if want == AckFault && s&stickyErr == 0 || s&stickyOrun != 0 && !overrun {
				t.Errorf("overrun %t, acknowledge %d: sticky bits %#x", overrun, want, s)
			}
		}
	}
}

func TestTurnaround(t *testing.T) {
	h := newHost(t)
	h.wake()
	p := NewProbe(DebugProbe("1"), h.line)
	h.must(reqSelect, 1)
	h.must(reqWriteCtrl, 2<<8) // three clocks
	if out := p.Execute([]byte{dapSWDConfigure, 2}); out[1] != dapOK {
		t.Fatal(out)
	}
	if v, ack := p.swd(2, 0); v != dpidr1 || ack != AckOK {
		t.Errorf("DPIDR1 %#x, acknowledge %d", v, ack)
	}
	if v, ack := p.swd(6, 0); v != 0x200 || ack != AckOK {
		t.Errorf("DLCR %#x, acknowledge %d", v, ack)
	}
	if _, ack := p.swd(4, 2<<8); ack != AckOK {
		t.Errorf("write of DLCR: acknowledge %d", ack)
	}
	if _, ack, _ := h.packet(reqDPIDR, 0); ack == AckOK {
		t.Error("one clock of turnaround is still enough")
	}
}

func TestLineTroubles(t *testing.T) {
	seen := map[LineTrouble]uint8{}
	for _, l := range []LineTrouble{LineHigh, LineLow, LineFloating} {
		h := newHost(t)
		h.wake()
		h.dp.Trouble.Line = l
		h.lineReset()
		bad := 0
		for range 32 {
			v, ack, ok := h.packet(reqDPIDR, 0)
			seen[l] = ack
			if ack != AckOK || !ok || v != DPIDR {
				bad++
			}
		}
		if bad != 32 {
			t.Errorf("trouble %d: %d of 32 reads came through", l, 32-bad)
		}
	}
	if seen[LineHigh] != 7 || seen[LineLow] != 0 {
		t.Errorf("acknowledges %v", seen)
	}
}

func TestParityTrouble(t *testing.T) {
	h := newHost(t)
	h.wake()
	h.dp.Trouble.ParityEvery = 3
	bad := 0
	for range 9 {
		if _, _, ok := h.packet(reqDPIDR, 0); !ok {
			bad++
		}
	}
	if bad != 3 {
		t.Errorf("%d of 9 reads were spoilt, want 3", bad)
	}
}
