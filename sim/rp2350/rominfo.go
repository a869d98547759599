package rp2350

import "github.com/stem-hw/stem-hw/image"

// Flags of get_sys_info (pico-sdk bootrom_constants.h, SYS_INFO_*).
const (
	sysChipInfo    = 0x01
	sysCritical    = 0x02
	sysCPU         = 0x04
	sysFlashDev    = 0x08
	sysBootRandom  = 0x10
	sysBootInfo    = 0x40
	regPackageSel  = 0x40000004
	regOTPCritical = 0x40120148
)

// romGetSysInfo fills a buffer with the items asked for, the flags that are
// supported first, and returns the number of words.
func romGetSysInfo(c *Chip, r *romCall) {
	buf, size := r.arg(0), r.arg(1)
	flags := r.arg(2)
	if buf&3 != 0 {
		r.ret(romBadAlignment)
		return
	}
	out := c.sysInfo(r, flags)
	for i, v := range out {
		if uint32(i) >= size {
			r.ret(romBufferTooSmall)
			return
		}
		r.setWord(buf+4*uint32(i), v)
	}
	r.ret(int32(len(out)))
}

// sysInfo are the items asked for, behind the flags of those that there are.
func (c *Chip) sysInfo(r *romCall, flags uint32) []uint32 {
	flags &= sysChipInfo | sysCritical | sysCPU | sysFlashDev | sysBootRandom | sysBootInfo
	out := []uint32{flags}
	boots := func(off uint32, n uint32) {
		for i := range n {
			out = append(out, c.boot.word(off+4*i))
		}
	}
	if flags&sysChipInfo != 0 {
		out = append(out, r.word(regPackageSel))
		boots(btChipID, 2)
	}
	if flags&sysCritical != 0 {
		out = append(out, r.word(regOTPCritical))
	}
	if flags&sysCPU != 0 {
		cpu := uint32(1)
		if c.opt.Arch == image.ArchARM {
			cpu = 0
		}
		out = append(out, cpu)
	}
	if flags&sysFlashDev != 0 {
		out = append(out, c.boot.word(btFlashDevInfo&^3)&0xffff)
	}
	if flags&sysBootRandom != 0 {
		boots(btRandom, 4)
	}
	if flags&sysBootInfo != 0 {
		boots(btBootWord, 2)
		boots(btRebootParams, 2)
	}
	return out
}
