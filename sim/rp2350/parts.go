package rp2350

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// decoded lists every peripheral window of the chip (datasheet 2.2.4, 2.2.5)
// with its bit in RESETS and its register in ACCESSCTRL.
var decoded = []slot{
	{name: "SYSINFO", base: 0x40000000, resetBit: 21, access: 0x60},
	{name: "SYSCFG", base: 0x40008000, resetBit: 20, access: 0xbc},
	{name: "CLOCKS", base: 0x40010000, resetBit: -1, access: 0xc0},
	{name: "PSM", base: 0x40018000, resetBit: -1, access: 0xdc},
	{name: "RESETS", base: 0x40020000, resetBit: -1, access: 0x64},
	{name: "IO_BANK0", base: 0x40028000, resetBit: 6, access: 0x68},
	{name: "IO_QSPI", base: 0x40030000, resetBit: 7, access: 0x6c},
	{name: "PADS_BANK0", base: 0x40038000, resetBit: 9, access: 0x70},
	{name: "PADS_QSPI", base: 0x40040000, resetBit: 10, access: 0x74},
	{name: "XOSC", base: 0x40048000, resetBit: -1, access: 0xc4},
	{name: "PLL_SYS", base: 0x40050000, resetBit: 14, access: 0xcc},
	{name: "PLL_USB", base: 0x40058000, resetBit: 15, access: 0xd0},
	{name: "ACCESSCTRL", base: 0x40060000, resetBit: -1},
	{name: "BUSCTRL", base: 0x40068000, resetBit: 1, access: 0x78},
	{name: "UART0", base: 0x40070000, resetBit: 26, access: 0xa0, aliasWait: 2},
	{name: "UART1", base: 0x40078000, resetBit: 27, access: 0xa4, aliasWait: 2},
	{name: "SPI0", base: 0x40080000, resetBit: 18, access: 0x90, aliasWait: 2},
	{name: "SPI1", base: 0x40088000, resetBit: 19, access: 0x94, aliasWait: 2},
	{name: "I2C0", base: 0x40090000, resetBit: 4, access: 0x84, aliasWait: 2},
	{name: "I2C1", base: 0x40098000, resetBit: 5, access: 0x88, aliasWait: 2},
	{name: "ADC", base: 0x400a0000, resetBit: 0, access: 0x7c},
	{name: "PWM", base: 0x400a8000, resetBit: 16, access: 0x8c},
	{name: "TIMER0", base: 0x400b0000, resetBit: 23, access: 0x98},
	{name: "TIMER1", base: 0x400b8000, resetBit: 24, access: 0x9c},
	{name: "HSTX_CTRL", base: 0x400c0000, resetBit: 3, access: 0x80},
	{name: "XIP_CTRL", base: 0x400c8000, resetBit: -1, access: 0xe0},
	{name: "XIP_QMI", base: 0x400d0000, resetBit: -1, access: 0xe4},
	{name: "WATCHDOG", base: 0x400d8000, resetBit: -1, access: 0xd8},
	{name: "BOOTRAM", base: 0x400e0000, resetBit: -1, access: bootRAMAccess},
	{name: "ROSC", base: 0x400e8000, resetBit: -1, access: 0xc8},
	{name: "TRNG", base: 0x400f0000, resetBit: 25, access: 0xb4},
	{name: "SHA256", base: 0x400f8000, resetBit: 17, access: 0xb8},
	{name: "POWMAN", base: 0x40100000, resetBit: -1, access: 0xb0},
	{name: "TICKS", base: 0x40108000, resetBit: -1, access: 0xd4},
	{name: "OTP", base: 0x40120000, resetBit: -1, access: 0xa8},
	{name: "OTP_DATA", base: 0x40130000, resetBit: -1, flat: true},
	{name: "OTP_DATA (guarded)", base: 0x40138000, resetBit: -1, flat: true},
	{name: "CORESIGHT_PERIPH", base: coresightBase, resetBit: -1, access: 0x5c, window: true},
	{name: "CORESIGHT_PERIPH", base: coresightBase + 0x8000, resetBit: -1, access: 0x5c, window: true},
	{name: "DFT", base: 0x40150000, resetBit: -1},
	{name: "GLITCH_DETECTOR", base: 0x40158000, resetBit: -1},
	{name: "TBMAN", base: 0x40160000, resetBit: 22, access: 0xac},

	{name: "DMA", base: 0x50000000, resetBit: 2, access: 0x44},
	{name: "USB DPRAM", base: 0x50100000, resetBit: 28, access: 0x48, flat: true},
	{name: "USB", base: 0x50110000, resetBit: 28, access: 0x48},
	{name: "PIO0", base: 0x50200000, resetBit: 11, access: 0x4c},
	{name: "PIO1", base: 0x50300000, resetBit: 12, access: 0x50},
	{name: "PIO2", base: 0x50400000, resetBit: 13, access: 0x54},
	{name: "XIP_AUX", base: 0x50500000, resetBit: -1, access: 0xe8},
	{name: "HSTX_FIFO", base: 0x50600000, resetBit: 3, access: 0x80},
	{name: "CORESIGHT_TRACE", base: 0x50700000, resetBit: -1, access: 0x58},
}

// bootRAMAccess marks boot RAM, which takes secure privileged accesses alone
// whatever ACCESSCTRL says (datasheet 4.3).
const bootRAMAccess = -1

// APB accesses take at least three cycles to read and four to write, in all
// (datasheet 2.1.4).
const (
	apbReadWait  = 2
	apbWriteWait = 3
)

// buildParts makes the peripherals and puts them where they are decoded.
func (c *Chip) buildParts() {
	e := env{c}
	c.pins = periph.NewPins(e.Notice)
	if c.opt.Revision == hazard3.A2 {
		c.pins.SetLeaky(1<<48 - 1) // not those of QSPI and USB
	}
	c.parts = periph.NewAll(e, e, c.pins, periph.Config{
		Identity: c.identity(),
		RISCV:    c.opt.Arch != image.ArchARM,
		Seed:     c.opt.ChipID,
		Fuses:    c.otp,
		Output:   c.uartOutput,
		Memory:   e,
		NonSecurePins: func() uint64 {
			return uint64(c.access.reg[accNSMask0/4]) | uint64(c.access.reg[accNSMask1/4])<<32
		},
	})
	c.sio.pads = c.pins
	blocks := map[uint32]periph.Attachment{}
	for _, a := range c.parts.Attachments() {
		blocks[a.Base] = a
	}
	own := map[string]periph.Block{
		"ACCESSCTRL": c.access,
		"BOOTRAM":    c.boot,
		"XIP_CTRL":   c.xip,
		"XIP_QMI":    c.qmi,
		"XIP_AUX":    xipAux{c},
	}
	for i := range decoded {
		s := decoded[i]
		s.block = own[s.name]
		if a, ok := blocks[s.base]; ok {
			s.block, s.resetBit, s.flat = a.Block, a.ResetBit, a.Flat
		}
		s.refuser, _ = s.block.(periph.Refuser)
		s.gate = gates[s.name]
		s.holes, _ = s.block.(interface{ Has(offset uint32) bool })
		if s.base < ahbBase {
			s.readWait, s.writeWait = apbReadWait, apbWriteWait
			c.apb[(s.base-apbBase)>>15] = &s
		} else {
			c.ahb[(s.base-ahbBase)>>16] = &s
		}
		c.slots = append(c.slots, &s)
	}
	ticks := c.parts.Ticks
	follow := func() { c.sio.time.setTick(ticks.Rate(periph.TickRISCV)) }
	ticks.Tick(periph.TickRISCV).OnChange(follow)
	// The QSPI chip select has a pull-up on the board; the BOOTSEL button pulls
	// it down. SD1 low asks for USB, not UART, boot.
	c.pins.Drive(periph.PinQSPISS, periph.DriveWeakHigh)
	if c.opt.BootselPin {
		c.pins.Drive(periph.PinQSPISS, periph.DriveWeakLow)
	}
}

// chipRevision is the top digit of CHIP_ID: 2 on A2, 3 on A3, 8 on A4 (RP2350
// datasheet, appendix C).
func chipRevision(r hazard3.Revision) uint32 {
	if r == hazard3.A4 {
		return 8
	}
	return uint32(r)
}

// identity is what SYSINFO says; GITREF is that of A2 silicon.
func (c *Chip) identity() periph.Identity {
	return periph.Identity{
		ChipID: chipRevision(c.opt.Revision)<<28 | 0x0004927,
		QFN60:  c.opt.Package == QFN60,
		GitRef: 0x5a09d5a2,
	}
}

// uartOutput passes on what a UART sent off the chip.
func (c *Chip) uartOutput(uart int, b byte) {
	c.written++
	if c.hooks.Output != nil {
		c.hooks.Output(uartStreams[uart&1], b)
	}
}

var uartStreams = [2]string{"uart0", "uart1"}

// Pins is the pin matrix, for whoever plays the board.
func (c *Chip) Pins() *periph.Pins { return c.pins }

// Peripherals are the blocks behind the buses.
func (c *Chip) Peripherals() *periph.Peripherals { return c.parts }

// uart0RX is the pin that a probe's transmit line is wired to on a Pico 2.
const uart0RX = 1

// Break holds the line into UART0's receive pin low, or lets it go.
func (c *Chip) Break(on bool) {
	d := periph.DriveNone
	if on {
		d = periph.DriveLow
	}
	c.pins.Drive(uart0RX, d)
}

// ConsoleRate is UART0's rate in baud, 0 while it has none.
func (c *Chip) ConsoleRate() float64 { return c.parts.UART[0].Rate() }

// Input implements machine.Machine: bytes for UART0's receive pin.
func (c *Chip) Input(p []byte) int { return c.parts.UART[0].Input(p) }
