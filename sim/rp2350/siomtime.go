package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// mtime is the RISC-V platform timer: one counter for both cores, a comparator
// for each, at the rate of TICKS.RISCV or of clk_sys (datasheet 3.1.8).
type mtime struct {
	s     *sio
	ctrl  uint32
	count timebase.Counter
	// tick is the rate of TICKS.RISCV.
	tick timebase.Rate
	cmp  [2]uint64
	ev   [2]periph.Event
}

const (
	mtimeEN        = 1 << 0
	mtimeFullSpeed = 1 << 1
	mtimeDBGPause  = 1 << 2
	mtimeCtrlReset = 0x0d
)

func (m *mtime) init(s *sio) {
	m.s = s
	for i := range m.ev {
		m.ev[i].Fire = func(uint64) { m.refresh(i) }
	}
}

func (m *mtime) reset() {
	m.ctrl = mtimeCtrlReset
	m.count = timebase.Counter{}
	m.cmp = [2]uint64{^uint64(0), ^uint64(0)}
	m.rebase()
}

// setTick is told the rate of TICKS.RISCV whenever it changes.
func (m *mtime) setTick(r timebase.Rate) {
	m.tick = r
	m.rebase()
}

// rebase recomputes the rate and everything that depends on it.
func (m *mtime) rebase() {
	c := m.s.c
	switch {
	case m.ctrl&mtimeEN == 0, m.paused():
		m.count.SetRate(c.now, 0, 1)
	case m.ctrl&mtimeFullSpeed != 0:
		m.count.SetRate(c.now, 1, 1)
	default:
		num, den := m.tick.Over(c.line.Rate())
		m.count.SetRate(c.now, num, den)
	}
	m.refresh(0)
	m.refresh(1)
}

// paused reports whether a core in Debug state stops the timer
// (MTIME_CTRL.DBGPAUSE_COREn).
func (m *mtime) paused() bool {
	for i, n := range m.s.c.nodes {
		if n.halted && m.ctrl&(mtimeDBGPause<<i) != 0 {
			return true
		}
	}
	return false
}

// refresh sets the level of MTIP and IRQ 29 of a core and schedules its next
// change. The comparison is a level: mtime >= mtimecmp.
func (m *mtime) refresh(core int) {
	c := m.s.c
	due := m.count.At(c.now) >= m.cmp[core]
	n := c.nodes[core]
	n.cpu.SetTimer(due)
	env{c}.SetCoreIRQ(core, irqMTimeCmp, due)
	n.wake(c, c.now)
	if due {
		c.q.cancel(&m.ev[core])
		return
	}
	env{c}.Schedule(&m.ev[core], m.count.CycleOf(m.cmp[core]))
}

func (m *mtime) read(core int, off uint32) uint32 {
	switch off {
	case sioMTimeCtrl:
		return m.ctrl
	case sioMTime:
		return uint32(m.count.At(m.s.c.now))
	case sioMTimeH:
		return uint32(m.count.At(m.s.c.now) >> 32)
	case sioMTimeCmp:
		return uint32(m.cmp[core])
	case sioMTimeCmpH:
		return uint32(m.cmp[core] >> 32)
	}
	return 0
}

func (m *mtime) write(core int, off, v uint32) {
	now := m.s.c.now
	switch off {
	case sioMTimeCtrl:
		m.ctrl = v & 15
		m.rebase()
		return
	case sioMTime:
		m.count.Set(now, withLow(m.count.At(now), v))
	case sioMTimeH:
		m.count.Set(now, withHigh(m.count.At(now), v))
	case sioMTimeCmp:
		m.cmp[core] = withLow(m.cmp[core], v)
	case sioMTimeCmpH:
		m.cmp[core] = withHigh(m.cmp[core], v)
	default:
		return
	}
	m.refresh(0)
	m.refresh(1)
}

func withLow(old uint64, v uint32) uint64  { return old&^0xffffffff | uint64(v) }
func withHigh(old uint64, v uint32) uint64 { return old&0xffffffff | uint64(v)<<32 }
