package debugport

import (
	"encoding/binary"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
)

// newArmHost is a powered port with an AHB-AP that works.
func newArmHost(t *testing.T) *host {
	h := newHost(t)
	h.chip.arch = image.ArchARM
	h.wake()
	return h
}

const (
	incSingle = 1 << 4
	incPacked = 2 << 4
	cswBase   = 0xa2000000
)

func (h *host) csw(v uint32) { h.apWrite(apAHB0+regCSW, cswBase|v) }
func (h *host) tar(v uint32) { h.apWrite(apAHB0+regTAR, v) }

func TestROMTable(t *testing.T) {
	for arch, want := range map[image.Arch][8]uint32{
		image.ArchARM:     {0x2003, 0x4003, 0x6003, 0x7003, 0x8003, 0x9003, 0xa003, 0},
		image.ArchRISCV:   {0x2002, 0x4002, 0x6003, 0x7003, 0x8003, 0x9003, 0xa003, 0},
		image.ArchUnknown: {0x2002, 0x4002, 0x6003, 0x7003, 0x8003, 0x9003, 0xa003, 0},
	} {
		h := newHost(t)
		h.chip.arch = arch
		h.wake()
		for i, w := range want {
			if v := h.apRead(uint32(4 * i)); v != w {
				t.Errorf("%s: entry %d is %#x, want %#x", arch, i, v, w)
			}
		}
	}
}

// Identification of the components (class 9; part and designer).
func TestComponentIDs(t *testing.T) {
	h := newArmHost(t)
	for base, want := range map[uint32]struct{ part, designer uint32 }{
		apROM: {0x004, 0x493}, apAHB0: {0x9e3, 0x23b}, apAHB1: {0x9e3, 0x23b}, apTS: {0x193, 0x23b},
		apFunnel: {0x9eb, 0x23b}, apTPIU: {0x9e7, 0x23b}, apAPB: {0x9e2, 0x23b}, apRP: {0x004, 0x493},
	} {
		id := func(off uint32) uint32 { return h.apRead(base + off) }
		part := id(0xfe0) | id(0xfe4)&0xf<<8
		designer := id(0xfe4)>>4 | id(0xfe8)&7<<4 | id(0xfd0)&0xf<<7
		// The continuation codes count from 0x7f.
		if part != want.part || designer != want.designer {
			t.Errorf("%#x: part %#x of %#x, want %#x of %#x", base, part, designer, want.part, want.designer)
		}
		if c := id(0xff4); c != 0x90 || id(0xff0) != 0x0d || id(0xff8) != 5 || id(0xffc) != 0xb1 {
			t.Errorf("%#x: component identification, class %#x", base, c)
		}
	}
	for off, want := range map[uint32]uint32{regIDR: 0x34770008, regCFG: 0x000101a0, regBASE: 0xe00ff003, 0xfbc: 0x47700a17, 0xdf0: 0} {
		if v := h.apRead(apAHB1 + off); v != want {
			t.Errorf("AHB-AP register %#x is %#x, want %#x", off, v, want)
		}
	}
	if v := h.apRead(apAPB + regIDR); v != 0x34770006 {
		t.Errorf("IDR of the APB-AP %#x", v)
	}
}

func TestCSW(t *testing.T) {
	h := newArmHost(t)
	if v := h.apRead(apAHB0 + regCSW); v != 0x43800042 {
		t.Errorf("CSW is %#x at power-up, want what silicon shows", v)
	}
	h.csw(2)
	if v := h.apRead(apAHB0 + regCSW); v != 0x02800042 {
		t.Errorf("CSW %#x", v)
	}
	h.csw(incPacked)
	if v := h.apRead(apAHB0 + regCSW); v&0x37 != incPacked {
		t.Errorf("packed transfers are not offered: CSW %#x", v)
	}
	h.csw(3 << 4)
	if v := h.apRead(apAHB0 + regCSW); v&0x30 == 0x30 {
		t.Errorf("reserved increment was kept: CSW %#x", v)
	}
	h.apWrite(apAPB+regCSW, cswBase|incPacked)
	if v := h.apRead(apAPB + regCSW); v&0x37 != 2 {
		t.Errorf("the APB-AP takes narrow transfers: CSW %#x", v)
	}
}

func TestProtection(t *testing.T) {
	h := newArmHost(t)
	h.tar(fakeRAM)
	read := func() uint32 {
		h.must(reqSelect, apAHB0|0xd00)
		h.must(reqAPRead[3], 0)
		return h.sticky()
	}
	for _, c := range []struct {
		csw    uint32
		auth   Auth
		want   bus.Access
		sticky uint32
	}{
		{0x22000002, allowed(true, true), bus.Debug | bus.Privileged, 0},
		{0x20000002, allowed(true, true), bus.Debug, 0},
		{0x62000002, allowed(true, true), bus.Debug | bus.Privileged | bus.NonSecure, 0},
		{0x62000002, allowed(true, false), bus.Debug | bus.Privileged | bus.NonSecure, 0},
		{0x22000002, allowed(true, false), 0, stickyErr},
		{0x22000002, Auth{}, 0, stickyErr},
		{0x62000002, Auth{}, 0, stickyErr},
	} {
		h.chip.auth = c.auth
		h.apWrite(apAHB0+regCSW, c.csw)
		h.chip.last = 0
		if s := read(); s != c.sticky || h.chip.last != c.want {
			t.Errorf("CSW %#x, %+v: sticky %#x, access %#x, want %#x, %#x", c.csw, c.auth, s, h.chip.last, c.sticky, c.want)
		}
		v := h.apRead(apAHB0 + regCSW)
		if v&cswDeviceEn != 0 != c.auth.Debug[0] || v&cswSDeviceEn != 0 != (c.auth.Debug[0] && c.auth.Secure[0]) {
			t.Errorf("CSW reads %#x with %+v", v, c.auth)
		}
	}
}

func TestSizesAndLanes(t *testing.T) {
	h := newArmHost(t)
	for _, c := range []struct {
		size, addr, want uint32
	}{
		{0, 0, 0x11}, {0, 1, 0x2200}, {0, 2, 0x330000}, {0, 3, 0x44000000},
		{1, 0, 0x2211}, {1, 2, 0x44330000}, {2, 0, 0x44332211},
	} {
		binary.LittleEndian.PutUint32(h.chip.mem[:], 0x44332211)
		h.csw(c.size)
		h.tar(fakeRAM + c.addr)
		if v := h.apRead(apAHB0 + regDRW); v != c.want {
			t.Errorf("size %d at %d: %#x, want %#x", c.size, c.addr, v, c.want)
		}
		h.apWrite(apAHB0+regDRW, 0xddccbbaa)
	}
	if v := binary.LittleEndian.Uint32(h.chip.mem[:]); v != 0xddccbbaa {
		t.Errorf("memory is %#x", v)
	}
	h.csw(2)
	h.tar(fakeRAM + 2) // not aligned
	h.must(reqSelect, apAHB0|0xd00)
	h.must(reqAPRead[3], 0)
	if s := h.sticky(); s != stickyErr {
		t.Errorf("misaligned access: sticky bits %#x", s)
	}
}

func TestIncrement(t *testing.T) {
	h := newArmHost(t)
	for i := range h.chip.mem {
		h.chip.mem[i] = byte(i) ^ byte(i>>8)
	}
	for _, c := range []struct {
		csw, from, n, want uint32
		sizes              uint8
	}{
		{2, 0, 3, 0, 4}, {2 | incSingle, 0, 3, 12, 4}, {0 | incSingle, 1, 3, 4, 1}, {1 | incSingle, 0, 2, 4, 2},
		{0 | incPacked, 4, 2, 12, 1}, {1 | incPacked, 0, 2, 8, 2}, {2 | incPacked, 0, 2, 8, 4},
		{2 | incSingle, 0x3fc, 2, 4, 4}, // the increment wraps within 1 KiB
		{0 | incSingle, 0x7ff, 1, 0x400, 1},
		{0 | incPacked, 0x3fc, 1, 0, 1},
	} {
		h.csw(c.csw)
		h.tar(fakeRAM + c.from)
		h.chip.sizes = nil
		h.must(reqSelect, apAHB0|0xd00)
		for range c.n {
			h.must(reqAPRead[3], 0)
		}
		for _, s := range h.chip.sizes {
			if s != c.sizes {
				t.Errorf("%+v: an access of %d bytes", c, s)
			}
		}
		if v := h.apRead(apAHB0+regTAR) - fakeRAM; v != c.want {
			t.Errorf("%+v: TAR ends at %#x", c, v)
		}
	}
	// Four bytes in one word, both ways.
	h.csw(incPacked)
	h.tar(fakeRAM + 0x100)
	h.apWrite(apAHB0+regDRW, 0x44332211)
	if got := h.chip.mem[0x100:0x104]; string(got) != "\x11\x22\x33\x44" {
		t.Errorf("packed write: % x", got)
	}
	h.tar(fakeRAM + 0x100)
	if v := h.apRead(apAHB0 + regDRW); v != 0x44332211 {
		t.Errorf("packed read: %#x", v)
	}
}

func TestBankedAndDirect(t *testing.T) {
	h := newArmHost(t)
	h.csw(2 | incSingle)
	h.tar(fakeRAM + 0x424)
	for i := uint32(0); i < 4; i++ {
		h.apWrite(apAHB0+regBD0+4*i, 0x1000+i)
	}
	for i := uint32(0); i < 4; i++ {
		if v := binary.LittleEndian.Uint32(h.chip.mem[0x420+4*i:]); v != 0x1000+i {
			t.Errorf("BD%d wrote %#x", i, v)
		}
		if v := h.apRead(apAHB0 + regBD0 + 4*i); v != 0x1000+i {
			t.Errorf("BD%d reads %#x", i, v)
		}
	}
	h.apWrite(apAHB0+0x3f8, 0xcafe)
	if v := binary.LittleEndian.Uint32(h.chip.mem[0x7f8:]); v != 0xcafe {
		t.Errorf("the direct window wrote %#x", v)
	}
	if v := h.apRead(apAHB0 + 0x3f8); v != 0xcafe {
		t.Errorf("the direct window reads %#x", v)
	}
	if v := h.apRead(apAHB0 + regTAR); v != fakeRAM+0x424 {
		t.Errorf("TAR moved to %#x", v)
	}
}

func TestEachCoreItsPort(t *testing.T) {
	h := newArmHost(t)
	for i, base := range []uint32{apAHB0, apAHB1} {
		h.apWrite(base+regCSW, cswBase|2)
		h.apWrite(base+regTAR, fakeRAM)
		h.apRead(base + regDRW)
		if h.chip.core != i {
			t.Errorf("port %#x accesses as core %d", base, h.chip.core)
		}
	}
	h.dp.Trouble.MemoryFaults = true
	h.must(reqSelect, apAHB0|0xd00)
	h.must(reqAPRead[3], 0)
	if s := h.sticky(); s != stickyErr {
		t.Errorf("memory that faults: sticky bits %#x", s)
	}
}

func TestRescue(t *testing.T) {
	h := newArmHost(t)
	h.csw(2)
	h.apWrite(apRP, 0x80000000)
	if len(h.chip.resets) != 0 {
		t.Error("rescued too early")
	}
	h.apWrite(apRP, 0)
	h.apWrite(apRP, 0)
	if len(h.chip.resets) != 1 || h.chip.resets[0] != ResetRescue {
		t.Errorf("resets %v", h.chip.resets)
	}
	if h.dp.aps.ahb[0].csw != resetCSW {
		t.Error("the AHB-AP kept its state")
	}
	for off, want := range map[uint32]uint32{0: 0, 4: 0, 8: 0x95e, 0xc: 0x15e, 0x10: 0x15e, 0x14: 0x15e} {
		if v := h.apRead(apRP + off); v != want {
			t.Errorf("RP-AP register %#x is %#x, want %#x", off, v, want)
		}
	}
}

func TestDebugKey(t *testing.T) {
	h := newHost(t)
	h.wake()
	key := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 0x80}
	h.apWrite(apRP+4, 2|1) // a stray bit, dropped by the start
	h.apWrite(apRP+4, 4)
	for i := range 128 {
		h.apWrite(apRP+4, 2|uint32(key[i/8]>>(i%8)&1))
		h.apWrite(apRP+4, 1) // no push, no bit
	}
	if h.chip.keyed != 1 || h.chip.key != key {
		t.Errorf("key % x after %d tries", h.chip.key, h.chip.keyed)
	}
	h.apWrite(apRP+4, 3)
	if h.chip.keyed != 1 {
		t.Error("a bit too many was tried")
	}
}
