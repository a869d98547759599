package debugport

import "time"

// Acknowledges of SWD (IHI 0031, B4.2).
const (
	AckOK    uint8 = 1
	AckWait  uint8 = 2
	AckFault uint8 = 4
	AckNone  uint8 = 7 // nobody drives the line
)

// Identification (facts of silicon: rp2350.cfg of raspberrypi/openocd).
const (
	DPIDR    uint32 = 0x4c013477
	TARGETID uint32 = 0x00040927
	dlpidr   uint32 = 0x00000001 // SWD protocol 2, instance 0
	dpidr1   uint32 = 20         // 20 bits of access port address
	basePtr0 uint32 = 0x00000001 // ROM table at 0, valid
)

// Bits of CTRL/STAT.
const (
	orunDetect  uint32 = 1 << 0
	stickyOrun  uint32 = 1 << 1
	stickyCmp   uint32 = 1 << 4
	stickyErr   uint32 = 1 << 5
	readOK      uint32 = 1 << 6
	wdataErr    uint32 = 1 << 7
	cdbgRstReq  uint32 = 1 << 26
	cdbgRstAck  uint32 = 1 << 27
	cdbgPwrReq  uint32 = 1 << 28
	cdbgPwrAck  uint32 = 1 << 29
	csysPwrReq  uint32 = 1 << 30
	csysPwrAck  uint32 = 1 << 31
	stickyMask         = stickyOrun | stickyCmp | stickyErr | wdataErr
	ctrlWriting        = orunDetect | cdbgRstReq | cdbgPwrReq | csysPwrReq | 0xf0c
)

// Request is the part of a SWD request that says what is accessed: bit 0 APnDP,
// bit 1 RnW, bits 3:2 address bits 3:2, as in CMSIS-DAP.
type Request uint8

// AP reports whether an access port is meant, not the debug port.
func (r Request) AP() bool { return r&1 != 0 }

// Read reports whether it is a read.
func (r Request) Read() bool { return r&2 != 0 }

// Addr is bits 3:2 of the register's address.
func (r Request) Addr() uint32 { return uint32(r) & 0xc }

// DP is the debug port with its access ports.
type DP struct {
	// Trouble may be changed at any time between accesses.
	Trouble Trouble

	spent    time.Duration
	accesses uint64 // of access ports

	chip   Chip
	aps    *AccessPorts
	seen   uint32 // resets of the whole chip
	sel    uint32
	sel1   uint32
	ctrl   uint32
	sticky uint32
	dlcr   uint32
	rdbuff uint32
	resend uint32
	readOK bool
}

// NewDP returns the port of a chip as after power-up.
func NewDP(chip Chip) *DP {
	return &DP{chip: chip, aps: chip.AccessPorts(), seen: chip.Resets().Chip}
}

// spend counts time that passes on the wires; TakeSpent returns it once.
func (d *DP) spend(t time.Duration) { d.spent += t }

// TakeSpent returns the time that passed on the wires since the last call. The
// chip should run for that long.
func (d *DP) TakeSpent() time.Duration {
	t := d.spent
	d.spent = 0
	return t
}

// follow begins anew if the whole chip was reset since, and reports that.
func (d *DP) follow() bool {
	n := d.chip.Resets().Chip
	if n == d.seen {
		return false
	}
	*d = DP{Trouble: d.Trouble, spent: d.spent, accesses: d.accesses, chip: d.chip, aps: d.aps, seen: n}
	return true
}

// lineReset is what a line reset does to the registers.
func (d *DP) lineReset() {
	d.sel &^= 0xf // DPv3 clears DPBANKSEL (IHI 0074, B2.2.11)
	if d.ctrl&orunDetect != 0 {
		d.sticky |= stickyOrun
	}
}

// overrunDetect reports whether each packet has a data phase.
func (d *DP) overrunDetect() bool { return d.ctrl&orunDetect != 0 }

// turnaround is the number of clocks in which nobody drives.
func (d *DP) turnaround() int { return int(d.dlcr>>8&3) + 1 }

// Acknowledge decides on a request before its data phase. With overrun
// detection, WAIT and FAULT are an overrun: the host has sent its data already.
func (d *DP) Acknowledge(r Request) uint8 {
	ack := d.acknowledge(r)
	if ack != AckOK && d.overrunDetect() {
		d.sticky |= stickyOrun
	}
	return ack
}

func (d *DP) acknowledge(r Request) uint8 {
	// Reads of DPIDR and CTRL/STAT and writes of ABORT are never refused
	// (IHI 0031, B4.2.3).
	if !r.AP() && (r.Addr() == 0 || r.Read() && r.Addr() == 4) {
		return AckOK
	}
	if d.sticky&stickyMask == 0 {
		if d.Trouble.Wait && r.AP() {
			return AckWait
		}
		return AckOK
	}
	// SELECT stays writable, so that a host may look at banked registers.
	if r.AP() || r.Addr() == 0xc || !r.Read() && r.Addr() == 4 && d.sel&0xf == 0 {
		return AckFault
	}
	return AckOK
}

// Transact performs a request of which Acknowledge said OK; w is the data of a
// write, the result that of a read.
func (d *DP) Transact(r Request, w uint32) uint32 {
	if r.AP() {
		d.accesses++
	}
	switch {
	case r.AP() && r.Read():
		return d.apRead(r)
	case r.AP():
		d.apWrite(r, w)
	case r.Read():
		return d.read(r.Addr())
	default:
		d.write(r.Addr(), w)
	}
	return 0
}

func (d *DP) read(a uint32) uint32 {
	switch a {
	case 0:
		switch d.sel & 0xf {
		case 1:
			return dpidr1
		case 2:
			return basePtr0
		case 3:
			return 0
		}
		if d.Trouble.DPIDR != 0 {
			return d.Trouble.DPIDR
		}
		return DPIDR
	case 4:
		switch d.sel & 0xf {
		case 0:
			return d.ctrlStat()
		case 1:
			return d.dlcr
		case 2:
			return TARGETID
		case 3:
			return dlpidr
		case 5:
			return d.sel1
		}
		return 0
	case 8:
		return d.resend
	}
	d.resend = d.rdbuff
	return d.rdbuff
}

func (d *DP) write(a, w uint32) {
	switch a {
	case 0: // ABORT
		for i, sticky := range [...]uint32{stickyCmp, stickyErr, wdataErr, stickyOrun} {
			if w>>(i+1)&1 != 0 {
				d.sticky &^= sticky
			}
		}
	case 4:
		switch d.sel & 0xf {
		case 0:
			d.writeCtrl(w)
		case 1:
			d.dlcr = w & 0x300
		case 5:
			d.sel1 = w
		}
	case 8:
		d.sel = w
	}
}

// ctrlStat shows the requests with their acknowledges.
func (d *DP) ctrlStat() uint32 {
	v := d.ctrl&ctrlWriting | d.sticky
	if d.readOK {
		v |= readOK
	}
	if d.Trouble.NoPowerUp {
		return v
	}
	for _, p := range [][2]uint32{{cdbgPwrReq, cdbgPwrAck}, {csysPwrReq, csysPwrAck}, {cdbgRstReq, cdbgRstAck}} {
		if d.ctrl&p[0] != 0 {
			v |= p[1]
		}
	}
	return v
}

func (d *DP) writeCtrl(w uint32) {
	was := d.ctrl
	d.ctrl = w & ctrlWriting
	if was&cdbgRstReq == 0 && w&cdbgRstReq != 0 && !d.Trouble.NoPowerUp {
		d.chip.Reset(ResetCold)
	}
}

// powered reports whether access ports other than the RP-AP answer.
func (d *DP) powered() bool {
	return !d.Trouble.NoPowerUp && d.ctrl&cdbgPwrReq != 0
}

// apRead starts a read; its result comes with the next read or RDBUFF.
func (d *DP) apRead(r Request) uint32 {
	posted := d.rdbuff
	v, ok := d.aps.read(d.sel&^0xf|r.Addr(), d.powered(), d.Trouble)
	if !ok {
		d.sticky |= stickyErr
	}
	d.readOK = ok
	d.rdbuff, d.resend = v, posted
	return posted
}

func (d *DP) apWrite(r Request, w uint32) {
	if !d.aps.write(d.sel&^0xf|r.Addr(), w, d.powered(), d.Trouble) {
		d.sticky |= stickyErr
	}
}
