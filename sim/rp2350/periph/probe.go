package periph

// Probe hears of what PIO and DMA do, for whoever records it. Its functions are
// called at the time of what they tell, must not change the chip, and are all
// set.
type Probe struct {
	// PIO is called after a cycle in which a machine of a block worked.
	PIO func(block int, cycle uint64)
	// DMA is called when a channel starts or stops (transfer false), and for
	// each transfer with its addresses.
	DMA func(channel int, cycle uint64, transfer bool, from, to uint32)
}

// SetProbe installs a probe, or takes it away (nil).
func (s *Peripherals) SetProbe(p *Probe) {
	for _, b := range s.PIO {
		b.catchUp()
		b.probe = p
		b.plan()
	}
	if s.DMA != nil {
		s.DMA.catchUp()
		s.DMA.probe = p
		s.DMA.plan()
	}
}

// MachineState is a PIO state machine as a debugger sees it.
type MachineState struct {
	Enabled, Stalled bool
	PC               uint8
	X, Y, ISR, OSR   uint32
	TX, RX           int // words in the FIFOs
}

// Machine returns the state of machine n as it was left after the last cycle in
// which the block worked.
func (p *PIO) Machine(n int) MachineState {
	m := &p.sm[n&3]
	return MachineState{
		Enabled: m.enabled, Stalled: m.blocked, PC: m.pc, X: m.x, Y: m.y, ISR: m.isr, OSR: m.osr,
		TX: m.tx.len(), RX: m.rx.len(),
	}
}

// Flags are the block's eight IRQ flags.
func (p *PIO) Flags() uint8 { return p.flags }

// ChannelState is a DMA channel as a debugger sees it.
type ChannelState struct {
	Busy        bool
	Left        uint32
	Read, Write uint32
}

// Channel returns the state of channel n.
func (d *DMA) Channel(n int) ChannelState {
	c := &d.ch[n&(dmaChannels-1)]
	return ChannelState{Busy: c.busy, Left: c.left(), Read: c.read, Write: c.write}
}

// GPIOs is the number of pins of the package.
func (s *Peripherals) GPIOs() int {
	if n, first := s.ADC.Inputs(); first+n <= 30 {
		return 30
	}
	return 48
}

// Now are the levels at the pins without bringing anything up to date: what a
// watcher sees.
func (p *Pins) Now() uint64 { return p.level }

// Function is the number of the function that pin has selected, -1 if none.
func (p *Pins) Function(pin int) int {
	for f, sel := range p.selected {
		if sel>>pin&1 != 0 {
			return f
		}
	}
	return -1
}
