package rp2350

// Registers of the reboot function.
const (
	regWatchdogCtrl = 0x400d8000
	regWatchdogLoad = 0x400d8004
	regPSMWDSEL     = 0x40018008
	regSyscfgAuxSet = 0x4000a014 // AUXCTRL
	regTicksWDCtrl  = 0x40108030
	regTicksWDCyc   = 0x40108034
	regOTPArchSel   = 0x40120158

	watchdogEnable = 1 << 30
	rebootToArm    = 0x10
	rebootToRISCV  = 0x20
	rebootNoReturn = 0x100
)

// romReboot prepares a reboot by watchdog (pico-bootrom varm_apis.c): type in
// flags, delay in ms, two parameters in scratch 2 and 3.
func romReboot(c *Chip, r *romCall) {
	flags, delay, p0, p1 := r.arg(0), r.arg(1), r.arg(2), r.arg(3)
	if flags&(rebootToArm|rebootToRISCV) != 0 && !c.archAvailable(r, flags&rebootToRISCV != 0) {
		r.setWord(regWatchdogCtrl, 0)
		r.ret(romNotPermitted)
		return
	}
	c.reboot(r, flags&0xf, delay, p0, p1)
	r.ret(romOK)
	if flags&rebootNoReturn != 0 {
		r.gone = true
		r.n.die() // wfi for ever, until the watchdog
		c.shorten(0)
	}
}

// reboot lets the watchdog reset the chip after a delay in milliseconds and
// leaves what the boot path will look for.
func (c *Chip) reboot(r *romCall, typ, delay, p0, p1 uint32) {
	r.setWord(regWatchdogCtrl, 0)
	r.setWord(regPSMWDSEL, psmAll&^1)
	if typ != bootPCSP {
		r.setWord(regWatchdogScratch0+8, p0)
		r.setWord(regWatchdogScratch0+12, p1)
		p0, p1 = vectorMagic, typ
	}
	if typ == bootNormal {
		// The parameter is the partition whose diagnostics are wanted.
		w := c.boot.word(btBootWord)
		c.boot.setWord(btBootWord, w&^0xff|r.word(regWatchdogScratch0+8)&0xff)
		r.setWord(regWatchdogScratch0+16, 0)
	} else {
		magic := uint32(vectorMagic)
		r.setWord(regWatchdogScratch0+16, magic)
		r.setWord(regWatchdogScratch0+20, p0^-magic)
		r.setWord(regWatchdogScratch0+24, p1)
		r.setWord(regWatchdogScratch0+28, p0)
	}
	c.startWatchdog(r, delay*1000)
}

// startWatchdog lets the watchdog reset the chip in us microseconds.
func (c *Chip) startWatchdog(r *romCall, us uint32) {
	r.setWord(regWatchdogLoad, us)
	if r.word(regTicksWDCtrl)&1 == 0 {
		r.setWord(regTicksWDCyc, 12)
		r.setWord(regTicksWDCtrl, 1)
	}
	// Where a program has SYSCFG in reset the write is lost, which is no fault of
	// the program.
	if s, _ := c.find(regSyscfgAuxSet); !c.held(s) {
		r.setWord(regSyscfgAuxSet, 1)
	}
	r.setWord(regWatchdogCtrl, watchdogEnable)
}

// archAvailable selects the architecture after the reboot; ARCHSEL ignores what
// the chip cannot do.
func (c *Chip) archAvailable(r *romCall, riscv bool) bool {
	want := uint32(0)
	if riscv {
		want = 3
	}
	if o := c.bootOptions(); riscv && (o.OTP.RISCVDisabled || o.OTP.SecureBoot) || !riscv && o.OTP.ArmDisabled {
		return false
	}
	r.setWord(regOTPArchSel, want)
	return true
}
