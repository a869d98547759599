package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/virtual"
)

// MaxBoards is how many boards a bench holds: with probes, as many devices as
// Linux's virtual host controller has full-speed ports.
const MaxBoards = 60

// Options say what is on the bench.
type Options struct {
	// Boards is their number, 0 means 1. Probe gives each one a Debug Probe.
	Boards int
	Probe  bool
	// Serials are the boards' serial numbers in order, 16 hexadecimal digits
	// each; boards beyond get one that follows from their number. ProbeSerials
	// are those of the probes.
	Serials, ProbeSerials []string
	// Ports are the numbers of the ports, from 1, in the order in which devices
	// are on the bench; those beyond follow the last one.
	Ports []int
	// Arch is the architecture of cores after power-up; unknown is Arm.
	Arch image.Arch
	// Program is in each board's flash; nil leaves it empty.
	Program *image.Image
	// Unplugged boards have no USB side: nothing is at the other end of the cable.
	Unplugged bool
	// Fuse, if set, changes the fuses of new boards.
	Fuse func(fuses *otp.Array)
	// DAP is how the probes speak CMSIS-DAP.
	DAP virtual.ProbeOptions
	// Trouble is that of the debug ports.
	Trouble debugport.Trouble
	// Faults happen to boards and probes.
	Faults []virtual.Fault
	// RealTime lets USB, flash and restarts take the time that they take on
	// hardware.
	RealTime bool
	// Output gets what programs print, Notice remarks; board is from 1. They are
	// called on the board's own goroutine.
	Output func(board int, stream string, p []byte)
	Notice func(board int, n machine.Notice)
}

// Bench is boards, probes and ports.
type Bench struct {
	Units []*Unit
	// Server offers every port.
	Server virtual.Server
}

// DefaultProbeSerial is the serial number of the first probe.
const DefaultProbeSerial = "E660440C84B2A31E"

// New puts boards on a bench. They do not run before Run.
func New(o Options) (*Bench, error) {
	n := max(o.Boards, 1)
	if err := o.check(n); err != nil {
		return nil, err
	}
	b := &Bench{}
	next := portNumbers(o.Ports)
	for i := range n {
		u, err := newUnit(&o, i+1, next)
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.Units = append(b.Units, u)
		if !u.Unplugged {
			b.Server.Add(u.Port)
		}
		if u.Probe != nil {
			b.Server.Add(u.ProbePort)
		}
	}
	return b, nil
}

// portNumbers makes ports: those that were asked for, then those behind them.
func portNumbers(asked []int) func() *virtual.Port {
	top := 0
	for _, p := range asked {
		top = max(top, p)
	}
	return func() *virtual.Port {
		number := top + 1
		if len(asked) > 0 {
			number, asked = asked[0], asked[1:]
		}
		top = max(top, number)
		return &virtual.Port{BusID: fmt.Sprintf("1-%d", number), Bus: 1, Number: uint32(number)}
	}
}

// check refuses what cannot be.
func (o *Options) check(n int) error {
	bad := func(summary, seen, wanted string) error {
		u := faults.Usage("%s", summary)
		u.Seen, u.Wanted = seen, wanted
		return u
	}
	devices := n
	if o.Probe {
		devices *= 2
	}
	switch {
	case n > MaxBoards:
		return bad("that many boards do not fit on the bench", strconv.Itoa(n), fmt.Sprintf("1 to %d", MaxBoards))
	case len(o.Serials) > n:
		return bad("there are more serial numbers than boards", fmt.Sprintf("%d for %d", len(o.Serials), n), "at most one a board")
	case len(o.ProbeSerials) > 0 && !o.Probe:
		return bad("serial numbers of probes, but no probes", fmt.Sprint(len(o.ProbeSerials)), "--probe")
	case len(o.ProbeSerials) > n:
		return bad("there are more serial numbers than probes", fmt.Sprintf("%d for %d", len(o.ProbeSerials), n), "at most one a probe")
	case len(o.Ports) > devices:
		return bad("there are more ports than devices", fmt.Sprintf("%d for %d", len(o.Ports), devices), "at most one a device")
	}
	seen := map[string]bool{}
	for i := range n {
		s := o.serial(i + 1)
		if _, err := strconv.ParseUint(s, 16, 64); err != nil || len(s) != 16 {
			return bad("this is no serial number of a board", fmt.Sprintf("%.40q", s), "16 hexadecimal digits")
		}
		if seen[s] {
			return bad("two boards would have one serial number", s, "one for each board")
		}
		seen[s] = true
	}
	for _, s := range o.ProbeSerials {
		if len(s) == 0 || len(s) > 32 {
			return bad("this is no serial number of a probe", fmt.Sprintf("%.40q", s), "1 to 32 characters")
		}
	}
	used := map[int]bool{}
	for _, p := range o.Ports {
		if p < 1 || p > 2*MaxBoards || used[p] {
			return bad("the ports are not usable", fmt.Sprint(o.Ports), fmt.Sprintf("different numbers from 1 to %d", 2*MaxBoards))
		}
		used[p] = true
	}
	for _, f := range o.Faults {
		if f.Board > n || f.Probe && !o.Probe {
			return bad("a fault is for a board that is not there", f.String(), fmt.Sprintf("one of %d boards, and --probe for faults of probes", n))
		}
	}
	return nil
}

// serial is the serial number of a board, from 1.
func (o *Options) serial(board int) string {
	if board <= len(o.Serials) {
		return upper(o.Serials[board-1])
	}
	if board == 1 {
		return fmt.Sprintf("%016X", uint64(rp2350.DefaultChipID))
	}
	sum := sha256.Sum256([]byte("bench board " + strconv.Itoa(board)))
	return fmt.Sprintf("%016X", binary.BigEndian.Uint64(sum[:]))
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'f' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// probeSerial is that of a probe, from 1.
func (o *Options) probeSerial(board int) string {
	if board <= len(o.ProbeSerials) {
		return o.ProbeSerials[board-1]
	}
	if board == 1 {
		return DefaultProbeSerial
	}
	sum := sha256.Sum256([]byte("bench probe " + strconv.Itoa(board)))
	return fmt.Sprintf("E66%013X", binary.BigEndian.Uint64(sum[:])>>12)
}

// Run powers the boards and lets their plugs follow them until ctx ends.
func (b *Bench) Run(ctx context.Context) error {
	for _, u := range b.Units {
		if err := u.Target.Start(ctx); err != nil {
			return err
		}
	}
	var wait sync.WaitGroup
	for _, u := range b.Units {
		wait.Add(1)
		go func() {
			defer wait.Done()
			u.follow(ctx)
		}()
	}
	wait.Wait()
	return nil
}

// Close ends the boards.
func (b *Bench) Close() error {
	var all []error
	for _, u := range b.Units {
		all = append(all, u.Target.Close())
	}
	return errors.Join(all...)
}
