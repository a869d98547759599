package boards

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/virtual"
)

// flashBase is where flash begins on the chip's bus.
const flashBase = 0x10000000

// perform carries out a request for one board.
func (b *Board) perform(q *wire.Request) (r wire.Reply, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch q.Op {
	case "plug":
		return r, b.plugIn(q.What, q.Port)
	case "unplug":
		return r, b.pullOut(q.What)
	case "power":
		return r, b.power(q.On)
	case "button":
		b.what.Button = q.On
		return r, nil
	case "fault":
		return r, b.unplugSoon(q.What)
	case "flash":
		r.Data, err = b.readFlash(q.Addr, q.Size)
		return r, err
	case "otp":
		r.Data, err = b.readFuses(int(q.Addr), q.Size)
		return r, err
	case "stats":
		r.Stats = b.stats()
		return r, nil
	case "printed":
		b.out.Lock()
		r.Data = bytes.Clone(b.out.printed)
		b.out.Unlock()
		return r, nil
	case "type":
		if b.target == nil {
			return r, nil // on a wire that leads nowhere
		}
		_, err = b.target.Console().Write(q.Data)
		return r, err
	}
	return r, fmt.Errorf("the host does not know the request %q", q.Op)
}

func (b *Board) plugOf(what string) (*plug, error) {
	p := b.plugs[what]
	if p == nil || what == wire.PlugProbe && !b.what.Probe {
		return nil, fmt.Errorf("the board has no plug %q", what)
	}
	return p, nil
}

func (b *Board) plugIn(what string, port int) error {
	p, err := b.plugOf(what)
	if err != nil {
		return err
	}
	if p.guest != 0 {
		return fmt.Errorf("the %s is plugged into port %d", what, p.guest)
	}
	if what == wire.PlugBoard {
		if err := b.power(true); err != nil {
			return err
		}
	}
	p.guest = port
	return nil
}

// unplugSoon lets a cable be pulled at a time that counts from now.
func (b *Board) unplugSoon(text string) error {
	f, err := virtual.ParseFault(text)
	switch {
	case err != nil:
		return err
	case f.Kind != virtual.FaultUnplug || f.Probe && b.probe == nil || b.usb == nil:
		return fmt.Errorf("%s cannot begin now", f)
	}
	b.still(func() {
		f.At += b.now()
		if f.Probe {
			b.probe.Inject(f)
		} else {
			b.usb.Inject(f)
		}
	})
	return nil
}

func (b *Board) pullOut(what string) error {
	p, err := b.plugOf(what)
	if err != nil {
		return err
	}
	p.guest = 0
	if what == wire.PlugBoard {
		return b.power(false)
	}
	b.still(func() {
		dev := p.port.Device()
		p.port.Unplug() // the host loses it
		if dev != nil {
			p.port.Plug(dev)
		}
	})
	return nil
}

// readFlash reads the flash chip: an address on the chip's bus, or an offset.
func (b *Board) readFlash(addr uint32, n int) (data []byte, err error) {
	if addr >= flashBase {
		addr -= flashBase
	}
	b.still(func() {
		mem := b.flash
		if b.chip != nil {
			mem = b.chip.Flash().Bytes()
		}
		if n < 0 || uint64(addr)+uint64(n) > uint64(len(mem)) {
			err = fmt.Errorf("%d bytes at 0x%x of a flash of %d", n, addr, len(mem))
			return
		}
		data = bytes.Clone(mem[addr:][:n])
	})
	return data, err
}

// readFuses reads raw rows of the fuses, four bytes each.
func (b *Board) readFuses(row, n int) (data []byte, err error) {
	if row < 0 || n < 0 || row+n > otp.Rows {
		return nil, fmt.Errorf("%d rows at %d of %d", n, row, otp.Rows)
	}
	b.still(func() {
		a := b.fuses
		if b.chip != nil {
			a = b.chip.OTP()
		}
		for i := range n {
			data = binary.LittleEndian.AppendUint32(data, a.Raw(row+i))
		}
	})
	return data, nil
}

func (b *Board) stats() *wire.Stats {
	s := &wire.Stats{Device: "empty"}
	b.out.Lock()
	s.Restarts = b.out.restarts
	b.out.Unlock()
	b.still(func() {
		if b.chip == nil {
			return
		}
		s.Seconds, s.Arch = b.chip.Seconds(), string(b.chip.Arch())
		c := b.usb.Clock.Stats()
		s.USB, s.Transfers, s.Packets, s.Bytes = c.Total(), c.Transfers, c.Packets, c.Bytes
		s.Sectors, s.Pages, s.Enumerations = c.Erases, c.Programs, c.Enumerations
		switch {
		case b.plugs[wire.PlugBoard].port.Device() == nil:
		case b.chip.BootselMode() != nil:
			s.Device = "bootsel"
		default:
			s.Device = "program"
		}
	})
	return s
}
