package rp2350

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/cortexm33"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Chip is a simulated RP2350 with a flash chip on its QSPI pins.
type Chip struct {
	opt   Options
	hooks machine.Hooks

	nodes [2]*node
	cur   *node // the core that is running, nil between turns
	// accessCore is who makes a debugger's access.
	accessCore int

	now   uint64 // cycle of the access or event being served
	clock uint64 // how far the whole chip has run
	q     queue
	line  timebase.Timeline

	irq        uint64 // levels of the shared interrupt lines
	heldBlocks uint32 // RESETS.RESET
	noticed    map[string]bool
	explained  map[explained]bool
	inputOpen  bool

	event        *machine.Event
	resetPending bool
	resetCause   periph.ResetCause
	resetPSM     uint32

	sram   []byte
	flags  []uint8
	rom    *rom
	flash  *nor.Flash
	otp    *otp.Array
	xip    *xip
	qmi    *qmi
	boot   *bootRAM
	sio    *sio
	access *accessCtrl
	parts  *periph.Peripherals
	pins   *periph.Pins
	slots  []*slot
	apb    [apbSlots]*slot
	ahb    [ahbSlots]*slot

	cacheFlags []uint8 // line flags of XIP_SRAM as a window
	table      *boot.Table
	boots      uint64
	romStack   [2][2]uint32
	rcp        *cortexm33.RCP // of Arm cores
	aps        *debugport.AccessPorts
	resets     debugport.Resets
	followDue  bool // a core debugged another through the window
	ramImage   *ramImage
	bootsel    *BootselMode // nil unless the boot ROM waits in it
	off        bool         // without power
	flashDone  periph.Event
	settle     periph.Event
	written    uint64 // bytes printed, and how many when a core got stuck
	quiet      uint64

	// turnCore is 1 more than the core whose turn goes on until turnLimit, 0 if
	// none does.
	turnCore  int
	turnLimit uint64
	dormant   bool // clk_sys has no source

	alarms  []*Alarm // of what is connected to the board
	outside []func() // who is told of a power-up
}

var (
	_ machine.Machine = (*Chip)(nil)
	_ machine.Flasher = (*Chip)(nil)
)

// New returns a chip in its power-up state.
func New(opt Options) *Chip {
	opt = opt.withDefaults()
	c := &Chip{opt: opt, noticed: map[string]bool{}}
	c.sram = make([]byte, sramSize)
	c.flags = make([]uint8, sramSize/16)
	c.otp = opt.OTP
	if c.otp == nil {
		c.otp = newOTP(opt)
	}
	c.flashDone.Fire = func(uint64) { c.endFlashOp() }
	c.settle.Fire = func(uint64) { c.settled() }
	c.flash = nor.New(opt.FlashSize, opt.ChipID, func() uint64 { return c.line.Picos(c.now) }, c.flashChanged)
	c.line.SetRate(0, powerUpRate)
	c.boot = &bootRAM{}
	c.xip = newXIP(c)
	c.qmi = newQMI(c)
	c.access = newAccessCtrl()
	c.rom = newROM(opt)
	for i := range c.nodes {
		n := &node{id: i, reservation: noReservation}
		n.bus = &coreBus{c: c, n: n}
		c.nodes[i] = n
	}
	c.nodes[0].other, c.nodes[1].other = c.nodes[1], c.nodes[0]
	for _, n := range c.nodes {
		n.cpu = c.newCPU(n, c.opt.Arch == image.ArchARM)
		n.cycle = n.cpu.ClockAt()
	}
	c.sio = newSIO(c)
	c.buildParts()
	c.remap()
	c.Reset()
	return c
}

// Arch is the architecture the cores execute.
func (c *Chip) Arch() image.Arch { return c.opt.Arch }

// Flash is the flash chip on the board.
func (c *Chip) Flash() *nor.Flash { return c.flash }

// OTP are the chip's fuses.
func (c *Chip) OTP() *otp.Array { return c.otp }

// SetHooks implements machine.Machine.
func (c *Chip) SetHooks(h machine.Hooks) {
	c.hooks = h
	for _, n := range c.nodes {
		c.hook(n)
	}
}

// hook installs the callbacks of one core.
func (c *Chip) hook(n *node) {
	n.cpu.SetTrace(nil)
	if t := c.hooks.Trace; t != nil {
		n.cpu.SetTrace(func(pc uint32) { t(n.id, pc) })
	}
	n.cpu.SetSemihost(nil)
	if c.hooks.Semihost != nil {
		n.cpu.SetSemihost(func() bool { return c.semihost(n) })
	}
}

// semihost lets the hook serve a semihosting call of a core.
func (c *Chip) semihost(n *node) bool {
	e, stop := c.hooks.Semihost(n.id)
	if stop {
		c.report(e)
	}
	return true
}

// Cores implements machine.Machine.
func (c *Chip) Cores() []machine.Core {
	return []machine.Core{coreView{c.nodes[0]}, coreView{c.nodes[1]}}
}

// InputOpen implements machine.Machine.
func (c *Chip) InputOpen(open bool) { c.inputOpen = open }

// newOTP are the fuses of a chip as it leaves the factory.
func newOTP(opt Options) *otp.Array {
	a := &otp.Array{}
	for i := range 4 {
		a.SetData(otp.RowChipID0+i, uint16(opt.ChipID>>(16*i)))
	}
	// The public random id, derived from the chip id so that runs repeat.
	x := opt.ChipID
	for i := range 8 {
		x = x*6364136223846793005 + 1442695040888963407
		a.SetData(otp.RowRandID0+i, uint16(x>>48))
	}
	gpios := uint16(30)
	if opt.Package == QFN80 {
		gpios = 48
	}
	a.SetData(otp.RowNumGPIOs, gpios)
	return a
}
