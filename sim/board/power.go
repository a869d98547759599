package board

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/symbols"
	"github.com/stem-hw/stem-hw/target"
)

// NewChip builds the chip that a board's contents describe.
func (p Place) NewChip(c *Contents) *rp2350.Chip {
	chip := rp2350.New(rp2350.Options{
		Arch: c.Arch, ChipID: p.ChipID(), FlashSize: uint32(len(c.Flash)), OTP: c.Fuses(),
	})
	chip.Flash().Load(0, c.Flash)
	return chip
}

// Take copies what a chip keeps without power.
func (c *Contents) Take(chip *rp2350.Chip) {
	c.Arch = chip.Arch()
	c.Flash = append(c.Flash[:0], chip.Flash().Bytes()...)
	c.takeOTP(chip.OTP())
}

// differs reports whether the chip keeps something else than c says.
func (c *Contents) differs(chip *rp2350.Chip) bool {
	if c.Arch != chip.Arch() || !bytes.Equal(c.Flash, chip.Flash().Bytes()) {
		return true
	}
	for i, v := range c.OTP {
		if chip.OTP().Raw(i) != v {
			return true
		}
	}
	return false
}

// power builds chip and target anew from contents, in BOOTSEL mode. s.mu is held.
func (s *Server) power(c *Contents) error {
	s.stopWatching()
	if s.t != nil {
		_ = s.t.Close()
		s.t = nil
	}
	chip := s.place.NewChip(c)
	command := ""
	if c.Program != nil {
		command = c.Program.Path
	}
	made, err := sim.New(sim.Options{
		Machine: sim.MachineRP2350, Speed: sim.SpeedReal, Input: true, Symbols: s.symbols,
		Build:       func() (machine.Machine, error) { return chip, nil },
		Output:      s.hub.output,
		Notice:      func(n machine.Notice) { s.log("note: %s", n.Text) },
		Restarted:   func(int) { s.hub.event(Event{Event: "restarted", Text: "the program reset the chip"}) },
		Semihosting: &semihost.Options{Dir: s.semihosting, CommandLine: command, Start: time.Now()},
	})
	if err != nil {
		return err
	}
	t, ok := made.(*sim.FlashTarget)
	if !ok {
		return errors.New("the simulated chip has no flash")
	}
	s.t, s.chip = t, chip
	s.mode, s.detail = board.ModeBootsel, ""
	return nil
}

// save writes the board's file if something changed. s.mu is held.
func (s *Server) save() error {
	if s.lent || s.chip == nil {
		return nil
	}
	next := &Contents{Program: s.program}
	changed := s.savedProgram != s.program
	err := s.t.Do(context.Background(), func(machine.Machine) {
		if changed || s.saved.differs(s.chip) {
			changed = true
			next.Take(s.chip)
		}
	})
	if err != nil || !changed {
		return err
	}
	if err := s.place.Save(next); err != nil {
		return err
	}
	s.saved, s.savedProgram = next, s.program
	return nil
}

// reset resets the chip. s.mu is held.
func (s *Server) reset(ctx context.Context, to ResetTo) error {
	if s.gdb {
		return busy(s.place.Selector(), User{PID: 0, Verb: "gdb"})
	}
	s.stopWatching()
	s.last = nil
	s.hub.event(Event{Event: "reset"})
	switch to {
	case ResetRun:
		if err := s.t.Start(ctx); err != nil {
			return err
		}
		s.watch()
		return nil
	case ResetHalt, ResetBootsel:
		if err := s.t.Reset(ctx, target.ResetHalt); err != nil {
			return err
		}
		s.mode, s.detail = board.ModeHalted, "held in reset"
		if to == ResetBootsel {
			s.mode, s.detail = board.ModeBootsel, ""
		}
		s.hub.event(Event{Event: string(s.mode)})
		return nil
	}
	return faults.Usage("there is no reset %q", string(to))
}

// watch follows the program that was started, until it ends. s.mu is held.
func (s *Server) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	s.mode, s.detail, s.unwatch, s.last = board.ModeRunning, "", cancel, nil
	t := s.t
	s.hub.event(Event{Event: "running"})
	go func() {
		stop, err := t.Wait(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		if ctx.Err() != nil || err != nil || s.t != t {
			return
		}
		s.unwatch = func() {}
		cancel()
		s.ended(stop)
		s.touch()
		if err := s.save(); err != nil {
			s.log("%v", err)
		}
	}()
}

func (s *Server) stopWatching() { s.unwatch() }

// ended takes note of how a program ended. s.mu is held.
func (s *Server) ended(stop target.Stop) {
	e := Event{Event: "ended", Code: stop.Code}
	s.mode = board.ModeEnded
	switch stop.Reason {
	case target.StopExit:
		e.Text = fmt.Sprintf("%s, status %d", stop.How, stop.Code)
	case target.StopCrash:
		e.Event = "crashed"
		if c := stop.Crash; c != nil {
			if bootsel(c.Cause) {
				e.Event, s.mode = "bootsel", board.ModeBootsel
			}
			e.Text = c.Cause
			if s.mode == board.ModeEnded {
				e.Text += fmt.Sprintf(" (core %d at 0x%08x%s)", c.Core, c.PC, s.function(c.PC))
			}
		}
	case target.StopAsleep:
		e.Text = "every core sleeps and nothing will wake one"
	default:
		e.Event, s.mode = "halted", board.ModeHalted
		e.Text = string(stop.Reason)
	}
	s.detail = e.Text
	if e.Event == "crashed" {
		s.detail = "crashed: " + e.Text
	}
	s.last = &e
	s.hub.event(e)
}

// function is the function at an address, for a message.
func (s *Server) function(pc uint32) string {
	fs := s.symbols.Frames(pc)
	if len(fs) == 0 || fs[len(fs)-1].Function == "" {
		return ""
	}
	return " in " + fs[len(fs)-1].Function
}

// bootsel reports whether a crash is in truth the boot ROM waiting for USB.
func bootsel(cause string) bool {
	return strings.HasPrefix(cause, "no bootable image") || strings.Contains(cause, "asked for BOOTSEL")
}

// describe says what the board is and does. s.mu is held.
func (s *Server) describe() *Info {
	i := &Info{
		Name: s.place.Name, Serial: s.place.Serial(), PID: s.pid, Version: s.opt.Version, Mode: s.mode, Detail: s.detail,
		Program: s.program, Since: s.since, Consoles: s.hub.count(), Gdb: s.gdb, Holder: s.holderUser(),
	}
	if s.lent || s.t == nil {
		i.Arch, i.FlashSize = s.saved.Arch, uint32(len(s.saved.Flash))
		i.Mode = board.ModeUsed
		return i
	}
	_ = s.t.Do(context.Background(), func(machine.Machine) {
		i.Arch, i.FlashSize = s.chip.Arch(), s.chip.Flash().Size()
		mem := s.chip.Flash().Bytes()
		for k := 0; k < len(mem); k += nor.SectorSize {
			if !blank(mem[k : k+nor.SectorSize]) {
				i.Used++
			}
		}
		i.ArmOff, i.RISCVOff = Forbidden(s.chip.OTP())
	})
	if i.Mode == board.ModeRunning && s.gdb {
		i.Detail = "gdb is attached"
	}
	return i
}

// Forbidden says which architectures the fuses forbid (RP2350 datasheet 13.10,
// CRIT0 bits 0 and 1, CRIT1 bit 0: secure boot is for Arm alone).
func Forbidden(fuses *otp.Array) (arm, riscv bool) {
	crit0, crit1 := fuses.AnyOf8(otp.RowCrit0), fuses.AnyOf8(otp.RowCrit1)
	return crit0&1 != 0, crit0&2 != 0 || crit1&1 != 0
}

// CheckArch refuses a program that the fuses forbid.
func CheckArch(a image.Arch, armOff, riscvOff bool) error {
	if a == image.ArchARM && !armOff || a == image.ArchRISCV && !riscvOff || a == image.ArchUnknown {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeWrongMachine, Status: faults.StatusImage,
		Summary: "the fuses of this board forbid the architecture of the program",
		Seen:    string(a), Try: []string{"use another board: -b sim:other"},
	}
}

// adopt takes note of the program in flash: its symbols, its architecture. The
// chip is powered off and on. s.mu is held.
func (s *Server) adopt(a *Adoption, elf []byte) error {
	c := &Contents{}
	if err := s.t.Do(context.Background(), func(machine.Machine) { c.Take(s.chip) }); err != nil {
		return err
	}
	armOff, riscvOff := Forbidden(c.Fuses())
	if err := CheckArch(a.Arch, armOff, riscvOff); err != nil {
		return err
	}
	if a.Arch != image.ArchUnknown {
		c.Arch = a.Arch
	}
	p := a.Program
	c.Program = &p
	s.program, s.elf, s.symbols, s.semihosting = &p, elf, nil, a.Semihosting
	if len(elf) > 0 {
		// A program without readable symbols runs as well.
		s.symbols, _ = symbols.Load(elf)
	}
	s.hub.event(Event{Event: "reset"})
	return s.power(c)
}

// load puts an image into RAM, from where it starts until power is lost. s.mu is
// held.
func (s *Server) load(ctx context.Context, r *ramImage, data []byte) error {
	im := &image.Image{Arch: r.Arch, Entry: r.Entry, HasEntry: r.HasEntry, Format: image.FormatBIN}
	for i, seg := range r.Segments {
		if seg.Size < 0 || seg.Size > len(data) {
			return errFrame
		}
		im.Segments = append(im.Segments, image.Segment{Addr: seg.Addr, Data: data[:seg.Size], Name: fmt.Sprintf("segment %d", i)})
		data = data[seg.Size:]
	}
	return s.t.Load(ctx, im)
}
