package periph

// Security of the DMA controller (datasheet 12.6.6): each channel has a level,
// Secure or not and privileged or not, at which its transfers are made and below
// which its registers refuse access. Eight regions of memory may ask for a level
// of their own.

const (
	secP = 1 << 0
	secS = 1 << 1
	// secLock is LOCK of a channel's register.
	secLock = 1 << 2

	dmaSecMisc = 0x4d0
	dmaMPUCtrl = 0x500
	dmaMPUBar0 = 0x504
	mpuRegions = 8
	mpuLast    = 0x540
	mpuEN      = 1 << 0
	mpuP       = 1 << 1
	mpuS       = 1 << 2
)

// security is the level of channel n.
func (d *DMA) security(n int) uint32 { return d.get(dmaSecCfg + 4*uint32(n)) }

// levelOf is the level of an access. Levels are ordered: Secure and privileged,
// Secure, privileged, neither.
func levelOf(o Origin) uint32 {
	return bit(o.Privileged, 0) | bit(!o.NonSecure, 1)
}

const secSP = secP | secS

// Refuses implements Refuser: the registers of a channel, of an interrupt, of a
// timer and of the sniffer are closed to accesses below their level, the
// protection regions and writes of the security configuration to unprivileged
// ones. It comes before each access, whose level it keeps.
func (d *DMA) Refuses(offset uint32, write bool, o Origin) bool {
	d.lacks = secSP - levelOf(o)
	var want uint32
	switch {
	case offset < dmaINTR:
		want = d.security(int(offset / 0x40))
	case offset >= dmaINTR+4 && offset < dmaTimer0:
		want = d.lineLevel((offset - dmaINTR) / 16)
	case offset >= dmaTimer0 && offset < dmaMulti:
		want = d.timerLevel((offset - dmaTimer0) / 4)
	case offset == dmaSniffCtrl, offset == dmaSniffData:
		want = d.get(dmaSecMisc)
	case offset >= dmaSecCfg && offset <= dmaSecMisc:
		// Everybody may read which level is asked for.
		return write && !o.Privileged
	case offset >= dmaMPUCtrl && offset <= mpuLast:
		return !o.Privileged
	case offset >= dmaDebug:
		want = d.security(int(offset-dmaDebug) / 0x40 & (dmaChannels - 1))
	default:
		return false
	}
	return want&secSP > d.level()
}

// lineLevel and timerLevel are the levels of an interrupt line and of a pacing
// timer.
func (d *DMA) lineLevel(line uint32) uint32 { return d.get(dmaSecCfg+0x40+4*line) & secSP }

func (d *DMA) timerLevel(n uint32) uint32 { return d.get(dmaSecMisc) >> (2 + 2*n) & secSP }

// visible are the channels at or below a level.
func (d *DMA) visible(level uint32) uint32 {
	if level == secSP {
		return 1<<dmaChannels - 1
	}
	var v uint32
	for n := range d.ch {
		v |= bit(d.security(n)&secSP <= level, uint(n))
	}
	return v
}

// lock is what a write of a channel's registers does to its level: it stays.
func (d *DMA) lock(n int) {
	at := dmaSecCfg + 4*uint32(n)
	d.set(at, d.get(at)|secLock)
}

// writeSecurity writes the configuration of security. Non-secure software may
// give away what is Non-secure: the P bits where S is clear.
func (d *DMA) writeSecurity(offset uint32, w Write) {
	old := d.get(offset)
	if offset < dmaSecCfg+4*dmaChannels && old&secLock != 0 {
		return
	}
	mine, s := uint32(secP), uint32(secS) // the bits of P and S in the register
	region := offset >= dmaMPUBar0 && offset <= mpuLast && (offset-dmaMPUBar0)/4&1 != 0
	if region {
		mine, s = mpuP, mpuS
	}
	d.storage.Write(offset, w)
	switch {
	case d.level() == secSP:
	case (region || offset < dmaSecMisc) && old&s == 0:
		d.set(offset, old&^mine|d.get(offset)&mine)
	default:
		d.set(offset, old)
	}
}

// protects reports whether the regions keep a channel from an address.
func (d *DMA) protects(n int, addr uint32) bool {
	// Outside all regions the level is that of MPU_CTRL.
	want := d.get(dmaMPUCtrl)
	for i := range uint32(mpuRegions) {
		bar, lar := d.get(dmaMPUBar0+8*i), d.get(dmaMPUBar0+8*i+4)
		if lar&mpuEN != 0 && addr >= bar&^31 && addr <= lar|31 {
			want = lar
			break
		}
	}
	// P and S are bits 1 and 2 there, 0 and 1 of a channel's level.
	return want>>1&secSP > d.security(n)&secSP
}

// regionsChanged looks whether any region is in use, so that the usual case costs
// nothing.
func (d *DMA) regionsChanged() {
	d.guarded = d.get(dmaMPUCtrl)&(mpuP|mpuS) != 0
	for i := range uint32(mpuRegions) {
		d.guarded = d.guarded || d.get(dmaMPUBar0+8*i+4)&mpuEN != 0
	}
}

// origin is how channel n makes its transfers.
func (d *DMA) origin(n int) Origin {
	s := d.security(n)
	return Origin{Core: 2, Privileged: s&secP != 0, NonSecure: s&secS == 0}
}

// level is that of the access that is served.
func (d *DMA) level() uint32 { return secSP - d.lacks }
