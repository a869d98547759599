package cortexm33

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
)

// bare is the machine of the tests: one or two cores, RAM where QEMU's
// mps2-an505 has it, nothing else. The console and exit are semihosting.
type bare struct {
	core    *Core
	windows []bus.Window
	out     []byte
	file    []byte // what was written to a file
	exited  bool
	code    int
	// resv is the reservation of the exclusive monitor, 1 for none.
	resv uint32
	// device, if set, serves the addresses that are not RAM.
	device func(addr uint32, write bool, v uint32) (uint32, bool)
	ready  func(now uint64) bool
}

func newBare(tb testing.TB) *bare {
	tb.Helper()
	m := &bare{resv: 1}
	for _, base := range []uint32{0x10000000, 0x38000000, 0x80000000} {
		mem := make([]byte, 2<<20)
		m.windows = append(m.windows, bus.Window{Base: base, Mem: mem, Flags: make([]uint8, len(mem)/bus.LineSize), Writable: true, Executable: true})
	}
	cfg := Bare(0x10000000)
	// As on QEMU's machine: bit 28 of an address says Secure, and code memory may
	// be Non-secure callable.
	cfg.IDAU = func(addr uint32) Attribution {
		switch {
		case addr>>28 == 1:
			return AttrNSC
		case addr>>28&1 != 0:
			return AttrSecure
		}
		return AttrNonSecure
	}
	m.core = New(cfg, 0, m, nil)
	m.device = func(addr uint32, write bool, v uint32) (uint32, bool) { return 0, addr == 0x50080014 }
	m.core.Map(m.windows)
	m.core.Semihost = m.semihost
	return m
}

func (m *bare) load(tb testing.TB, file string) {
	tb.Helper()
	img, err := image.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range img.Segments {
		m.poke(s.Addr, s.Data)
	}
	m.core.Reset()
}

func (m *bare) poke(addr uint32, p []byte) {
	for _, w := range m.windows {
		if w.Contains(addr, uint32(len(p))) {
			copy(w.Mem[addr-w.Base:], p)
			m.core.InvalidateCode(addr, addr+uint32(len(p)))
			return
		}
	}
	panic("poke outside memory")
}

func (m *bare) mem(addr, n uint32) []byte {
	for _, w := range m.windows {
		if w.Contains(addr, n) {
			return w.Mem[addr-w.Base:][:n]
		}
	}
	return nil
}

func (m *bare) semihost() bool {
	c := m.core
	switch c.R[0] {
	case 3:
		m.out = append(m.out, m.mem(c.R[1], 1)[0])
	case 1:
		c.R[0] = 5
	case 2:
		c.R[0] = 0
	case 5:
		a := m.mem(c.R[1], 12)
		m.file = append(m.file, m.mem(le.Uint32(a[4:]), le.Uint32(a[8:]))...)
		c.R[0] = 0
	case 4:
		for a := c.R[1]; ; a++ {
			b := m.mem(a, 1)[0]
			if b == 0 {
				break
			}
			m.out = append(m.out, b)
		}
	case 0x18, 0x20:
		m.exited = true
		if c.R[0] == 0x20 {
			m.code = int(int32(le.Uint32(m.mem(c.R[1]+4, 4))))
		}
		c.Stop()
	default:
		return false
	}
	return true
}

func (m *bare) Ready(now uint64) bool { return m.ready == nil || m.ready(now) }

func (m *bare) Load(_ uint64, addr uint32, _ uint8, _ bus.Access) (uint32, uint32, bool) {
	if m.device != nil {
		v, ok := m.device(addr, false, 0)
		return v, 0, ok
	}
	return 0, 0, false
}

func (m *bare) Store(_ uint64, addr uint32, _ uint8, v uint32, _ bus.Access) (uint32, bool) {
	if m.device != nil {
		_, ok := m.device(addr, true, v)
		return 0, ok
	}
	return 0, false
}

func (m *bare) Fetch(uint32) (uint16, bool) { return 0, false }

func (m *bare) LoadExclusive(_ uint64, addr uint32, size uint8, _ bus.Access) (v, wait uint32, granted, ok bool) {
	p := m.mem(addr, uint32(size))
	if p == nil {
		return 0, 0, false, false
	}
	m.resv = addr &^ 15
	for i := range p {
		v |= uint32(p[i]) << (8 * i)
	}
	return v, 0, true, true
}

func (m *bare) StoreExclusive(_ uint64, addr uint32, size uint8, v uint32, _ bus.Access) (wait uint32, stored, ok bool) {
	p := m.mem(addr, uint32(size))
	if p == nil {
		return 0, false, false
	}
	if m.resv != addr&^15 {
		return 0, false, true
	}
	m.resv = 1
	for i := range p {
		p[i] = byte(v >> (8 * i))
	}
	return 0, true, true
}

func (m *bare) AMO(uint64, uint32, func(uint32) uint32, bus.Access) (uint32, uint32, bool) {
	return 0, 0, false
}

func (m *bare) SendEvent(uint64) { m.core.PostEvent() }

// run runs until the program exits, the core cannot go on, or limit.
func (m *bare) run(limit uint64) bus.Reason {
	for {
		r := m.core.Run(limit)
		if m.exited || r != bus.ReasonStopped {
			return r
		}
	}
}
