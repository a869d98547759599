package bootsel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

// Target is a board in BOOTSEL mode. It implements target.Target, target.Memory,
// target.Flasher and flashing.Device.
type Target struct {
	*held
	conn   usb.Conn
	pico   *picoboot.Device
	system picoboot.System
	// size is the flash's, 0 until it was looked for; sure says that it was found
	// out and not assumed.
	size uint32
	sure bool
	// next is how the chip is restarted by Start.
	next struct {
		kind   picoboot.RebootType
		p0, p1 uint32
	}
	// offset is how far Plan moved the last image, into a partition.
	offset uint32
	gone   bool
	closed bool
}

var (
	_ target.Memory   = (*Target)(nil)
	_ target.Flasher  = (*Target)(nil)
	_ flashing.Device = (*Target)(nil)
)

// restartDelay is how long the chip waits before it restarts, so that the answer
// to the request arrives.
const restartDelay = 10 * time.Millisecond

// Device is the board as it is on the USB now.
func (t *Target) Device() usb.Device { return t.device }

// Was is the board as it was before it was opened.
func (t *Target) Was() usb.Device { return t.was }

// ChipID is the chip's 64-bit device id in hexadecimal.
func (t *Target) ChipID() string { return fmt.Sprintf("%016X", t.system.ChipID) }

// Moved is the board's flash as the image of the last Plan sees it: moved by the
// partition that the image goes to.
func (t *Target) Moved() flashing.Device { return moved{t, t.offset} }

// moved is flash that begins elsewhere.
type moved struct {
	flashing.Device
	by uint32
}

func (m moved) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	return m.Device.ReadFlash(ctx, addr+m.by, p)
}

// System is what the boot ROM says about the chip.
func (t *Target) System() picoboot.System { return t.system }

// Pico is the protocol itself, for questions that Target has no method for.
func (t *Target) Pico() *picoboot.Device { return t.pico }

// Memories of the chip that the boot ROM lets a host see (ROM up to its secure
// part: pico-bootrom-rp2350, nsboot_async_task.c).
const (
	romSize  = 0x7e00
	sramSize = boot.SRAMEnd - boot.SRAMBase
	xipSRAM  = boot.XIPSRAMEnd - boot.XIPSRAMBase
)

// Describe implements target.Target.
func (t *Target) Describe() target.Description {
	d := target.Description{
		Name: "rp2350", Arch: image.ArchARM,
		Cores: []target.Core{{ID: 0, Name: "core 0"}, {ID: 1, Name: "core 1"}},
		Memory: []target.Region{
			{Name: "ROM", Kind: target.RegionROM, Base: 0, Size: romSize},
			{Name: "flash", Kind: target.RegionFlash, Base: boot.FlashBase, Size: t.size, Sector: flashing.SectorSize},
			{Name: "XIP SRAM", Kind: target.RegionRAM, Base: boot.XIPSRAMBase, Size: xipSRAM},
			{Name: "RAM", Kind: target.RegionRAM, Base: boot.SRAMBase, Size: sramSize},
		},
	}
	if t.size == 0 {
		d.Memory[1].Size = assumedSize
	}
	if t.system.RISCV {
		d.Arch = image.ArchRISCV
	}
	return d
}

// alive refuses calls after the chip was restarted or the target closed.
func (t *Target) alive(ctx context.Context) error {
	switch {
	case t.closed, t.pico == nil:
		return errors.New("the board was given back")
	case t.gone:
		return errors.New("the board was restarted")
	}
	return ctx.Err()
}

// Load implements target.Target: an image goes to flash or RAM.
func (t *Target) Load(ctx context.Context, im *image.Image) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	ram := 0
	for _, s := range im.Segments {
		switch image.RP2350.KindOf(s.Addr, uint64(len(s.Data))) {
		case image.KindRAM:
			ram++
		case image.KindFlash:
		case image.KindOther:
			return &faults.Fault{
				Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
				Summary: s.Name + " lies outside the memories of the board",
				Seen:    fmt.Sprintf("0x%08x-0x%08x", s.Addr, s.End()), Wanted: image.RP2350.Text(),
			}
		}
	}
	switch {
	case ram == len(im.Segments):
		return t.LoadRAM(ctx, im)
	case ram > 0:
		return &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: "the image has contents for flash and for RAM", Wanted: "one of them",
		}
	}
	plan, err := t.Plan(ctx, im)
	if err != nil {
		return err
	}
	_, err = plan.Write(ctx, t, flashing.Options{Verify: true})
	return err
}

// LoadRAM puts a program into RAM; Start starts it there.
func (t *Target) LoadRAM(ctx context.Context, im *image.Image) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	if err := t.CheckArch(im.Arch); err != nil {
		return err
	}
	// The ROM looks for the image from here to the end of the memory; main RAM
	// goes before the cache's.
	lo := uint32(0)
	for _, s := range im.Segments {
		if err := t.fault(t.pico.WriteMemory(ctx, s.Addr, s.Data)); err != nil {
			return err
		}
		if lo == 0 || lo < boot.SRAMBase && s.Addr >= boot.SRAMBase || s.Addr < lo && (s.Addr >= boot.SRAMBase) == (lo >= boot.SRAMBase) {
			lo = s.Addr
		}
	}
	for _, s := range im.Segments {
		have := make([]byte, len(s.Data))
		if err := t.fault(t.pico.ReadMemory(ctx, s.Addr, have)); err != nil {
			return err
		}
		if string(have) != string(s.Data) {
			return &faults.Fault{
				Code: faults.CodeVerify, Status: faults.StatusVerify,
				Summary: "RAM does not hold what was written", Seen: fmt.Sprintf("a difference in %d bytes at 0x%08x", len(have), s.Addr),
			}
		}
	}
	lo &^= picoboot.PageSize - 1
	end := uint32(boot.SRAMEnd)
	if lo < boot.SRAMBase {
		end = boot.XIPSRAMEnd
	}
	kind := picoboot.RebootRAMImage
	switch im.Arch {
	case image.ArchARM:
		kind |= picoboot.RebootToArm
	case image.ArchRISCV:
		kind |= picoboot.RebootToRISCV
	case image.ArchUnknown:
	}
	t.next.kind, t.next.p0, t.next.p1 = kind, lo, end-lo
	return nil
}

// Start implements target.Target: the chip restarts, and with it the program that
// was loaded, or the one in flash.
func (t *Target) Start(ctx context.Context) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	return t.reboot(ctx, t.next.kind, t.next.p0, t.next.p1)
}

// Reset implements target.Target.
func (t *Target) Reset(ctx context.Context, mode target.ResetMode) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	if mode == target.ResetHalt {
		return &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "the boot ROM cannot stop a board before its first instruction",
			Wanted:  "a debug probe", Try: []string{"stem-hw reset --bootsel"},
		}
	}
	return t.reboot(ctx, picoboot.RebootNormal, 0, 0)
}

// Bootsel restarts the board into BOOTSEL mode again.
func (t *Target) Bootsel(ctx context.Context) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	return t.reboot(ctx, picoboot.RebootBootsel, 0, 0)
}

func (t *Target) reboot(ctx context.Context, kind picoboot.RebootType, p0, p1 uint32) error {
	t.opt.BeforeRestart()
	if err := t.fault(t.pico.Reboot(ctx, kind, restartDelay, p0, p1)); err != nil {
		return err
	}
	t.gone = true
	return nil
}

// How long a board may take to leave the bus after it was told to restart, and a
// program to show itself on it.
const (
	leaveTime  = 5 * time.Second
	appearTime = 10 * time.Second
	lookEvery  = 50 * time.Millisecond
)

// Left waits until the board has left the bus after Start, Reset or Bootsel: then
// it does restart.
func (t *Target) Left(ctx context.Context) error {
	end := time.Now().Add(leaveTime)
	for {
		all, err := t.bus.Devices(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(d usb.Device) bool { return d.Port == t.device.Port && d.Num == t.device.Num }) {
			return nil
		}
		if !time.Now().Before(end) {
			return &faults.Fault{
				Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
				Summary: "the board was told to restart and did not", Seen: t.device.String() + ", " + modeText(t.device.Mode),
				Try: []string{"unplug the board and plug it in again"},
			}
		}
		w := time.NewTimer(lookEvery)
		select {
		case <-w.C:
		case <-ctx.Done():
			w.Stop()
			return ctx.Err()
		}
	}
}

// Appeared waits for what the board comes back as after Start, Reset or Bootsel,
// and takes the lease over. A program need not use the USB: ok is false then.
func (t *Target) Appeared(ctx context.Context) (d usb.Device, ok bool, err error) {
	limited, cancel := context.WithTimeout(ctx, appearTime)
	defer cancel()
	d, err = t.bus.Follow(limited, t.device, func(*usb.Device) bool { return true })
	if err != nil {
		if ctx.Err() != nil {
			return d, false, ctx.Err()
		}
		return d, false, nil
	}
	return d, true, t.move(ctx, d)
}

// Console implements target.Target: a board in BOOTSEL mode has none.
func (t *Target) Console() io.ReadWriter { return nil }

// Close implements target.Target. A program that was interrupted stays so:
// Resume starts it again.
func (t *Target) Close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	var errs []error
	if t.pico != nil && !t.gone {
		errs = append(errs, t.pico.Close())
	}
	if t.conn != nil {
		errs = append(errs, t.conn.Close())
	}
	return errors.Join(append(errs, t.lease.Release())...)
}

// Resume starts what is in flash if the board ran a program when it was opened.
func (t *Target) Resume(ctx context.Context) (resumed bool, err error) {
	if t.was.Mode == board.ModeBootsel || t.gone || t.closed {
		return false, nil
	}
	return true, t.reboot(ctx, picoboot.RebootNormal, 0, 0)
}

// fault turns an error of the protocol into what a person reads.
func (t *Target) fault(err error) error {
	var st *picoboot.StatusError
	switch {
	case err == nil || faults.Of(err) != nil:
		return err
	case errors.Is(err, usb.ErrGone):
		return &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost,
			Summary: "the board left the USB in the middle of it", Seen: t.device.String(), Wanted: "the board to stay plugged in", Err: err,
			Try: []string{"plug it in with the button BOOTSEL held, and run the same command again"},
		}
	case errors.As(err, &st) && st.Code == picoboot.NotPermitted && st.Command != picoboot.Reboot2:
		return &faults.Fault{
			Code: faults.CodeRefused, Status: faults.StatusRefused,
			Summary: "the board's partition table, or its fuses, do not permit this", Err: err,
			Try: []string{"stem-hw info -b usb:" + t.device.Port},
		}
	case errors.Is(err, context.DeadlineExceeded):
		return &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
			Summary: "the board does not answer in time", Seen: t.device.String(), Err: err,
			Try: []string{"unplug the board and plug it in again with BOOTSEL held"},
		}
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &st) && (st.Command == picoboot.FlashErase || st.Command == picoboot.Write):
		return &faults.Fault{
			Code: faults.CodeWriteFailed, Status: faults.StatusWrite, Summary: "the board was not written", Err: err,
			Try: []string{"run the same command again"},
		}
	}
	return &faults.Fault{
		Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "the board does not do what it was asked for", Err: err,
		Try: []string{"unplug the board and plug it in again with BOOTSEL held"},
	}
}
