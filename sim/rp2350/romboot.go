package rp2350

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// Boot RAM as the ROM uses it (pico-bootrom bootram.h, A2).
const (
	btXIPSetup       = 0x000 // 256 bytes of code
	btRandom         = 0x328 // four words
	btDowngradeAddr  = 0x338 // sector of a newer version, to erase
	btFlashDevInfo   = 0x33c // halfword
	btRebootParams   = 0x340 // two words
	btTBYBAddr       = 0x348
	btCallback       = 0x354
	btBootWord       = 0x358 // diagnostic partition, type, partition, tbyb
	btDiagnostics    = 0x35c
	btPartitionTable = 0x360
	btNSPermissions  = 0x3f0
	btChipID         = 0x3f8

	devInfoDefault = 0x0c00 // chip select 0 is 16 MiB

	// xipSetup is the stub at btXIPSetup: `ret`, or `bx lr`. XIP works after any
	// ROM function here, so there is nothing to set up.
	xipSetup    = 0x8082
	xipSetupArm = 0x4770
)

// Reboot types (pico-sdk bootrom_constants.h).
const (
	bootNormal      = 0
	bootBootsel     = 2
	bootRAMImage    = 3
	bootFlashUpdate = 4
	bootPCSP        = 0xd
	bootChained     = 0x80

	vectorMagic = 0xb007c0d3
)

// Registers that the boot path touches.
const (
	regPowmanChipReset  = 0x4010002c
	rescueFlag          = 1 << 4
	powmanPassword      = 0x5afe0000
	regWatchdogReason   = 0x400d8008
	regWatchdogScratch0 = 0x400d800c
	regPowmanBoot0      = 0x401000d0
	regResetsClear      = 0x40023000
	regPadsQSPIClear    = 0x40043000
	bootUnreset         = 1<<6 | 1<<7 | 1<<9 | 1<<10 | 1<<23 | 1<<28
)

// romReset is a core at the ROM's entry: core 0 boots, core 1 waits.
func (c *Chip) romReset(n *node) {
	n.cpu.EnterROM()
	if n.id != 0 {
		c.romPark(n)
		return
	}
	call := &romCall{c: c, n: n, name: "boot"}
	c.bootCore0(call)
}

// bootCore0 is the boot path of core 0 (datasheet 5.2; pico-bootrom
// varm_boot_path.c).
func (c *Chip) bootCore0(r *romCall) {
	if r.word(regPowmanChipReset)&rescueFlag != 0 {
		// A debugger rescued the chip: nothing is looked at, core 0 waits for it.
		r.setWord(regPowmanChipReset, powmanPassword|rescueFlag)
		r.n.die()
		c.shorten(0)
		return
	}
	c.boot.free |= 1 << bootLockEnable
	reason := r.word(regWatchdogReason)
	if reason == 0 {
		c.initBootRAM()
	}
	c.newRandom()
	c.boot.setWord(btRebootParams, 0)
	c.boot.setWord(btRebootParams+4, 0)

	typ, p0, p1 := c.bootRequest(r)
	if typ == bootPCSP {
		c.setBootWord(bootPCSP, -1)
		c.prepareBoot(r)
		r.n.cpu.Enter(p0, p1, 0)
		return
	}
	c.boot.setWord(btRebootParams, p0)
	c.boot.setWord(btRebootParams+4, p1)
	c.prepareBoot(r)
	switch {
	case reason == 0 && typ == bootNormal && c.ramImage != nil && c.ramImage.start:
		c.setBootWord(bootRAMImage, int8(boot.PlaceWindow))
		c.table = boot.ResidentTable(bootMemory{c}, c.bootOptions())
		c.writeTable()
		r.n.cpu.Enter(c.ramImage.entry, c.ramImage.sp, c.ramImage.vector)
	case typ == bootRAMImage:
		c.bootRAM(r, p0, p1)
	case typ == bootBootsel, c.opt.BootselPin:
		c.enterBootsel(r, bootselRequested, "")
	default:
		c.bootFlash(r, typ, p0)
	}
}

// bootRequest reads the vectors that a reboot left: POWMAN's, then the
// watchdog's.
func (c *Chip) bootRequest(r *romCall) (typ int, p0, p1 uint32) {
	for _, base := range [2]uint32{regPowmanBoot0, regWatchdogScratch0 + 16} {
		magic, check, sp, pc := r.word(base), r.word(base+4), r.word(base+8), r.word(base+12)
		if magic != vectorMagic || check != pc^(^magic+1) {
			continue
		}
		r.setWord(base, 0)
		if pc != vectorMagic {
			return bootPCSP, pc, sp
		}
		return int(sp & 0xf), r.word(regWatchdogScratch0 + 8), r.word(regWatchdogScratch0 + 12)
	}
	return bootNormal, 0, 0
}

// initBootRAM is what a cold boot leaves in the persistent part.
func (c *Chip) initBootRAM() {
	clear(c.boot.mem[btRandom:])
	c.boot.setWord(btFlashDevInfo&^3, devInfoDefault)
	if v := c.otpFlags0(); v&(1<<5) != 0 {
		d, _ := c.otp.Data(otp.RowFlashDev)
		c.boot.setWord(btFlashDevInfo&^3, uint32(d))
	}
	c.boot.setWord(btChipID, uint32(c.opt.ChipID))
	c.boot.setWord(btChipID+4, uint32(c.opt.ChipID>>32))
	c.setBootWord(bootNormal, -1)
}

// newRandom fills the boot random number. It is a function of the chip and of
// how often it has booted, so that runs repeat.
func (c *Chip) newRandom() {
	c.boots++
	x := c.opt.ChipID ^ c.boots*0x9e3779b97f4a7c15
	for i := range uint32(4) {
		x ^= x >> 30
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		x ^= x >> 31
		c.boot.setWord(btRandom+4*i, uint32(x))
	}
}

// setBootWord records type and partition of this boot.
func (c *Chip) setBootWord(typ int, partition int8) {
	old := c.boot.word(btBootWord)
	c.boot.setWord(btBootWord, old&0xff|uint32(typ)<<8|uint32(uint8(partition))<<16)
}

// prepareBoot is what the ROM leaves of the chip for the image: some blocks out
// of reset, the flash connected, the XIP stub in boot RAM.
func (c *Chip) prepareBoot(r *romCall) {
	r.setWord(regResetsClear, bootUnreset)
	for pad := uint32(4); pad <= 0x18; pad += 4 {
		r.setWord(regPadsQSPIClear+pad, 1<<8)
	}
	c.qmi.resetATRANS()
	clear(c.boot.mem[:btRandom])
	c.boot.setWord(btXIPSetup, xipSetup)
	if c.opt.Arch == image.ArchARM {
		c.boot.setWord(btXIPSetup, xipSetupArm)
	}
}

// bootselReason is why the ROM ends in BOOTSEL mode.
type bootselReason uint8

const (
	bootselRequested bootselReason = iota
	bootselNoImage
)

// enterBootsel is where USB and UART boot begin. Without a USB face the chip
// has nothing to do there but say so.
func (c *Chip) enterBootsel(r *romCall, why bootselReason, text string) {
	c.setBootWord(bootBootsel, -1)
	r.n.die()
	if c.opt.Bootsel != nil {
		c.openBootsel()
		c.opt.Bootsel(c)
		c.shorten(0)
		return
	}
	cause := "the program asked for BOOTSEL mode (USB boot)"
	if why == bootselNoImage {
		cause = "no bootable image: " + text
	}
	c.report(machine.Event{Kind: machine.EventCrash, Core: r.n.id, Cause: cause, How: "bootsel"})
}
