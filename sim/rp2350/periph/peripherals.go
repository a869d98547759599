package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Config is what a chip and its board decide for the peripherals.
type Config struct {
	Identity Identity
	// RISCV says which architecture the cores start as.
	RISCV bool
	// Crystal is the frequency at XIN, 12 MHz if zero.
	Crystal timebase.Rate
	// Seed starts the sequences of TRNG and ROSC.RANDOMBIT.
	Seed uint64
	// Fuses are the OTP array, a blank one if nil.
	Fuses *otp.Array
	// Memory is what DMA reaches; without it there is no DMA.
	Memory MemoryBus
	// Output receives each byte that a UART sends off the chip.
	Output func(uart int, b byte)
	// NonSecurePins are the pins given to Non-secure code
	// (ACCESSCTRL.GPIO_NSMASK0 and 1, as a 64-bit word of Pins); none if nil.
	NonSecurePins func() uint64
}

// Attachment is a block and where it is in the address map.
type Attachment struct {
	Base  uint32
	Block Block
	// ResetBit is its bit in RESETS.RESET, -1 if it has none.
	ResetBit int
	// Flat says that the window has no alias pages; offsets then run over Size.
	Flat bool
	// Size is the number of bytes that the block decodes in a Flat window.
	Size uint32
}

// Peripherals is all peripherals of one chip.
type Peripherals struct {
	Resets    *Resets
	PSM       *PSM
	Clocks    *Clocks
	XOSC      *XOSC
	ROSC      *ROSC
	PLLSys    *PLL
	PLLUSB    *PLL
	Ticks     *TickGenerators
	Watchdog  *Watchdog
	Powman    *Powman
	Timer     [2]*Timer
	UART      [2]*UART
	IOBank0   *IOBank
	IOQSPI    *IOBank
	PadsBank0 *PadBank
	PadsQSPI  *PadBank
	TRNG      *TRNG
	OTP       *OTP
	SHA256    *SHA256
	PWM       *PWM
	DMA       *DMA
	PIO       [3]*PIO
	SPI       [2]*SPI
	ADC       *ADC
	USB       *USB
	HSTX      *HSTX
	I2C       [2]*I2C
	Pins      *Pins
	Requests  *Requests
	Bus       *BusCtrl

	sysCfg *sysCfg
	all    []Attachment
}

// NewAll makes all peripherals and connects them with each other. It calls
// neither env nor sys; PowerUp brings the blocks to life.
func NewAll(env Env, sys System, pins *Pins, cfg Config) *Peripherals {
	if cfg.Crystal.Stopped() {
		cfg.Crystal = timebase.Hertz(12_000_000)
	}
	if cfg.Fuses == nil {
		cfg.Fuses = new(otp.Array)
	}
	ns := cfg.NonSecurePins
	if ns == nil {
		ns = func() uint64 { return 0 }
	}
	s := &Peripherals{Pins: pins, Requests: new(Requests)}
	pins.clock = env.Now
	s.Clocks = newClocks(env, sys)
	s.Clocks.out.init(s.Clocks, pins)
	s.XOSC = newXOSC(env, s.Clocks, cfg.Crystal)
	s.ROSC = newROSC(env, s.Clocks, cfg.Seed)
	s.PLLSys = newPLL("PLL_SYS", env, s.Clocks, 42)
	s.PLLUSB = newPLL("PLL_USB", env, s.Clocks, 43)
	s.Clocks.attach(s.ROSC, s.XOSC, s.PLLSys, s.PLLUSB)
	s.Resets = newResets(env, sys)
	s.PSM = newPSM(env, sys)
	s.Ticks = newTicks(env, s.Clocks)
	s.Powman = newPowman(env, s.Clocks)
	s.Powman.initPower(sys, pins)
	s.Watchdog = newWatchdog(env, sys, s.Ticks.Tick(TickWatchdog), s.PSM, s.Powman)
	s.Timer[0] = newTimer("TIMER0", env, s.Ticks.Tick(TickTimer0), 0)
	s.Timer[1] = newTimer("TIMER1", env, s.Ticks.Tick(TickTimer1), 4)
	for i := range s.UART {
		s.UART[i] = newUART(i, env, s.Clocks.behind(s.Clocks.Peri, gateUART0<<(2*i)), pins, s.Requests, cfg.Output)
	}
	s.IOBank0, s.IOQSPI = newIOBank0(env, pins, ns), newIOQSPI(env, pins, ns)
	s.PadsBank0, s.PadsQSPI = newPadsBank0(env, pins), newPadsQSPI(env, pins)
	s.TRNG = newTRNG(env, cfg.Seed)
	s.OTP = newOTP(env, cfg.Fuses, cfg.RISCV)
	s.SHA256 = newSHA256(env, s.Requests)
	s.PWM = newPWM(env, pins, s.Requests)
	s.ADC = newADC(env, s.Clocks.behind(s.Clocks.ADC, gateADC), pins, s.Requests, cfg.Identity.QFN60)
	for i := range s.SPI {
		s.SPI[i] = newSPI(i, env, s.Clocks.behind(s.Clocks.Peri, gateSPI0<<(2*i)), pins, s.Requests)
	}
	for i := range s.I2C {
		s.I2C[i] = newI2C(i, env, pins, s.Requests)
	}
	for i := range s.PIO {
		s.PIO[i] = newPIO(i, env, pins, s.Requests)
	}
	for i := range s.PIO {
		s.PIO[i].other = s.PIO
	}
	s.USB = newUSB(env, sys)
	s.HSTX = newHSTX(env, s.Clocks.behind(s.Clocks.HSTX, gateHSTX), pins, s.Requests)
	s.sysCfg = newSysCfg(env)

	at := func(base uint32, bit int, b Block) {
		s.all = append(s.all, Attachment{Base: base, Block: b, ResetBit: bit})
	}
	flat := func(base, size uint32, bit int, b Block) {
		s.all = append(s.all, Attachment{Base: base, Block: b, ResetBit: bit, Flat: true, Size: size})
	}
	store := func(base uint32, bit int, name string, t regs.Table, effect string) {
		at(base, bit, NewStorage(name, env, t, effect))
	}
	// Constant, and readable in reset: the boot ROM reads it without taking it out
	// (pico-bootrom src/nsboot/usb_virtual_disk.c).
	at(0x40000000, -1, newSysInfo(env, cfg.Identity))
	at(0x40008000, ResetSYSCFG, s.sysCfg)
	at(0x40010000, -1, s.Clocks)
	at(0x40018000, -1, s.PSM)
	at(0x40020000, -1, s.Resets)
	at(0x40028000, ResetIOBank0, s.IOBank0)
	at(0x40030000, ResetIOQSPI, s.IOQSPI)
	at(0x40038000, ResetPadsBank0, s.PadsBank0)
	at(0x40040000, ResetPadsQSPI, s.PadsQSPI)
	at(0x40048000, -1, s.XOSC)
	at(0x40050000, ResetPLLSys, s.PLLSys)
	at(0x40058000, ResetPLLUSB, s.PLLUSB)
	s.Bus = newBusCtrl(env, sys)
	at(0x40068000, ResetBUSCTRL, s.Bus)
	at(0x40070000, ResetUART0, s.UART[0])
	at(0x40078000, ResetUART1, s.UART[1])
	at(0x40080000, ResetSPI0, s.SPI[0])
	at(0x40088000, ResetSPI1, s.SPI[1])
	at(0x40090000, ResetI2C0, s.I2C[0])
	at(0x40098000, ResetI2C1, s.I2C[1])
	at(0x400a0000, ResetADC, s.ADC)
	at(0x400a8000, ResetPWM, s.PWM)
	at(0x400b0000, ResetTIMER0, s.Timer[0])
	at(0x400b8000, ResetTIMER1, s.Timer[1])
	at(0x400c0000, ResetHSTX, s.HSTX)
	at(0x400d8000, -1, s.Watchdog)
	at(0x400e8000, -1, s.ROSC)
	at(0x400f0000, ResetTRNG, s.TRNG)
	at(0x400f8000, ResetSHA256, s.SHA256)
	at(0x40100000, -1, s.Powman)
	at(0x40108000, -1, s.Ticks)
	at(0x40120000, -1, s.OTP)
	flat(0x40130000, 0x8000, -1, &OTPData{o: s.OTP})
	flat(0x40138000, 0x8000, -1, &OTPData{o: s.OTP, guarded: true})
	at(0x40158000, -1, newGlitchDetector(env))
	store(0x40160000, ResetTBMAN, "TBMAN", regs.TBMAN, "")
	if cfg.Memory != nil {
		s.DMA = newDMA(env, cfg.Memory, s.Requests)
		at(0x50000000, ResetDMA, s.DMA)
	} else {
		store(0x50000000, ResetDMA, "DMA", regs.DMA, "nothing is transferred")
	}
	s.gateAll()
	flat(0x50100000, 0x1000, ResetUSBCTRL, usbRAM{s.USB})
	at(0x50110000, ResetUSBCTRL, s.USB)
	at(0x50200000, ResetPIO0, s.PIO[0])
	at(0x50300000, ResetPIO1, s.PIO[1])
	at(0x50400000, ResetPIO2, s.PIO[2])
	at(0x50600000, ResetHSTX, newHSTXPort(env, s.HSTX))
	store(0x50700000, -1, "CORESIGHT_TRACE", regs.CORESIGHTTRACE, "nothing is traced")
	return s
}

// Attachments are all blocks with their addresses.
func (s *Peripherals) Attachments() []Attachment { return s.all }

// PowerUp is a power-on reset: every block begins anew, at cycle Env.Now, which
// may have gone back.
func (s *Peripherals) PowerUp() {
	s.Clocks.powerUp()
	s.Ticks.powerUp()
	s.TRNG.restart()
	s.ROSC.Reset()
	s.XOSC.Reset()
	s.Powman.Reset()
	s.OTP.ForgetDebugKey() // the RP-AP is reset, too
	s.Watchdog.Reset()
	s.resetRest(psmAll)
	s.Pins.powerUp()
}

// Reset puts back what a watchdog or chip-level reset takes: psm are the stages
// of the power-on state machine, those behind the first one selected included.
// POWMAN and the scratch registers of a watchdog reset stay.
func (s *Peripherals) Reset(cause ResetCause, psm uint32) {
	if cause == ResetChip {
		psm = psmAll
		s.Watchdog.Reset()
	} else {
		s.Watchdog.restart(cause)
	}
	if psm == 0 {
		s.Resets.watchdog()
		return
	}
	psm = psmAll &^ (psm&-psm - 1)
	if psm&PSMClocks != 0 {
		s.Clocks.Reset() // all at once: no clock runs from what stops below
	}
	if psm&PSMROSC != 0 {
		s.ROSC.Reset()
	}
	if psm&PSMXOSC != 0 {
		s.XOSC.Reset()
	}
	s.resetRest(psm)
	if psm&PSMResets == 0 {
		s.Resets.watchdog()
	}
}

// resetRest resets the stages behind the oscillators.
func (s *Peripherals) resetRest(psm uint32) {
	if psm&PSMOTP != 0 {
		s.OTP.Reset()
	}
	if psm&PSMClocks != 0 {
		s.Clocks.Reset()
		s.Ticks.Reset()
	}
	if psm&PSMResets != 0 {
		for _, a := range s.all {
			if a.ResetBit >= 0 {
				a.Block.Reset()
			}
		}
		s.Resets.Reset()
	}
	if psm&PSMReady != 0 {
		s.PSM.Reset()
	}
}

// DebugHalt tells that a core entered or left Debug state: timers and the
// watchdog pause if they are told to.
func (s *Peripherals) DebugHalt(core int, halted bool) {
	core &= 1
	s.sysCfg.halted[core] = halted
	s.Watchdog.debugHalt(core, halted)
	s.Timer[0].debugHalt(core, halted)
	s.Timer[1].debugHalt(core, halted)
}
