package probe

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/probe/swd"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/target"
)

// errClosed is what calls return after Close.
var errClosed = errors.New("the probe is closed")

// Options say how a chip is reached and what is done for its program.
type Options struct {
	// Clock of the wires in Hz; 0 is 5 MHz.
	Clock uint32
	// Target is the TARGETSEL word of one of several chips on the wires; 0 is
	// the only one.
	Target uint32
	// Notice hears of what the person should know: a slower clock, what was
	// recovered from.
	Notice func(text string)
	// Semihosting serves semihosting calls of the program: Dir, CommandLine and
	// Start count. nil makes them breakpoints.
	Semihosting *semihost.Options
	// Output receives what the program prints, by stream ("rtt",
	// "semihosting"); nil keeps it for Console alone.
	Output func(stream string, p []byte)
	// CatchFaults is for programs that nobody debugs: an Arm core stops where a
	// fault would end in HardFault, a RISC-V hart in the endless loop of an
	// exception that nothing handles, both at a breakpoint instruction of the
	// program's own, which is a crash or the end of _exit.
	CatchFaults bool
	// CloseTime bounds what Close takes back; 0 is ten seconds.
	CloseTime time.Duration
	// Rescue resets the chip past everything that hangs before it is looked at.
	Rescue bool
}

// Target is a chip behind a probe, with the capabilities Halter, Memory and
// Flasher.
type Target struct {
	o    Options
	dap  *dap.Probe
	port *swd.Port
	// way is another way to the cores; dap and port are nil then.
	way  Way
	chip Chip

	mu     sync.Mutex
	eng    engine
	closed bool
	lost   error // the first failure of the way to the chip

	// run is the mask of cores that run, as far as is known here.
	run  uint32
	stop target.Stop
	// attached: the cores were halted at least once, so that breakpoint
	// instructions stop them.
	attached bool
	// touched: something was changed that Close has to take back.
	touched bool
	// ranges are cores that step through a range.
	ranges map[int]target.Action
	look   lookout
	points []target.Point
	soft   map[uint32][]byte // original instructions under breakpoint instructions
	// trap is where a program begins that the boot ROM is about to start, 0
	// without a need to know.
	trap uint32
	// ram is a program that was loaded into RAM, and starts there after resets.
	ram *ramProgram

	flash        *flashSession
	flashChanged bool
	// stay: the cores are left as they are by Close.
	stay bool

	con  *console
	host *semihost.Host
	rtt  *rtt
}

var (
	_ target.Target  = (*Target)(nil)
	_ target.Halter  = (*Target)(nil)
	_ target.Memory  = (*Target)(nil)
	_ target.Flasher = (*Target)(nil)
)

// Open attaches to the chip behind a probe, whatever it does, and does not
// disturb it. The probe belongs to the target from here on, also after an error.
func Open(ctx context.Context, p *dap.Probe, o Options) (*Target, error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.CloseTime == 0 {
		o.CloseTime = closeTime
	}
	t := &Target{
		o: o, dap: p, soft: map[uint32][]byte{}, run: both,
		port: swd.New(p, swd.Options{Clock: o.Clock, Target: o.Target, Notice: o.Notice}),
		con:  newConsole(o.Output),
	}
	err := t.attach(ctx)
	if err == nil && o.Semihosting != nil {
		so := *o.Semihosting
		so.Console = semihostConsole{t.con}
		so.Notice = o.Notice
		t.host, err = semihost.New(so)
	}
	if err != nil {
		err = explain(err, p.Info())
		if !o.Rescue {
			err = untouched(err)
		}
		_ = p.Close()
		return nil, err
	}
	t.con.request = t.typed
	return t, nil
}

// Chip is what is known of the chip.
func (t *Target) Chip() Chip {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chip
}

// Probe is what the probe says of itself.
func (t *Target) Probe() dap.Info {
	if t.way != nil {
		return t.way.Info()
	}
	return t.dap.Info()
}

// Clock is the present clock of the wires in Hz.
func (t *Target) Clock() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.way != nil {
		return t.way.Clock()
	}
	return t.port.Clock()
}

// Lost is the fault after which the chip cannot be reached any more, nil while it
// can.
func (t *Target) Lost() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// do runs f with the target for itself and explains its error.
func (t *Target) do(ctx context.Context, f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked(ctx, f)
}

func (t *Target) locked(ctx context.Context, f func() error) error {
	if t.closed {
		return errClosed
	}
	if t.lost != nil {
		return t.lost
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := f()
	if err == nil {
		return nil
	}
	if t.isLost(err) {
		t.lost = t.lostFault(err)
		return t.lost
	}
	return t.explained(err)
}

// Describe implements target.Target.
func (t *Target) Describe() target.Description {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.describe()
}

// Memory map (RP2350 datasheet 2.2).
const (
	romBase, romSize     = 0x00000000, 0x8000
	flashBase            = 0x10000000
	xipSRAM, xipSize     = 0x13ffc000, 0x4000
	xipNoCache           = 0x14000000
	xipNoTranslate       = 0x1c000000
	sramBase, sramSize   = 0x20000000, 0x82000
	apbBase, apbSize     = 0x40000000, 0x168000
	ahbBase, ahbSize     = 0x50000000, 0x500000
	ppbBase, ppbSize     = 0xe0000000, 0x100000
	otpControl, otpLimit = 0x40120000, 0x40140000
)

func (t *Target) describe() target.Description {
	bps, wps := t.eng.limits()
	size := t.chip.FlashSize
	d := target.Description{
		Name: "rp2350", Arch: t.eng.arch(), Breakpoints: bps, Watchpoints: wps, Registers: t.eng.registers(),
		Memory: []target.Region{
			{Name: "boot ROM", Kind: target.RegionROM, Base: romBase, Size: romSize},
			{Name: "flash", Kind: target.RegionFlash, Base: flashBase, Size: size, Sector: sectorSize},
			{Name: "XIP SRAM", Kind: target.RegionRAM, Base: xipSRAM, Size: xipSize},
			{Name: "flash, uncached", Kind: target.RegionROM, Base: xipNoCache, Size: size},
			{Name: "flash, untranslated", Kind: target.RegionROM, Base: xipNoTranslate, Size: size},
			{Name: "SRAM", Kind: target.RegionRAM, Base: sramBase, Size: sramSize},
			{Name: "APB", Kind: target.RegionIO, Base: apbBase, Size: apbSize},
			{Name: "AHB", Kind: target.RegionIO, Base: ahbBase, Size: ahbSize},
			{Name: "SIO", Kind: target.RegionIO, Base: sioBase, Size: sioEnd - sioBase},
		},
	}
	word := "hart 0"
	if d.Arch == image.ArchARM {
		word = "core 0"
		d.Memory = append(d.Memory, target.Region{Name: "PPB", Kind: target.RegionIO, Base: ppbBase, Size: ppbSize})
	}
	for i := range cores {
		d.Cores = append(d.Cores, target.Core{ID: i, Name: word[:len(word)-1] + string(rune('0'+i))})
	}
	return d
}

// Console implements target.Target.
func (t *Target) Console() io.ReadWriter { return t.con }

// closeTime is the usual bound.
const closeTime = 10 * time.Second

// LeaveHalted makes Close leave the cores as they are: halted.
func (t *Target) LeaveHalted() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stay = true
}

// Close implements target.Target: breakpoints are taken back and the cores run.
func (t *Target) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.con.close()
	ctx, cancel := context.WithTimeout(context.Background(), t.o.CloseTime)
	defer cancel()
	var errs []error
	if t.lost == nil {
		errs = append(errs, t.leave(ctx))
	}
	if t.host != nil {
		errs = append(errs, t.host.Close())
	}
	if t.way != nil {
		errs = append(errs, t.way.Close())
	} else {
		errs = append(errs, t.dap.Close())
	}
	return t.explained(errors.Join(errs...))
}

// releaseCores takes back what was set in the cores. A program may be switching
// the architecture just now: what was set in the other one's debug logic is gone
// with it.
func (t *Target) releaseCores(ctx context.Context) error {
	err := t.eng.release(ctx)
	end := time.Now().Add(resetTime)
	for was := t.eng.arch(); err != nil && !t.isLost(err) && time.Now().Before(end); {
		if perr := pause(ctx, 2*time.Millisecond); perr != nil {
			return perr
		}
		if xerr := t.examine(ctx); xerr != nil {
			continue
		}
		if t.eng.arch() != was {
			return nil
		}
		err = t.eng.release(ctx)
	}
	return err
}

// leave takes back what was changed.
func (t *Target) leave(ctx context.Context) error {
	var err error
	if t.flash != nil {
		err = t.endFlash(ctx)
	}
	for addr, old := range t.soft {
		delete(t.soft, addr)
		if isFlash(addr) {
			err = errors.Join(err, t.stopped(ctx, func() error { return t.unpin(ctx, addr) }))
			continue
		}
		err = errors.Join(err, t.eng.write(ctx, 0, addr, old, t.run == 0))
	}
	if t.touched && !t.stay {
		if t.run == 0 {
			for i := range cores {
				err = errors.Join(err, t.skipBreakpoint(ctx, i))
			}
		}
		rerr := t.releaseCores(ctx)
		err = errors.Join(err, rerr)
	}
	if t.way == nil {
		err = errors.Join(err, t.port.Disconnect(ctx))
	}
	if t.isLost(err) {
		return nil // it was pulled out at the last moment: nothing to take back
	}
	return err
}
