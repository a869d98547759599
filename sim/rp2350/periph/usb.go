package periph

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Registers of USB (datasheet 12.7.5).
const (
	usbAddr       = 0x00
	usbMain       = 0x40
	usbSOFRd      = 0x48
	usbSIECtrl    = 0x4c
	usbSIEStatus  = 0x50
	usbBuffStatus = 0x58
	usbBuffCPU    = 0x5c
	usbAbort      = 0x60
	usbAbortDone  = 0x64
	usbStallArm   = 0x68
	usbStallNak   = 0x70
	usbMuxing     = 0x74
	usbPwr        = 0x78
	usbINTR       = 0x8c
	usbINTE       = 0x90
	usbINTF       = 0x94
	usbINTS       = 0x98

	mainEnable = 1 << 0
	mainHost   = 1 << 1
	mainPHYISO = 1 << 2

	sieEP0IntNak  = 1 << 27
	sieEP0Int2    = 1 << 28
	sieEP0Int1    = 1 << 29
	sieEP0Double  = 1 << 30
	sieEP0IntSt   = 1 << 31
	siePullup     = 1 << 16
	sieResume     = 1 << 12
	sieBusReset   = 1 << 19
	sieSetup      = 1 << 17
	sieConnected  = 1 << 16
	sieResumed    = 1 << 11
	sieSuspended  = 1 << 4
	sieVBUS       = 1 << 0
	sieSeqError   = 1 << 31
	sieTransDone  = 1 << 18
	sieClearable  = 0xff8e1800
	sieLatchClear = sieConnected | sieSuspended | sieVBUS

	usbIntTrans   = 1 << 3
	usbIntBuff    = 1 << 4
	usbIntSeq     = 1 << 5
	usbIntVBUS    = 1 << 11
	usbIntReset   = 1 << 12
	usbIntConn    = 1 << 13
	usbIntSuspend = 1 << 14
	usbIntResume  = 1 << 15
	usbIntSetup   = 1 << 16
	usbIntSOF     = 1 << 17
	usbIntAbort   = 1 << 18
	usbIntNak     = 1 << 19

	irqUSB = 14

	// usbBuffers is where the packet memory's control words end.
	usbBuffers = 0x100
)

// USB is the USB controller as a device (datasheet 12.7): registers and packet
// memory, and for the other end of the cable the transactions of a host (see
// USBHost). Without a host nothing happens on the bus, as with a cable that is
// not plugged in. The controller as a host is not modelled.
type USB struct {
	storage
	ram [4096]byte
	// latched are the interrupts that remember a change.
	latched   uint32
	vbus      bool
	suspended bool
	attached  bool
	// second says, for each endpoint and direction, that the second of two
	// buffers is next.
	second [32]bool
	change func(attached bool)
	resume func()

	rate func() timebase.Rate
	// turn is the host's (USBHost.Drive), next when it comes, free when the bus is.
	turn func() (spent, later uint64)
	next Event
	free uint64
}

func newUSB(env Env, sys System) *USB {
	u := &USB{storage: newStorage("USB", env, regs.USB), rate: sys.SysRate}
	u.next.Fire = func(uint64) { u.takeTurn() }
	return u
}

// Reset disconnects from the bus. The packet memory keeps its contents.
func (u *USB) Reset() {
	u.storage.Reset()
	u.latched, u.suspended = 0, false
	u.second = [32]bool{}
	u.connection()
	u.update()
}

// raw are the interrupt sources.
func (u *USB) raw() uint32 {
	st := u.get(usbSIEStatus)
	v := u.latched | bit(u.get(usbBuffStatus) != 0, 4) | bit(u.get(usbAbortDone) != 0, 18) | bit(u.get(usbStallNak) != 0, 19)
	for _, m := range [...]struct{ status, intr uint32 }{{sieBusReset, usbIntReset}, {sieSetup, usbIntSetup},
		{sieResumed, usbIntResume}, {sieSeqError, usbIntSeq}, {sieTransDone, usbIntTrans}} {
		if st&m.status != 0 {
			v |= m.intr
		}
	}
	return v
}

func (u *USB) pending() uint32 { return (u.raw() | u.get(usbINTF)) & u.get(usbINTE) }

func (u *USB) update() { u.env.SetIRQ(irqUSB, u.pending() != 0) }

// connection looks whether the pull-up is on the bus.
func (u *USB) connection() {
	main := u.get(usbMain)
	on := main&(mainEnable|mainHost|mainPHYISO) == mainEnable && u.get(usbSIECtrl)&siePullup != 0
	if on == u.attached {
		return
	}
	u.attached = on
	if u.change != nil {
		u.change(on)
	}
}

// hasVBUS is what the device sees of the bus voltage: software may override it.
func (u *USB) hasVBUS() bool {
	if p := u.get(usbPwr); p&(1<<3) != 0 {
		return p&(1<<2) != 0
	}
	return u.vbus
}

// Read returns a register.
func (u *USB) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case usbSIEStatus:
		return u.get(offset)&sieClearable | bit(u.hasVBUS(), 0) | bit(u.suspended, 4) |
			bit(u.attached && u.vbus && !u.suspended, 16) | bit(u.attached, 2)
	case usbSOFRd:
		if !peek {
			u.latched &^= usbIntSOF
			u.update()
		}
	case usbINTR:
		return u.raw()
	case usbINTS:
		return u.pending()
	}
	return u.storage.Read(offset, peek)
}

// Write writes a register.
func (u *USB) Write(offset uint32, w Write) {
	u.storage.Write(offset, w)
	switch offset {
	case usbMain:
		if u.get(offset)&(mainEnable|mainHost) == mainEnable|mainHost {
			u.unmodelled(offset, "the controller as a USB host; no device ever answers")
		}
		if u.get(offset)&(mainEnable|mainHost) == mainEnable && u.change == nil && !u.vbus {
			u.env.Notice("the USB controller was enabled, but nothing is plugged in: no host will see this board")
		}
		u.connection()
	case usbSIECtrl:
		u.connection()
		if w.Ones(sieResume) != 0 && u.resume != nil {
			u.resume()
		}
	case usbSIEStatus:
		for _, m := range [...]struct{ status, intr uint32 }{{sieConnected, usbIntConn}, {sieSuspended, usbIntSuspend}, {sieVBUS, usbIntVBUS}} {
			if w.Ones(m.status) != 0 {
				u.latched &^= m.intr
			}
		}
	case usbAbort:
		// No transaction is ever under way between accesses.
		u.set(usbAbortDone, u.get(usbAbortDone)|w.Apply(0))
	}
	u.update()
	u.wake()
}

// usbRAM is the packet memory: real byte strobes, no aliases.
type usbRAM struct{ u *USB }

// Name is the datasheet's name of the memory.
func (r usbRAM) Name() string { return "USB_DPRAM" }

// Reset does nothing: memory keeps its contents.
func (r usbRAM) Reset() {}

// Read returns a word.
func (r usbRAM) Read(offset uint32, peek bool) uint32 {
	return binary.LittleEndian.Uint32(r.u.ram[offset&0xffc:])
}

// Write writes 1, 2 or 4 bytes.
func (r usbRAM) Write(offset uint32, w Write) {
	at := offset & 0xffc
	switch w.Size {
	case 1:
		r.u.ram[at+uint32(w.Lane&3)] = byte(w.Raw >> (8 * uint(w.Lane&3)))
	case 2:
		binary.LittleEndian.PutUint16(r.u.ram[at+uint32(w.Lane&2):], uint16(w.Raw>>(8*uint(w.Lane&2))))
	default:
		binary.LittleEndian.PutUint32(r.u.ram[at:], w.Raw)
	}
	if at < usbBuffers {
		r.u.wake()
	}
}
