package debugport

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stem-hw/stem-hw/image"
)

// newDM is an active module.
func newDM() (*DM, *fakeChip) {
	c := newFake()
	d := NewDM(c)
	d.Write(dmControl, dmActive)
	return d, c
}

func (d *DM) want(t *testing.T, reg, v uint32) {
	t.Helper()
	if got := d.Read(reg); got != v {
		t.Errorf("register %#x is %#x, want %#x", reg, got, v)
	}
}

func TestInactiveModule(t *testing.T) {
	d := NewDM(newFake())
	d.Write(dmData0, 5)
	d.Write(dmHAWindow, 3)
	d.Write(dmControl, dmHaltReq|dmHaSel|dmActive)
	d.want(t, dmControl, dmActive) // only dmactive was writable
	d.want(t, dmData0, 0)
	d.want(t, dmHAWindow, 0)
	d.Write(dmData0, 5)
	d.Write(dmSBCS, 4<<17)
	d.Write(dmControl, 0)
	d.Write(dmControl, dmActive)
	d.want(t, dmData0, 0)
	d.want(t, dmSBCS, 0x20000407)
}

func TestFixedRegisters(t *testing.T) {
	d, _ := newDM()
	for reg, v := range map[uint32]uint32{
		dmHartInfo: 0x00001bff, dmAbstractCS: 0x02000001, dmSBCS: 0x20000407, dmHaltSum0: 0, 0x14: 0, 0x1d: 0,
		0x05: 0, 0x30: 0, 0x32: 0, 0x19: 0x4c296328, 0x1c: 0x31322720, dmStatus: 0x00400ca2,
	} {
		d.want(t, reg, v)
	}
	for _, reg := range []uint32{0x05, 0x14, 0x30, 0x32, dmHaltSum0, dmHartInfo} {
		was := d.Read(reg)
		d.Write(reg, 0xffffffff)
		d.want(t, reg, was)
	}
}

func TestHartSelect(t *testing.T) {
	d, c := newDM()
	d.Write(dmControl, 0x07ffffc1)
	d.want(t, dmControl, 0x04010001) // one bit of hartsel, and hasel
	d.Write(dmControl, dmActive)
	d.Write(dmControl, dmHaltReq|dmActive)
	d.want(t, dmControl, dmActive) // haltreq reads 0
	if !c.harts[0].halted || c.harts[1].halted {
		t.Error("the wrong hart halted")
	}
	d.want(t, dmStatus, 0x004003a2)
	d.Write(dmControl, dmHartSel|dmActive)
	d.want(t, dmStatus, 0x00400ca2)
	d.Write(dmHAWindow, 0xffffffff)
	d.want(t, dmHAWindow, 3)
	d.Write(dmControl, dmHaSel|dmActive)
	d.want(t, dmStatus, 0x004005a2) // any halted, any running
	d.Write(dmControl, dmHaSel|dmHaltReq|dmActive)
	d.want(t, dmHaltSum0, 3)
	d.want(t, dmHaltSum1, 1)
	d.Write(dmControl, dmHaSel|dmResumeReq|dmHaltReq|dmActive) // resumereq is ignored then
	d.want(t, dmStatus, 0x004003a2)
	d.Write(dmControl, dmHaSel|dmResumeReq|dmActive)
	d.want(t, dmStatus, 0x00430ca2)
	if c.harts[0].halted || c.harts[1].halted {
		t.Error("a hart did not resume")
	}
}

func TestResumeAck(t *testing.T) {
	d, c := newDM()
	d.Write(dmControl, dmResumeReq|dmActive) // running already
	if d.Read(dmStatus)&(3<<16) != 3<<16 {
		t.Error("no acknowledge of a resume request of a running hart")
	}
	d.Write(dmControl, dmHaltReq|dmActive)
	d.Write(dmControl, dmActive)
	d.Write(dmControl, dmResumeReq|dmActive)
	c.harts[0].halted = true // one step, and it is halted again
	d.want(t, dmStatus, 0x004303a2)
	c.arch = image.ArchARM
	d.Write(dmControl, dmResumeReq|dmActive)
	if d.Read(dmStatus)&(3<<16) != 0 {
		t.Error("an unavailable hart acknowledges a resume request")
	}
}

func TestUnavailable(t *testing.T) {
	d, c := newDM()
	c.arch = image.ArchARM
	d.Write(dmHAWindow, 3)
	d.Write(dmControl, dmHaSel|dmHaltReq|dmActive)
	d.want(t, dmStatus, 0x004030a2)
	d.want(t, dmControl, dmHaSel|dmActive) // the module itself works
	d.want(t, dmHaltSum0, 0)
	d.Write(dmCommand, 0x00221008)
	d.want(t, dmAbstractCS, 0x02000401)
}

func TestResets(t *testing.T) {
	d, c := newDM()
	status := func() uint32 { return d.Read(dmStatus) >> 18 & 3 }
	if status() != 0 {
		t.Error("havereset is set by a reset before the module was active")
	}
	d.Write(dmControl, dmHartReset|dmActive)
	d.want(t, dmControl, dmHartReset|dmActive)
	d.want(t, dmStatus, 0x004030a2)
	d.Write(dmCommand, 0x00221008) // a hart in reset executes nothing
	d.want(t, dmAbstractCS, 0x02000401)
	d.Write(dmAbstractCS, 7<<8)
	d.Write(dmControl, dmActive)
	if !slices.Equal(c.holds, []uint8{1, 0}) {
		t.Errorf("hartreset held %v", c.holds)
	}
	if status() != 3 {
		t.Error("havereset is clear")
	}
	d.Write(dmControl, dmHartSel|dmActive)
	if status() != 0 {
		t.Error("the other hart was reset too")
	}
	d.Write(dmControl, dmAckReset|dmActive)
	if status() != 0 {
		t.Error("havereset is not acknowledged")
	}
	d.Write(dmControl, dmNDMReset|dmActive)
	d.want(t, dmControl, dmNDMReset|dmActive)
	d.want(t, dmStatus, 0x004030a2)
	d.Write(dmControl, dmActive)
	if !slices.Equal(c.holds, []uint8{1, 0, 3, 0}) || len(c.resets) > 0 {
		t.Errorf("ndmreset held %v and reset %v", c.holds, c.resets)
	}
	// A hart of its own accord (watchdog).
	d.Write(dmControl, dmAckReset|dmActive)
	c.harts[0].reset = true
	if status() != 3 {
		t.Error("havereset does not show a reset by the chip")
	}
	// The module that goes away lets the harts go.
	d.Write(dmControl, dmHartReset|dmActive)
	d.Write(dmControl, 0)
	if !slices.Equal(c.holds, []uint8{1, 0, 3, 0, 1, 0}) {
		t.Errorf("held %v", c.holds)
	}
}

func TestResetHalt(t *testing.T) {
	d, c := newDM()
	d.Write(dmControl, dmSetResetHalt|dmActive)
	d.Write(dmControl, dmNDMReset|dmActive)
	d.Write(dmControl, dmActive)
	if !c.harts[0].halted || c.harts[1].halted {
		t.Error("resethaltreq: the wrong harts are halted")
	}
	d.Write(dmControl, dmClrResetHalt|dmActive)
	d.Write(dmControl, dmNDMReset|dmActive)
	d.Write(dmControl, dmActive)
	if c.harts[0].halted {
		t.Error("clrresethaltreq has no effect")
	}
	// A halt request that stands while the hart comes out of reset, with
	// another hart selected by then.
	d.Write(dmControl, dmHaltReq|dmNDMReset|dmActive)
	d.Write(dmControl, dmHartSel|dmActive)
	d.want(t, dmHaltSum0, 1)
	d.Write(dmControl, dmSetResetHalt|dmActive)
	d.Write(dmControl, 0)
	if c.onReset[0] {
		t.Error("resethaltreq outlives the module")
	}
}

func TestAbstractCommands(t *testing.T) {
	d, c := newDM()
	h := c.harts[0]
	d.Write(dmCommand, 0x00221008)
	d.want(t, dmAbstractCS, 0x02000401) // running: 4
	d.Write(dmCommand, 0x00321008)
	d.want(t, dmAbstractCS, 0x02000401) // ignored while cmderr stands
	d.Write(dmAbstractCS, 0x300)
	d.want(t, dmAbstractCS, 0x02000401) // W1C bit by bit
	d.Write(dmAbstractCS, 0x700)
	d.Write(dmControl, dmHaltReq|dmActive)
	for _, bad := range []uint32{
		0x00321008, // 64 bits
		0x00121008, // 16 bits
		0x00220301, // a CSR
		0x00221020, // a float
		0x002a1008, // post-increment
		0x01000000, // quick access
		0x02200000, // access memory
		0x00080000, // post-increment without a transfer
	} {
		d.Write(dmCommand, bad)
		d.want(t, dmAbstractCS, 0x02000201)
		d.Write(dmAbstractCS, 0x700)
	}
	d.Write(dmCommand, 0x0033ffff&^0x00030000) // no transfer: size and number do not matter
	d.want(t, dmAbstractCS, 0x02000001)
	d.Write(dmData0, 0xdeadbeef)
	d.Write(dmCommand, 0x00231008)
	d.Write(dmData0, 0)
	d.Write(dmCommand, 0x00221008)
	d.want(t, dmData0, 0xdeadbeef)
	if h.x[8] != 0xdeadbeef {
		t.Errorf("s0 is %#x", h.x[8])
	}
}

func TestProgramBuffer(t *testing.T) {
	for _, c := range []struct {
		words [2]uint32
		want  []uint32
		err   uint32
	}{
		{[2]uint32{0x30102473, 0x00100073}, []uint32{0x30102473, ebreak}, 0},
		{[2]uint32{0x00140413, 0x00140413}, []uint32{0x00140413, 0x00140413, ebreak}, 0},         // implicit ebreak
		{[2]uint32{0x04110405, 0x04110405}, []uint32{0x0405, 0x0411, 0x0405, 0x0411, ebreak}, 0}, // compressed
		{[2]uint32{0x00130405, 0x90020014}, []uint32{0x0405, 0x00140013, compressedB}, 0},        // straddling
		{[2]uint32{0x00140413, 0xbad}, []uint32{0x00140413, 0xbad}, cmdErrException},
		{[2]uint32{ebreak, 0xbad}, []uint32{ebreak}, 0},
	} {
		d, chip := newDM()
		h := chip.harts[0]
		h.illegal = 0xbad
		d.Write(dmControl, dmHaltReq|dmActive)
		d.Write(dmProgBuf0, c.words[0])
		d.Write(dmProgBuf1, c.words[1])
		d.want(t, dmProgBuf0, c.words[0])
		d.want(t, dmProgBuf1, c.words[1])
		d.Write(dmCommand, 0x00241000)
		if !slices.Equal(h.ran, c.want) {
			t.Errorf("%x: ran %x, want %x", c.words, h.ran, c.want)
		}
		d.want(t, dmAbstractCS, 0x02000001|c.err<<8)
	}
}

func TestAbstractAuto(t *testing.T) {
	d, c := newDM()
	h := c.harts[0]
	d.Write(dmControl, dmHaltReq|dmActive)
	d.Write(dmAbstractAuto, 0xffffffff)
	d.want(t, dmAbstractAuto, 0x00030001)
	d.Read(dmData0)
	d.want(t, dmAbstractCS, 0x02000201) // nothing to repeat
	d.Write(dmAbstractCS, 0x700)
	d.Write(dmAbstractAuto, 0)
	d.Write(dmProgBuf0, 0x00140413) // addi s0, s0, 1
	d.Write(dmProgBuf1, ebreak)
	h.x[8] = 10
	d.Write(dmCommand, 0x00261008) // data0 = s0, then the buffer
	d.Write(dmAbstractAuto, 1)
	for i := range uint32(4) {
		d.want(t, dmData0, 10+i)
	}
	d.Write(dmAbstractAuto, 1<<17)
	n := len(h.ran)
	d.Read(dmProgBuf0)
	d.Read(dmData0)
	if len(h.ran) != n {
		t.Error("executed by a register that was not asked for")
	}
	d.Write(dmProgBuf1, ebreak)
	if len(h.ran) == n {
		t.Error("not executed by a write of progbuf1")
	}
	h.halted = false
	d.Read(dmProgBuf1)
	d.want(t, dmAbstractCS, 0x02000401)
}

func TestSystemBus(t *testing.T) {
	d, c := newDM()
	binary.LittleEndian.PutUint32(c.mem[:], 0x44332211)
	binary.LittleEndian.PutUint32(c.mem[4:], 0x88776655)
	for _, s := range []struct{ access, addr, want, next uint32 }{
		{0, 1, 0x22, 2}, {1, 2, 0x4433, 4}, {2, 4, 0x88776655, 8},
	} {
		d.Write(dmSBCS, s.access<<17|sbReadOnAddr|sbAutoInc)
		d.Write(dmSBAddress0, fakeRAM+s.addr)
		d.want(t, dmSBData0, s.want)
		d.want(t, dmSBAddress0, fakeRAM+s.next)
	}
	if c.core != 1 {
		t.Errorf("accesses go through the port of core %d", c.core)
	}
	// Read on data: each read starts the next.
	d.Write(dmSBCS, 2<<17|sbReadOnAddr|sbReadOnData|sbAutoInc)
	d.Write(dmSBAddress0, fakeRAM)
	d.want(t, dmSBData0, 0x44332211)
	d.want(t, dmSBData0, 0x88776655)
	d.Write(dmSBCS, 0<<17|sbAutoInc)
	d.Write(dmSBAddress0, fakeRAM+2)
	d.Write(dmSBData0, 0xaabbccdd)
	d.Write(dmSBData0, 0xee)
	if got := binary.LittleEndian.Uint32(c.mem[:]); got != 0xeedd2211 {
		t.Errorf("memory %#x", got)
	}
}

func TestSystemBusErrors(t *testing.T) {
	d, c := newDM()
	for _, s := range []struct{ access, addr, err uint32 }{
		{2, fakeRAM + 2, 3}, {1, fakeRAM + 1, 3}, {3, fakeRAM, 4}, {7, fakeRAM, 4}, {2, 0x90000000, 2},
	} {
		d.Write(dmSBCS, s.access<<17|sbReadOnAddr|sbAutoInc)
		d.Write(dmSBAddress0, s.addr)
		if e := d.Read(dmSBCS) >> 12 & 7; e != s.err {
			t.Errorf("%+v: sberror %d", s, e)
		}
		d.want(t, dmSBAddress0, s.addr) // no increment
		d.Write(dmSBCS, sbError|2<<17|sbReadOnAddr)
		if e := d.Read(dmSBCS) & sbError; e != 0 {
			t.Errorf("sberror %#x after it was cleared", e)
		}
	}
	// An error keeps writes away; a read trigger is honoured all the same.
	d.Write(dmSBAddress0, 0x90000000)
	d.Write(dmSBAddress0, fakeRAM)
	c.sizes = nil
	d.Write(dmSBData0, 1)
	if len(c.sizes) != 0 {
		t.Error("written in spite of sberror")
	}
	d.Write(dmSBAddress0, fakeRAM)
	if len(c.sizes) != 1 {
		t.Error("not read because of sberror")
	}
}

// RP2350-E4: core 1 sleeps deeply and the access waits.
func TestSystemBusStall(t *testing.T) {
	d, c := newDM()
	c.mem[0] = 7
	d.Write(dmSBCS, sbReadOnAddr)
	c.stalled = true
	d.Write(dmSBAddress0, fakeRAM)
	d.want(t, dmSBCS, 0x20000407|sbReadOnAddr|sbBusy)
	d.Write(dmSBAddress0, fakeRAM+1)
	d.want(t, dmSBAddress0, fakeRAM)
	d.want(t, dmSBCS, 0x20000407|sbReadOnAddr|sbBusy|sbBusyError)
	c.stalled = false
	d.want(t, dmSBCS, 0x20000407|sbReadOnAddr|sbBusyError)
	d.want(t, dmSBData0, 7)
	d.Write(dmSBData0, 9)
	if c.mem[0] != 7 {
		t.Error("written in spite of sbbusyerror")
	}
	d.Write(dmSBCS, sbBusyError|sbReadOnAddr)
	d.Write(dmSBData0, 9)
	if c.mem[0] != 9 {
		t.Error("not written")
	}
}
