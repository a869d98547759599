package bench

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/virtual"
)

// Unit is a board with what is wired to it.
type Unit struct {
	// Number is from 1. Serial and ProbeSerial are the serial numbers.
	Number              int
	Serial, ProbeSerial string
	// Unplugged is that of Options.
	Unplugged bool
	// Target runs the chip.
	Target *sim.Target
	// The rest is for Do. Probe and ProbePort are nil without a probe; DP, Line
	// and DAP are there without it, too.
	Chip      *rp2350.Chip
	Port      *virtual.Port
	Board     *virtual.Board
	ProbePort *virtual.Port
	Probe     *virtual.ProbeSocket
	DP        *debugport.DP
	Line      *debugport.Line
	DAP       *debugport.Probe

	serial virtual.Serial
	still  sync.Mutex // Do when the target is closed
}

// Do runs f while the board stands still, after it ran for as long as a debugger
// spent on the wires since the last time.
func (u *Unit) Do(f func()) {
	u.still.Lock()
	defer u.still.Unlock()
	spent := func() time.Duration { return 0 }
	if u.DP != nil {
		spent = u.DP.TakeSpent
	}
	if u.Target.DoAfter(context.Background(), spent, func(machine.Machine) { f() }) != nil {
		f() // closed: nobody else runs it
	}
}

func newUnit(o *Options, number int, port func() *virtual.Port) (*Unit, error) {
	u := &Unit{Number: number, Serial: o.serial(number), Unplugged: o.Unplugged, Port: port()}
	id, err := strconv.ParseUint(u.Serial, 16, 64)
	if err != nil {
		return nil, err
	}
	arch := o.Arch
	if arch == image.ArchUnknown {
		arch = image.ArchARM
	}
	made, err := sim.New(sim.Options{
		Machine: sim.MachineRP2350, Speed: sim.SpeedReal, DebugPort: true, Input: true,
		Build: func() (machine.Machine, error) {
			opt := rp2350.Options{Arch: arch, ChipID: id}
			if !o.Unplugged {
				opt.Bootsel = func(*rp2350.Chip) {} // the Board sees it by itself
			}
			u.Chip = rp2350.New(opt)
			if o.Fuse != nil {
				o.Fuse(u.Chip.OTP())
				u.Chip.Reset() // fuses are read when the chip is reset
			}
			return u.Chip, nil
		},
		Output: func(stream string, p []byte) {
			if stream == "uart0" {
				u.serial.Send(p)
			}
			if o.Output != nil {
				o.Output(number, stream, p)
			}
		},
		Notice: func(n machine.Notice) {
			if o.Notice != nil {
				o.Notice(number, n)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	u.Target = sim.Base(made)
	if o.Program != nil {
		if err := u.Target.Load(context.Background(), o.Program); err != nil {
			_ = u.Target.Close()
			return nil, err
		}
	}
	u.wire(o, port)
	return u, nil
}

// wire connects board, debug port and probe.
func (u *Unit) wire(o *Options, port func() *virtual.Port) {
	u.Port.Do = u.Do
	u.DP = debugport.NewDP(u.Chip.DebugPort())
	u.DP.Trouble = o.Trouble
	u.Line = debugport.NewLine(u.DP)
	u.ProbeSerial = o.probeSerial(u.Number)
	dap := o.DAP.Defaults()
	id := debugport.DebugProbe(u.ProbeSerial)
	id.PacketCount = dap.Packets
	u.DAP = debugport.NewProbe(id, u.Line)
	u.serial.Receive, u.serial.Rate = u.Chip.Input, u.Chip.ConsoleRate
	u.serial.Break = u.Chip.Break
	u.Board = virtual.NewBoard(u.Chip, u.Port)
	u.Board.Power = func(on bool) {
		u.DP.Trouble.Line = o.Trouble.Line
		if !on {
			u.DP.Trouble.Line = debugport.LineLow
		}
	}
	if o.Probe {
		u.ProbePort = port()
		u.ProbePort.Do = u.Do
		u.Probe = virtual.NewProbeSocket(u.ProbePort, u.Board.Now, func() *virtual.Gadget {
			return virtual.NewProbeAs(u.DAP, u.ProbeSerial, dap, &u.serial)
		})
	}
	if o.RealTime {
		u.Board.RealTime()
		if u.Probe != nil {
			u.Probe.RealTime()
		}
	}
	for _, f := range o.Faults {
		if f.Applies(u.Number, false) {
			u.Board.Inject(f)
		}
		if u.Probe != nil && f.Applies(u.Number, true) {
			u.Probe.Inject(f)
		}
	}
}

// follow lets the plugs follow the chip.
func (u *Unit) follow(ctx context.Context) {
	if u.Unplugged && u.Probe == nil {
		<-ctx.Done()
		return
	}
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		u.Do(func() {
			if !u.Unplugged {
				u.Board.Poll()
			}
			if u.Probe != nil {
				u.Probe.Poll()
			}
		})
	}
}

// Stats are what the board and its probe have done; probe is zero without one.
func (u *Unit) Stats() (board, probe virtual.Stats) {
	u.Do(func() {
		board = u.Board.Clock.Stats()
		if u.Probe != nil {
			probe = u.Probe.Clock.Stats()
		}
	})
	return board, probe
}
