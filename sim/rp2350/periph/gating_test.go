package periph

import "testing"

// closeGates and openGates write WAKE_EN.
func closeGates(s *Peripherals, mask uint64) {
	putOp(s.Clocks, clkWakeEn0, uint32(mask), Clear)
	putOp(s.Clocks, clkWakeEn1, uint32(mask>>32), Clear)
}

func openGates(s *Peripherals, mask uint64) {
	putOp(s.Clocks, clkWakeEn0, uint32(mask), Set)
	putOp(s.Clocks, clkWakeEn1, uint32(mask>>32), Set)
}

// TestGatedBlocksStandStill: a block whose clock is gated does nothing, and goes
// on behind it as if the time had not passed.
func TestGatedBlocksStandStill(t *testing.T) {
	for _, tt := range []struct {
		name string
		mask uint64
		// begin starts something and returns how far it is.
		begin func(f *fakeChip, s *Peripherals) func() uint32
		half  uint64 // cycles until it is halfway
	}{
		{"PWM", gatePWM, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.PWM, pwmTOP, 999)
			put(s.PWM, pwmCSR, csrEN)
			return func() uint32 { return read(s.PWM, pwmCTR) }
		}, 300},
		{"PWM on a pin", gatePWM, func(f *fakeChip, s *Peripherals) func() uint32 {
			selectFunc(s, 0, FuncPWM)
			at := edges(f, s.Pins, 0)
			put(s.PWM, pwmTOP, 9)
			put(s.PWM, pwmCC, 5)
			put(s.PWM, pwmCSR, csrEN)
			return func() uint32 { return uint32(len(*at)) }
		}, 57},
		{"PIO", gatePIO0 << 1, func(f *fakeChip, s *Peripherals) func() uint32 {
			p := s.PIO[1]
			load(p, pDelay(pJMP(2, 0), 7)) // x-- every 8 ticks
			exec(p, 0, pMOV(1, 1, 3))
			put(p, smReg(0, smExecCtrl), wrap(0, 0))
			put(p, smReg(0, smClkDiv), 3<<16|0x80<<8)
			start(p, 1)
			return func() uint32 {
				p.catchUp()
				return ^p.sm[0].x
			}
		}, 300},
		{"DMA", gateDMA, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.DMA, 0, 0x20000000)
			put(s.DMA, 4, 0x20001000)
			put(s.DMA, 8, 1000)
			put(s.DMA, 12, dmaEN|2<<2|dmaIncR|dmaIncW|treqForce<<17)
			return func() uint32 { return read(s.DMA, 8) }
		}, 300},
		{"DMA paced", gateDMA, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.DMA, dmaTimer0, 1<<16|10)
			put(s.DMA, 8, 1000)
			put(s.DMA, 0, 0x20000000)
			put(s.DMA, 4, 0x20001000)
			put(s.DMA, 12, dmaEN|2<<2|treqTimer0<<17)
			return func() uint32 { return read(s.DMA, 8) }
		}, 305},
		{"I2C", gateI2C0, func(f *fakeChip, s *Peripherals) func() uint32 {
			c := i2cSetup(s, 0, 4, i2cMasterCon)
			scl := edges(f, s.Pins, 5)
			put(c, icTAR, 0x42)
			put(c, icEnable, 1)
			put(c, icData, cmdStop|cmdRead)
			return func() uint32 { return uint32(len(*scl)) }
		}, 9000},
		{"SPI", gateSPI0 << 2, func(f *fakeChip, s *Peripherals) func() uint32 {
			u := spiSetup(f, s, 1, 7, cr1LBM)
			for v := range uint32(8) {
				put(u, spiDR, v)
			}
			return func() uint32 { return uint32(u.rx.len()) }
		}, 6500},
		{"SPI by clk_peri alone", 1 << 32, func(f *fakeChip, s *Peripherals) func() uint32 {
			sck := edges(f, s.Pins, 2)
			u := spiSetup(f, s, 0, 7, 0)
			*sck = nil
			put(u, spiDR, 0x55)
			return func() uint32 { return uint32(len(*sck)) }
		}, 610},
		{"UART", gateUART0, func(f *fakeChip, s *Peripherals) func() uint32 {
			u := s.UART[0]
			put(u, uartIBRD, 1)
			put(u, uartLCRH, 0x70)
			put(u, uartCR, 0x301|1<<7) // loopback
			for v := range uint32(16) {
				put(u, uartDR, v)
			}
			return func() uint32 { return read(u, uartFR)<<8 | uint32(u.rx.fifo.len()) }
		}, 1000},
		{"ADC", gateADC, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.ADC, adcFCS, fcsEN)
			put(s.ADC, adcCS, adcEN|adcMany)
			return func() uint32 { return uint32(s.ADC.fifo.len()) }
		}, 1000},
		{"SHA-256", gateSHA256, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.SHA256, shaCSR, shaStart)
			for range 16 {
				put(s.SHA256, shaWData, 0)
			}
			return func() uint32 { return read(s.SHA256, shaCSR) }
		}, 40},
		{"TRNG", gateTRNG, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.TRNG, trngSample, 0)
			put(s.TRNG, trngDebug, 0xe)
			put(s.TRNG, trngEnable, 1)
			return func() uint32 { return read(s.TRNG, trngBusy) }
		}, 150},
		{"TIMER1", gateTimer0 << 1, func(f *fakeChip, s *Peripherals) func() uint32 {
			return func() uint32 { return read(s.Timer[1], timeRawL) }
		}, 15000},
		{"ticks", gateTicks, func(f *fakeChip, s *Peripherals) func() uint32 {
			return func() uint32 { return read(s.Timer[0], timeRawL) }
		}, 15000},
		{"WATCHDOG", gateWatchdog, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.Watchdog, wdLoad, 10000)
			put(s.Watchdog, wdCtrl, wdEnable)
			return func() uint32 { return read(s.Watchdog, wdCtrl) & wdTime }
		}, 15000},
		{"HSTX", gateHSTX, func(f *fakeChip, s *Peripherals) func() uint32 {
			put(s.Clocks, clkHSTXCtrl, genEnable)
			put(s.HSTX, hstxCSR, hstxEN|31<<16|1<<8)
			for range 8 {
				s.HSTX.fifo.push(1)
			}
			s.HSTX.kick()
			return func() uint32 { return uint32(s.HSTX.fifo.len()) }
		}, 70},
	} {
		t.Run(tt.name, func(t *testing.T) {
			go2 := func(pause uint64) (states [3]uint32) {
				f, s := newFake(t)
				sdkClocks(t, f, s)
				far := tt.begin(f, s)
				states[0] = far()
				f.run(tt.half)
				states[1] = far()
				if pause != 0 {
					closeGates(s, tt.mask)
					f.run(pause)
					if now := far(); now != states[1] {
						t.Errorf("gated for %d cycles it goes from %#x to %#x", pause, states[1], now)
					}
					openGates(s, tt.mask)
				}
				f.run(tt.half)
				states[2] = far()
				return states
			}
			want := go2(0)
			if want[0] == want[2] {
				t.Fatalf("nothing happens: %#x", want)
			}
			// Whole periods of every clock, so that phases are equal.
			for _, pause := range []uint64{150 * 1000, 75 * 100_000} {
				if got := go2(pause); got != want {
					t.Errorf("with a gate closed for %d cycles: %#x, want %#x", pause, got, want)
				}
			}
		})
	}
}

// TestGatedPinsAreSeenLater: an edge of a pin while IO's clock is gated is latched
// once it runs again.
func TestGatedPinsAreSeenLater(t *testing.T) {
	_, s := newFake(t)
	selectFunc(s, 3, FuncSIO)
	put(s.IOBank0, 0x230, 8<<12)
	closeGates(s, gateIO)
	s.Pins.Drive(3, DriveHigh)
	if s.IOBank0.edgeHigh != 0 {
		t.Error("an edge is latched without a clock")
	}
	openGates(s, gateIO)
	if s.IOBank0.edgeHigh != 1<<3 {
		t.Errorf("edges behind it: %#x", s.IOBank0.edgeHigh)
	}
}

// TestSleepGates: SLEEP_EN counts while the chip sleeps.
func TestSleepGates(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.PWM, pwmTOP, 0xffff)
	put(s.PWM, pwmCSR, csrEN)
	if s.Clocks.SleepMatters() {
		t.Error("the reset values differ")
	}
	putOp(s.Clocks, clkSleepEn0, gatePWM, Clear)
	f.run(100)
	before := read(s.PWM, pwmCTR)
	if !s.Clocks.SleepMatters() || before == 0 {
		t.Errorf("awake: PWM at %d", before)
	}
	s.Clocks.Sleep(true)
	f.run(1000)
	if got := read(s.PWM, pwmCTR); got != before {
		t.Errorf("asleep: PWM goes from %d to %d", before, got)
	}
	if v := read(s.Clocks, clkEnabled0); v&gatePWM != 0 {
		t.Errorf("ENABLED0 = %#x", v)
	}
	s.Clocks.Sleep(false)
	f.run(10)
	if got := read(s.PWM, pwmCTR); got != before+10 {
		t.Errorf("awake again: PWM at %d, want %d", got, before+10)
	}
}
