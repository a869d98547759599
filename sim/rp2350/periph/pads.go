package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// PadBank is PADS_BANK0 or PADS_QSPI (datasheet 9.6, 9.11.3): isolation, pulls,
// input enable and output disable act on the pins; drive strength, slew rate,
// Schmitt trigger and the voltage are kept.
type PadBank struct {
	storage
	pins *Pins
	// pin is the pin of the register at 4*(i+1); -1 for SWCLK and SWD.
	pin []int
}

func newPadsBank0(env Env, pins *Pins) *PadBank {
	b := &PadBank{storage: newStorage("PADS_BANK0", env, regs.PADSBANK0), pins: pins}
	for i := range 48 {
		b.pin = append(b.pin, i)
	}
	b.pin = append(b.pin, -1, -1)
	return b
}

func newPadsQSPI(env Env, pins *Pins) *PadBank {
	return &PadBank{storage: newStorage("PADS_QSPI", env, regs.PADSQSPI), pins: pins,
		pin: []int{PinQSPISCK, PinQSPISD0, PinQSPISD0 + 1, PinQSPISD0 + 2, PinQSPISD0 + 3, PinQSPISS}}
}

// Reset isolates every pad, which then keeps what it drove.
func (b *PadBank) Reset() {
	b.storage.Reset()
	for i := range b.pin {
		b.apply(i)
	}
}

func (b *PadBank) apply(i int) {
	if b.pin[i] >= 0 {
		b.pins.configurePad(b.pin[i], b.get(4*uint32(i)+4))
	}
}

// Write writes a register.
func (b *PadBank) Write(offset uint32, w Write) {
	b.storage.Write(offset, w)
	if i := int(offset/4) - 1; i >= 0 && i < len(b.pin) {
		b.apply(i)
	}
}
