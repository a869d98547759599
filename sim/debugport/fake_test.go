package debugport

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
)

const fakeRAM = 0x20000000

// fakeChip is 8 KiB of memory and what was asked of the chip.
type fakeChip struct {
	mem     [8 << 10]byte
	arch    image.Arch
	harts   [Cores]*fakeHart
	auth    Auth
	key     [16]byte
	keyed   int
	stalled bool
	resets  []ResetKind
	counts  Resets
	held    uint8
	holds   []uint8
	onReset [Cores]bool
	aps     *AccessPorts
	last    bus.Access
	core    int
	sizes   []uint8
}

func newFake() *fakeChip {
	c := &fakeChip{arch: image.ArchRISCV, auth: allowed(true, true)}
	for i := range c.harts {
		c.harts[i] = &fakeHart{reset: true}
	}
	return c
}

func (c *fakeChip) Load(core int, addr uint32, size uint8, a bus.Access) (v uint32, ok bool) {
	c.last, c.core = a, core
	c.sizes = append(c.sizes, size)
	if addr < fakeRAM || addr-fakeRAM > uint32(len(c.mem))-uint32(size) {
		return 0, false
	}
	for i := range size {
		v |= uint32(c.mem[addr-fakeRAM+uint32(i)]) << (8 * i)
	}
	return v, true
}

func (c *fakeChip) Store(core int, addr uint32, size uint8, v uint32, a bus.Access) bool {
	c.last, c.core = a, core
	c.sizes = append(c.sizes, size)
	if addr < fakeRAM || addr-fakeRAM > uint32(len(c.mem))-uint32(size) {
		return false
	}
	for i := range size {
		c.mem[addr-fakeRAM+uint32(i)] = byte(v >> (8 * i))
	}
	return true
}

func (c *fakeChip) Arch(int) image.Arch { return c.arch }

func (c *fakeChip) Hart(i int) Hart {
	if c.arch != image.ArchRISCV || c.held>>i&1 != 0 {
		return nil
	}
	return c.harts[i]
}

// allowed is an authentication that treats all cores alike.
func allowed(debug, secure bool) Auth {
	return Auth{Debug: [Cores]bool{debug, debug}, Secure: [Cores]bool{secure, secure}, DM: debug}
}

func (c *fakeChip) HoldHarts(mask uint8) {
	if mask != c.held {
		c.holds = append(c.holds, mask)
	}
	for i, h := range c.harts {
		if (mask^c.held)>>i&1 != 0 {
			h.reset, h.halted = true, mask>>i&1 == 0 && c.onReset[i]
		}
	}
	c.held = mask
}

func (c *fakeChip) HaltOnReset(i int, on bool) { c.onReset[i] = on }

func (c *fakeChip) Reset(kind ResetKind) {
	c.resets = append(c.resets, kind)
	c.wholeReset()
}

// wholeReset is a reset of the switched core domain.
func (c *fakeChip) wholeReset() {
	c.counts.Core++
	c.held, c.onReset = 0, [Cores]bool{}
	for _, h := range c.harts {
		h.reset, h.halted = true, false
	}
}

func (c *fakeChip) Resets() Resets { return c.counts }

func (c *fakeChip) AccessPorts() *AccessPorts {
	if c.aps == nil {
		c.aps = NewAccessPorts(c)
	}
	return c.aps
}

func (c *fakeChip) Auth() Auth             { return c.auth }
func (c *fakeChip) Unlock(key [16]byte)    { c.key, c.keyed = key, c.keyed+1 }
func (c *fakeChip) SystemBusStalled() bool { return c.stalled }

// fakeHart records the instructions it is given.
type fakeHart struct {
	halted, reset bool
	x             [32]uint32
	ran           []uint32
	illegal       uint32
}

func (h *fakeHart) Halted() bool           { return h.halted }
func (h *fakeHart) Halt()                  { h.halted = true }
func (h *fakeHart) Resume()                { h.halted = false }
func (h *fakeHart) GPR(n int) uint32       { return h.x[n] }
func (h *fakeHart) SetGPR(n int, v uint32) { h.x[n] = v }
func (h *fakeHart) TakeReset() bool {
	was := h.reset
	h.reset = false
	return was
}

const (
	ebreak      = 0x00100073
	compressedB = 0x9002 // c.ebreak
)

func (h *fakeHart) Execute(instr uint32, data0 *uint32) Outcome {
	h.ran = append(h.ran, instr)
	switch {
	case instr == ebreak, instr == compressedB:
		return Ebreak
	case h.illegal != 0 && instr == h.illegal:
		return Exception
	case instr == 0x00140413: // addi s0, s0, 1
		h.x[8]++
	}
	return Done
}

// host is a debugger's side of the wires: it clocks bits and samples before the
// rising edge, as a bit-banging adapter does. It shares nothing with Probe.
type host struct {
	t    testing.TB
	line *Line
	dp   *DP
	chip *fakeChip
	// overrun: CTRL/STAT.ORUNDETECT is set, data phases always follow.
	overrun bool
}

func newHost(t testing.TB) *host {
	chip := newFake()
	dp := NewDP(chip)
	return &host{t: t, line: NewLine(dp), dp: dp, chip: chip}
}

func (h *host) out(bit bool) { h.line.Clock(bit, true) }

func (h *host) in() bool {
	v := h.line.Level()
	h.line.Clock(v, false)
	return v
}

// bytes sends n bits of p, each byte's lowest first.
func (h *host) bytes(n int, p ...byte) {
	for i := range n {
		h.out(p[i/8]>>(i%8)&1 != 0)
	}
}

func (h *host) lineReset() {
	h.bytes(64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00)
}

// packet performs a packet given by the whole request byte of the wire.
func (h *host) packet(req byte, w uint32) (v uint32, ack uint8, parityOK bool) {
	h.bytes(8, req)
	h.in() // turnaround
	for i := range 3 {
		if h.in() {
			ack |= 1 << i
		}
	}
	read := req&4 != 0
	data := ack == AckOK || h.overrun && ack != AckNone
	switch {
	case read && data:
		ones := 0
		for i := range 33 {
			if h.in() {
				ones++
				if i < 32 {
					v |= 1 << i
				}
			}
		}
		parityOK = ones&1 == 0
		h.in()
	case data || req == reqTargetSel:
		h.in()
		ones := false
		for i := range 32 {
			b := w>>i&1 != 0
			ones = ones != b
			h.out(b)
		}
		h.out(ones)
	default:
		h.in()
	}
	return v, ack, parityOK
}

// Request bytes of the wire.
const (
	reqDPIDR     = 0xa5
	reqAbort     = 0x81
	reqReadCtrl  = 0x8d
	reqWriteCtrl = 0xa9
	reqSelect    = 0xb1
	reqResend    = 0x95
	reqRDBuff    = 0xbd
	reqTargetSel = 0x99
)

// Request bytes of access ports by A[3:2].
var (
	reqAPRead  = [4]byte{0x87, 0xaf, 0xb7, 0x9f}
	reqAPWrite = [4]byte{0xa3, 0x8b, 0x93, 0xbb}
)

// must performs a packet that has to be acknowledged.
func (h *host) must(req byte, w uint32) uint32 {
	h.t.Helper()
	v, ack, ok := h.packet(req, w)
	if ack != AckOK {
		h.t.Fatalf("request %#x: acknowledge %d", req, ack)
	}
	if req&4 != 0 && !ok {
		h.t.Fatalf("request %#x: wrong parity", req)
	}
	return v
}

// ack performs a packet and checks its acknowledge.
func (h *host) ack(req byte, want uint8) {
	h.t.Helper()
	if _, ack, _ := h.packet(req, 0); ack != want {
		h.t.Errorf("request %#x: acknowledge %d, want %d", req, ack, want)
	}
}

// wake is the way from dormant to a powered port.
func (h *host) wake() {
	h.t.Helper()
	h.bytes(8, 0xff)
	h.bytes(128, alertBytes...)
	h.bytes(12, 0xa0, 0x01)
	h.lineReset()
	if v := h.must(reqDPIDR, 0); v != DPIDR {
		h.t.Fatalf("DPIDR %#x", v)
	}
	h.must(reqAbort, 0x1e)
	h.must(reqWriteCtrl, 0x50000000)
	if v := h.must(reqReadCtrl, 0) &^ readOK; v != 0xf0000000 {
		h.t.Fatalf("CTRL/STAT %#x", v)
	}
}

// alertBytes is the selection alert as it is sent (datasheet 3.5.1).
var alertBytes = []byte{0x92, 0xf3, 0x09, 0x62, 0x95, 0x2d, 0x85, 0x86, 0xe9, 0xaf, 0xdd, 0xe3, 0xa2, 0x0e, 0xbc, 0x19}

// apWrite and apRead access register off of the port at base.
func (h *host) apWrite(addr, v uint32) {
	h.t.Helper()
	h.must(reqSelect, addr&^0xf)
	h.must(reqAPWrite[addr>>2&3], v)
}

func (h *host) apRead(addr uint32) uint32 {
	h.t.Helper()
	h.must(reqSelect, addr&^0xf)
	h.must(reqAPRead[addr>>2&3], 0)
	return h.must(reqRDBuff, 0)
}

// sticky reads and clears the sticky bits.
func (h *host) sticky() uint32 {
	h.t.Helper()
	h.must(reqSelect, 0)
	v := h.must(reqReadCtrl, 0) & stickyMask
	h.must(reqAbort, 0x1e)
	return v
}
