package boards

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/rig/wire"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/virtual"
)

// Attacher plugs a device into a port of the guest and returns the connection to
// its kernel.
type Attacher interface {
	Attach(a wire.Attach) (io.ReadWriteCloser, error)
}

// Board is one simulated board and its probe.
type Board struct {
	attacher Attacher
	log      func(format string, args ...any)
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	// mu guards everything below: it is the Do of the USB server.
	mu     sync.Mutex
	what   wire.Board
	opt    rp2350.Options
	flash  []byte // nil before the first power-up
	fuses  *otp.Array
	target *sim.Target // nil without power
	chip   *rp2350.Chip
	usb    *virtual.Board
	clock  virtual.Clock // of the time before the last power-off
	probe  *virtual.ProbeSocket
	faults []virtual.Fault
	serial virtual.Serial
	dap    dap
	dp     *debugport.DP // nil without power
	server virtual.Server
	plugs  map[string]*plug
	// trouble is that of the debug port while there is power.
	trouble debugport.Trouble

	out struct {
		sync.Mutex
		printed  []byte
		restarts int
	}
}

// plug is a USB socket of the board's side.
type plug struct {
	port     virtual.Port
	guest    int            // the guest's port, 0 is none
	attached virtual.Device // what the guest was given there
}

// dap is the probe's end of the debug port, whose chip comes and goes.
type dap struct{ probe *debugport.Probe }

// Execute implements virtual.DAP.
func (d *dap) Execute(p []byte) []byte { return d.probe.Execute(p) }

// New makes a board without power. number is the guest's device number of it.
func New(w wire.Board, number uint32, a Attacher, log func(string, ...any)) (*Board, error) {
	b := &Board{attacher: a, log: log, what: w, plugs: map[string]*plug{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.opt = rp2350.Options{FlashSize: w.FlashSize, Bootsel: func(*rp2350.Chip) {}, BootselPin: w.Button}
	switch w.Arch {
	case "", "arm":
		b.opt.Arch = image.ArchARM
	case "riscv":
		b.opt.Arch = image.ArchRISCV
	default:
		return nil, fmt.Errorf("there is no architecture %q", w.Arch)
	}
	if w.Serial != "" {
		id, err := strconv.ParseUint(w.Serial, 16, 64)
		if err != nil || len(w.Serial) != 16 {
			return nil, fmt.Errorf("the serial number %q is not 16 hexadecimal digits", w.Serial)
		}
		b.opt.ChipID = id
	}
	for _, name := range w.Trouble {
		if !b.trouble.Set(name) {
			return nil, fmt.Errorf("there is no trouble %q", name)
		}
	}
	var err error
	if b.faults, err = virtual.ParseFaults(w.Faults); err != nil {
		return nil, err
	}
	b.server.Do = b.do
	for i, name := range []string{wire.PlugBoard, wire.PlugProbe} {
		n := 2*number + uint32(i)
		p := &plug{port: virtual.Port{BusID: fmt.Sprintf("1-%d", n), Bus: 1, Number: n}}
		b.plugs[name] = p
		b.server.Add(&p.port)
	}
	if err := b.fill(); err != nil {
		return nil, err
	}
	b.unwire()
	b.plugProbe()
	b.running.Add(1)
	go b.follow()
	return b, nil
}

// fill makes the flash and the fuses of a new board.
func (b *Board) fill() error {
	chip := rp2350.New(b.opt)
	for row, v := range b.what.OTP {
		chip.OTP().Program(row, v)
	}
	if len(b.what.Flash) > len(chip.Flash().Bytes()) {
		return fmt.Errorf("%d bytes for a flash of %d", len(b.what.Flash), len(chip.Flash().Bytes()))
	}
	if len(b.what.Flash) > 0 {
		chip.Flash().Load(0, b.what.Flash)
	}
	if len(b.what.Firmware) > 0 {
		img, err := image.Parse("firmware", b.what.Firmware, image.Options{})
		if err != nil {
			return err
		}
		if err := chip.Load(img); err != nil {
			return err
		}
	}
	b.keep(chip)
	return nil
}

// keep takes what a chip has without power.
func (b *Board) keep(chip *rp2350.Chip) {
	b.flash = bytes.Clone(chip.Flash().Bytes())
	fuses := &otp.Array{}
	for row := range otp.Rows {
		if v := chip.OTP().Raw(row); v != 0 {
			fuses.Program(row, v)
		}
	}
	b.fuses = fuses
}

// plugProbe makes the probe.
func (b *Board) plugProbe() {
	if !b.what.Probe {
		return
	}
	opt := virtual.ProbeOptions{Version: virtual.DAPVersion(b.what.ProbeDAP), Packets: b.what.ProbePackets}.Defaults()
	b.probe = virtual.NewProbeSocket(&b.plugs[wire.PlugProbe].port, b.now, func() *virtual.Gadget {
		return virtual.NewProbeAs(&b.dap, b.what.ProbeSerial, opt, &b.serial)
	})
	if b.what.RealTime {
		b.probe.RealTime()
	}
	for _, f := range b.faults {
		if f.Applies(1, true) {
			b.probe.Inject(f)
		}
	}
}

// now is the board's time, which stands still without power.
func (b *Board) now() time.Duration {
	if b.usb == nil {
		return 0
	}
	return b.usb.Now()
}

func (b *Board) connect(dp *debugport.DP) {
	id := debugport.DebugProbe(b.what.ProbeSerial)
	if b.what.ProbePackets > 0 {
		id.PacketCount = b.what.ProbePackets
	}
	b.dap.probe = debugport.NewProbe(id, debugport.NewLine(dp))
}

// do runs f while the chip stands still.
func (b *Board) do(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.still(f)
}

// still is do for who holds b.mu. The chip first runs for as long as a debugger
// took on the wires since the last time: a core that is to make one step has made
// it before anybody looks.
func (b *Board) still(f func()) {
	spent := func() time.Duration { return 0 }
	if b.dp != nil {
		spent = b.dp.TakeSpent
	}
	if b.target == nil || b.target.DoAfter(context.Background(), spent, func(machine.Machine) { f() }) != nil {
		f()
	}
}

// power switches it on or off. b.mu is held.
func (b *Board) power(on bool) error {
	switch {
	case on == (b.target != nil):
		return nil
	case !on:
		t, chip := b.target, b.chip
		b.still(func() { b.keep(chip) })
		b.clock = b.usb.Clock.Again()
		b.target, b.chip, b.usb, b.dp = nil, nil, nil, nil
		b.serial.Receive, b.serial.Rate, b.serial.Break = nil, nil, nil
		b.plugs[wire.PlugBoard].port.Unplug()
		b.unwire()
		return t.Close()
	}
	opt := b.opt
	opt.OTP, opt.BootselPin = b.fuses, b.what.Button
	chip := rp2350.New(opt)
	chip.Flash().Load(0, b.flash)
	made, err := sim.New(sim.Options{
		Machine: sim.MachineRP2350, Speed: sim.SpeedReal, DebugPort: true, Input: true,
		Build:  func() (machine.Machine, error) { return chip, nil },
		Output: b.printed,
		Notice: func(n machine.Notice) { b.log("note: %s", n.Text) },
		Restarted: func(int) {
			b.out.Lock()
			b.out.restarts++
			b.out.Unlock()
		},
	})
	if err != nil {
		return err
	}
	b.target, b.chip = sim.Base(made), chip
	b.usb = virtual.NewBoard(chip, &b.plugs[wire.PlugBoard].port)
	b.usb.Clock = b.clock
	if b.what.RealTime {
		b.usb.RealTime()
	}
	for _, f := range b.faults {
		if f.Applies(1, false) {
			b.usb.Inject(f)
		}
	}
	b.still(func() {
		b.serial.Receive, b.serial.Rate, b.serial.Break = chip.Input, chip.ConsoleRate, chip.Break
		dp := debugport.NewDP(chip.DebugPort())
		dp.Trouble = b.trouble
		b.usb.Power = func(on bool) { // a fault may take it away
			dp.Trouble.Line = b.trouble.Line
			if !on {
				dp.Trouble.Line = debugport.LineLow
			}
		}
		b.connect(dp)
		b.dp = dp
	})
	return b.target.Start(b.ctx)
}

// unwire leaves the probe with a chip without power. b.mu is held.
func (b *Board) unwire() {
	dp := debugport.NewDP(rp2350.New(b.opt).DebugPort())
	dp.Trouble.Line = debugport.LineLow
	b.connect(dp)
}

// printed takes what the program prints, on the simulation's goroutine.
func (b *Board) printed(stream string, p []byte) {
	if stream == "uart0" {
		b.serial.Send(p)
	}
	b.out.Lock()
	defer b.out.Unlock()
	b.out.printed = append(b.out.printed, p...)
}

// follow lets the devices behind the plugs be what the chip is, until the board
// is closed.
func (b *Board) follow() {
	defer b.running.Done()
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-t.C:
		}
		b.do(func() {
			if b.usb != nil {
				b.usb.Poll()
			}
			if b.probe != nil {
				b.probe.Poll()
			}
			for _, p := range b.plugs {
				b.offer(p)
			}
		})
	}
}

// offer gives the guest what is new behind a plug. The chip stands still.
func (b *Board) offer(p *plug) {
	dev := p.port.Device()
	if p.guest == 0 || dev == nil {
		p.attached = nil
		return
	}
	if dev == p.attached {
		return
	}
	p.attached = dev
	to := wire.Attach{Port: p.guest, Bus: p.port.Bus, Number: p.port.Number}
	b.running.Add(1)
	go func() {
		defer b.running.Done()
		b.serve(to, p.port.BusID)
	}()
}

// Close ends the board and everything that was attached.
func (b *Board) Close() error {
	b.do(func() {
		for _, p := range b.plugs {
			p.guest = 0
			p.port.Unplug()
		}
	})
	b.mu.Lock()
	err := b.power(false)
	b.mu.Unlock()
	b.cancel()
	b.running.Wait()
	return err
}
