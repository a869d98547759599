package debugport

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
)

func newTestProbe(t testing.TB) (*Probe, *host) {
	h := newHost(t)
	h.chip.arch = image.ArchARM
	return NewProbe(DebugProbe("E66"), h.line), h
}

// dap executes a packet and compares its answer.
func dap(t *testing.T, p *Probe, request, want []byte) {
	t.Helper()
	if got := p.Execute(request); !bytes.Equal(got, want) {
		t.Errorf("% x answers\n% x, want\n% x", request, got, want)
	}
}

func word(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func join(ps ...[]byte) []byte { return bytes.Join(ps, nil) }

// attach is what OpenOCD does: connect, wake up, power up.
func attach(t *testing.T, p *Probe) {
	t.Helper()
	dap(t, p, []byte{2, 1}, []byte{2, 1})
	dap(t, p, []byte{0x12, 8, 0xff}, []byte{0x12, 0})
	dap(t, p, join([]byte{0x12, 128}, alertBytes), []byte{0x12, 0})
	dap(t, p, []byte{0x12, 12 + 64, 0xa0, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, []byte{0x12, 0})
	dap(t, p, []byte{5, 0, 1, 2}, join([]byte{5, 1, 1}, word(DPIDR)))
	dap(t, p, join([]byte{5, 0, 2, 4}, word(0x50000000), []byte{6}), join([]byte{5, 2, 1}, word(0xf0000000)))
}

func TestDAPInfo(t *testing.T) {
	p, _ := newTestProbe(t)
	for id, want := range map[byte]string{
		1: "Raspberry Pi\x00", 2: "Debug Probe (CMSIS-DAP)\x00", 3: "E66\x00", 4: "2.0.0\x00", 5: "", 6: "",
		0xf0: "\x31", 0xf1: "\x40\x42\x0f\x00", 0xfe: "\x06", 0xff: "\x40\x00", 0xfd: "",
	} {
		dap(t, p, []byte{0, id}, append([]byte{0, byte(len(want))}, want...))
	}
}

func TestDAPCommands(t *testing.T) {
	p, _ := newTestProbe(t)
	p.line.dp.TakeSpent()
	for _, c := range []struct{ request, want []byte }{
		{[]byte{1, 0, 1}, []byte{1, 0}},
		{[]byte{1, 1, 1}, []byte{1, 0}},
		{[]byte{2, 0}, []byte{2, 1}},
		{[]byte{2, 1}, []byte{2, 1}},
		{[]byte{2, 2}, []byte{2, 0}}, // no JTAG
		{[]byte{3}, []byte{3, 0}},
		{[]byte{4, 0, 64, 0, 0, 0}, []byte{4, 0}},
		{[]byte{7}, nil},
		{[]byte{9, 0xe8, 3}, []byte{9, 0}},
		{[]byte{0x0a}, []byte{0x0a, 0, 0}},
		{[]byte{0x10, 0, 0, 0, 0, 0, 0}, []byte{0x10, 0x83}},
		{[]byte{0x10, 0, 2, 0, 0, 0, 0}, []byte{0x10, 0x81}},
		{[]byte{0x11, 0, 0, 0, 0}, []byte{0x11, 0xff}},
		{[]byte{0x11, 0x40, 0x42, 0x0f, 0}, []byte{0x11, 0}},
		{[]byte{0x13, 0}, []byte{0x13, 0}},
		{[]byte{0x14, 1, 8, 0}, []byte{0x14, 0xff}},
		{[]byte{0x15, 1, 5}, []byte{0x15, 0xff}},
		{[]byte{0x16, 0}, []byte{0x16, 0xff}},
		{[]byte{0x17, 0}, []byte{0xff}},
		{[]byte{0x80}, []byte{0xff}},
		{nil, []byte{0xff}},
		{[]byte{0x7f, 2, 0, 0xfe, 3}, []byte{0x7f, 2, 0, 1, 6, 3, 0}},
		{[]byte{0x7e, 1, 3}, []byte{0x7f, 1, 3, 0}},
		{[]byte{0x7f, 1, 0x7f, 1, 3}, []byte{0x7f, 1, 0xff}},
		{[]byte{8, 0, 0x1e, 0, 0, 0}, []byte{8, 0xff}}, // dormant: no answer
		{[]byte{5, 0, 1, 2}, []byte{5, 0, 7}},
	} {
		dap(t, p, c.request, c.want)
	}
	// A millisecond of waiting, and less than another of clocks.
	spent := p.line.dp.TakeSpent()
	if p.LEDs != [2]bool{true, true} || p.Clock() != 1000000 || spent < time.Millisecond || spent > 2*time.Millisecond {
		t.Errorf("lights %v, clock %d, spent %v", p.LEDs, p.Clock(), spent)
	}
}

func TestDAPTransfer(t *testing.T) {
	p, h := newTestProbe(t)
	attach(t, p)
	binary.LittleEndian.PutUint32(h.chip.mem[0:], 0x11223344)
	binary.LittleEndian.PutUint32(h.chip.mem[4:], 0x55667788)
	binary.LittleEndian.PutUint32(h.chip.mem[8:], 0x99aabbcc)
	csw, tar := uint32(0xa2000012), uint32(fakeRAM)
	// SELECT, CSW, TAR, three posted reads with a read of the port between them.
	dap(t, p, join([]byte{5, 0, 7, 8}, word(0x2d00), []byte{1}, word(csw), []byte{5}, word(tar), []byte{0xf, 0xf, 6, 0xf}),
		join([]byte{5, 7, 1}, word(0x11223344), word(0x55667788), word(0xf0000040), word(0x99aabbcc)))
	// A write at the end is checked: its fault shows at once.
	dap(t, p, join([]byte{5, 0, 2, 5}, word(0x90000000), []byte{0xd}, word(1)), []byte{5, 2, 4})
	dap(t, p, []byte{5, 0, 2, 0xf, 6}, []byte{5, 0, 4})
	dap(t, p, join([]byte{8, 0}, word(0x1e)), []byte{8, 0})
	// A failure in the middle: what follows is skipped, the next command found.
	dap(t, p, join([]byte{0x7f, 2, 5, 0, 5, 5}, word(0x90000000), []byte{0xf, 0xf}, []byte{0xd}, word(1), []byte{0xf}, []byte{3}),
		[]byte{0x7f, 2, 5, 2, 4, 3, 0})
	dap(t, p, join([]byte{8, 0}, word(0x1e)), []byte{8, 0})
	// Match: mask, then until the value appears.
	dap(t, p, []byte{4, 0, 0, 0, 2, 0}, []byte{4, 0})
	dap(t, p, join([]byte{5, 0, 4, 5}, word(tar), []byte{0x20}, word(0xff), []byte{0x1f}, word(0xcc), []byte{6}),
		join([]byte{5, 4, 1}, word(0xf0000040)))
	dap(t, p, join([]byte{5, 0, 3, 5}, word(tar), []byte{0x1f}, word(0x01), []byte{6}), []byte{5, 1, 1 | 0x10})
	// Time stamps come before the data.
	out := p.Execute([]byte{5, 0, 1, 0x82})
	if len(out) != 11 || !bytes.Equal(out[7:], word(DPIDR)) || binary.LittleEndian.Uint32(out[3:]) == 0 {
		t.Errorf("with a time stamp: % x", out)
	}
}

func TestDAPTransferBlock(t *testing.T) {
	p, h := newTestProbe(t)
	attach(t, p)
	dap(t, p, join([]byte{5, 0, 3, 8}, word(0x2d00), []byte{1}, word(0xa2000012), []byte{5}, word(fakeRAM)), []byte{5, 3, 1})
	var data []byte
	for i := range uint32(14) {
		data = append(data, word(0x01010101*i)...)
	}
	dap(t, p, join([]byte{6, 0, 14, 0, 0xd}, data), []byte{6, 14, 0, 1})
	if !bytes.Equal(h.chip.mem[:len(data)], data) {
		t.Errorf("memory % x", h.chip.mem[:len(data)])
	}
	dap(t, p, join([]byte{5, 0, 1, 5}, word(fakeRAM)), []byte{5, 1, 1})
	dap(t, p, []byte{6, 0, 14, 0, 0xf}, join([]byte{6, 14, 0, 1}, data))
	// A read of the port is not posted.
	dap(t, p, []byte{6, 0, 2, 0, 6}, join([]byte{6, 2, 0, 1}, word(0xf0000040), word(0xf0000040)))
	dap(t, p, []byte{6, 0, 0, 0, 0xf}, []byte{6, 0, 0, 0})
	// A fault in the middle: the count of what was acknowledged.
	dap(t, p, join([]byte{5, 0, 1, 5}, word(fakeRAM+uint32(len(h.chip.mem))-4)), []byte{5, 1, 1})
	dap(t, p, join([]byte{6, 0, 4, 0, 0xd}, word(1), word(2), word(3), word(4)), []byte{6, 4, 0, 1})
}

func TestDAPWait(t *testing.T) {
	p, h := newTestProbe(t)
	attach(t, p)
	h.dp.Trouble.Wait = true
	dap(t, p, []byte{4, 0, 3, 0, 0, 0}, []byte{4, 0})
	dap(t, p, []byte{5, 0, 1, 0xf}, []byte{5, 0, 2})
	h.dp.Trouble = Trouble{ParityEvery: 1}
	dap(t, p, []byte{5, 0, 1, 2}, []byte{5, 0, 8})
}

func TestDAPSWDSequence(t *testing.T) {
	p, _ := newTestProbe(t)
	attach(t, p)
	// A read of DPIDR by hand: request, turnaround and acknowledge, data.
	got := p.Execute([]byte{0x1d, 4, 8, 0xa5, 0x80 | 4, 0x80 | 33, 0x80 | 1})
	if len(got) != 2+1+5+1 || got[1] != 0 || got[2]>>1&7 != 1 || !bytes.Equal(got[3:7], word(DPIDR)) {
		t.Errorf("% x", got)
	}
	// TARGETSEL, which needs it.
	p.Execute([]byte{0x12, 64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00})
	p.Execute(join([]byte{0x1d, 3, 8, 0x99, 0x80 | 5, 33}, word(TARGETID), []byte{1}))
	dap(t, p, []byte{5, 0, 1, 2}, join([]byte{5, 1, 1}, word(DPIDR)))
	dap(t, p, []byte{0x1d, 2, 8}, []byte{0x1d, 0xff}) // cut short
}

// With overrun detection the probe has to be told of the data phases.
func TestDAPDataPhase(t *testing.T) {
	p, h := newTestProbe(t)
	attach(t, p)
	dap(t, p, join([]byte{5, 0, 1, 4}, word(0x50000001)), []byte{5, 1, 1})
	dap(t, p, []byte{0x13, 4}, []byte{0x13, 0})
	h.dp.Trouble.Wait = true
	dap(t, p, []byte{4, 0, 0, 0, 0, 0}, []byte{4, 0})
	dap(t, p, []byte{5, 0, 1, 0xf}, []byte{5, 0, 2})
	dap(t, p, join([]byte{5, 0, 1, 0xd}, word(1)), []byte{5, 0, 4})
	dap(t, p, []byte{5, 0, 1, 6}, join([]byte{5, 1, 1}, word(0xf0000003)))
}

func TestShortPackets(t *testing.T) {
	p, _ := newTestProbe(t)
	attach(t, p)
	whole := join([]byte{5, 0, 3, 8}, word(0x2d00), []byte{0x1f}, word(1), []byte{0xd}, word(1))
	for n := range whole {
		if out := p.Execute(whole[:n]); n > 0 && out == nil {
			t.Errorf("% x has no answer", whole[:n])
		}
	}
}
