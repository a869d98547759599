package debugport

// Errors of abstract commands (0.13.2, 3.12.6). Busy never happens: a command
// is over before the next access arrives.
const (
	cmdErrUnsupported = 2
	cmdErrException   = 3
	cmdErrHaltResume  = 4
)

// Fields of command (0.13.2, 3.12.7, table 3.2).
const (
	acWrite    uint32 = 1 << 16
	acTransfer uint32 = 1 << 17
	acPostExec uint32 = 1 << 18
	acPostInc  uint32 = 1 << 19
	acSize     uint32 = 7 << 20
	acType     uint32 = 0xff << 24
	// regGPR is the number of x0.
	regGPR uint32 = 0x1000
)

// supported reports whether the module knows a command: 32-bit accesses of
// general registers. Size and number do not matter without a transfer.
func supported(cmd uint32) bool {
	if cmd&(acType|acPostInc) != 0 {
		return false
	}
	return cmd&acTransfer == 0 || cmd&acSize == 2<<20 && cmd&0xffe0 == regGPR
}

// again repeats the last command for abstractauto.
func (d *DM) again(yes bool) {
	if yes && d.cmderr == 0 {
		d.command(d.last)
	}
}

// command executes an abstract command: Access Register on general registers,
// and the program buffer behind it.
func (d *DM) command(cmd uint32) {
	h := d.hart(d.hartsel)
	if h == nil || !h.Halted() {
		d.cmderr = cmdErrHaltResume
		return
	}
	if !supported(cmd) {
		d.cmderr = cmdErrUnsupported
		return
	}
	if cmd&acTransfer != 0 {
		n := int(cmd & 31)
		if cmd&acWrite != 0 {
			h.SetGPR(n, d.data0)
		} else {
			d.data0 = h.GPR(n)
		}
	}
	if cmd&acPostExec != 0 {
		d.runBuffer(h)
	}
}

// runBuffer executes the program buffer with the implicit ebreak behind it, as
// a stream of halfwords: two compressed instructions fit in a word, and a long
// one may straddle.
func (d *DM) runBuffer(h Hart) {
	halves := []uint16{
		uint16(d.progbuf[0]), uint16(d.progbuf[0] >> 16),
		uint16(d.progbuf[1]), uint16(d.progbuf[1] >> 16),
		0x0073, 0x0010,
	}
	for len(halves) > 0 {
		raw := uint32(halves[0])
		n := 1
		if raw&3 == 3 {
			if len(halves) == 1 {
				return
			}
			raw |= uint32(halves[1]) << 16
			n = 2
		}
		switch h.Execute(raw, &d.data0) {
		case Ebreak:
			return
		case Exception:
			d.cmderr = cmdErrException
			return
		}
		halves = halves[n:]
	}
}
