package rp2350

// gates are the bits of WAKE_EN0 (and of WAKE_EN1, from bit 32 on) that gate the
// bus clock of each block (datasheet 8.1.7). Blocks that are never gated, or
// whose gate would stop the simulation itself, are not in it.
var gates = map[string]uint64{
	"SHA256": 1 << 30, "ROSC": 1 << 28, "PWM": 1 << 25, "PLL_USB": 1 << 22, "PLL_SYS": 1 << 21,
	"PIO2": 1 << 20, "PIO1": 1 << 19, "PIO0": 1 << 18, "PADS_BANK0": 1 << 17, "PADS_QSPI": 1 << 17,
	"OTP": 1 << 16, "IO_BANK0": 1 << 13, "IO_QSPI": 1 << 13, "I2C1": 1 << 12, "I2C0": 1 << 11,
	"HSTX_CTRL": 1 << 10, "HSTX_FIFO": 1 << 10, "DMA": 1 << 7, "BUSCTRL": 1 << 5, "ADC": 1 << 3,
	"XOSC": 1 << 62, "WATCHDOG": 1 << 60, "USB": 1 << 58, "USB DPRAM": 1 << 58, "UART1": 1 << 57, "UART0": 1 << 55,
	"TRNG": 1 << 53, "TIMER1": 1 << 52, "TIMER0": 1 << 51, "TICKS": 1 << 50, "TBMAN": 1 << 48,
	"SYSINFO": 1 << 47, "SYSCFG": 1 << 46, "SPI1": 1 << 35, "SPI0": 1 << 33,
}

// gateWait is how long the fabric waits for a block whose clock stands still
// before it answers with an error (datasheet 2.1.4).
const gateWait = 65535

// gated reports whether a block's bus clock is off.
func (c *Chip) gated(s *slot) bool { return s.gate != 0 && c.parts.Clocks.Gates()&s.gate == 0 }
