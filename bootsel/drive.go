package bootsel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/uf2"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

// DriveOptions say how an image goes to the drive.
type DriveOptions struct {
	Options
	// Progress, which may be nil, hears of how many bytes of blocks are written.
	Progress func(phase string, done, total int)

	// open opens the drive; nil is openDrive.
	open func(ctx context.Context, d usb.Drive, again func(context.Context) (usb.Device, bool, error)) (driveWriter, string, error)
}

// Times of the drive: a kernel takes a second or two to find the disk and its
// partition; the boot ROM restarts half a second after the last block.
const (
	diskTime   = 20 * time.Second
	finishTime = 4 * time.Second
)

// ToDrive writes an image to the drive of a board in BOOTSEL mode, and returns
// the number of blocks. The board restarts when it has them all; if it stays, it
// is asked why.
func ToDrive(ctx context.Context, bus Bus, d usb.Device, im *image.Image, o DriveOptions) (int, error) {
	b, err := blocksOf(im)
	if err != nil {
		return 0, err
	}
	h, err := take(ctx, bus, d, o.Options)
	if err != nil {
		return 0, err
	}
	defer func() { _ = h.lease.Release() }()
	if err := h.ready(ctx, im); err != nil {
		return 0, err
	}
	drive, err := h.drive(ctx)
	if err != nil {
		return 0, err
	}
	if o.open == nil {
		o.open = openDrive
	}
	w, how, err := o.open(ctx, drive, h.again)
	if err != nil {
		return 0, err
	}
	h.opt.Say("writing %d blocks to the drive of the board at usb %s, %s", b.count, h.device.Port, how)
	tell := o.Progress
	if tell == nil {
		tell = func(string, int, int) {}
	}
	err = b.write(ctx, w, tell)
	cerr := w.Close()
	if err == nil && h.left(ctx, finishTime) {
		// The last block makes the board leave, often before the host is done.
		return b.count, nil
	}
	if ctx.Err() != nil {
		return 0, &faults.Fault{
			Code: faults.CodeInterrupted, Status: faults.StatusInterrupted, Summary: "interrupted",
			Details: []string{"not all blocks were written; the board waits in BOOTSEL mode, the program in flash will not start"},
			Try:     []string{"run the same command again"},
		}
	}
	return 0, h.whyNot(ctx, errors.Join(err, cerr))
}

// write sends the pieces one after the other.
func (b *blocks) write(ctx context.Context, w driveWriter, tell func(string, int, int)) error {
	const step = 128 * uf2.BlockSize
	done, total := 0, b.count*uf2.BlockSize
	tell("writing", 0, total)
	for _, p := range b.pieces {
		for len(p) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(p), step)
			if err := w.Put(p[:n]); err != nil {
				if done+n == total {
					return nil // it left already
				}
				return err
			}
			p = p[n:]
			done += n
			tell("writing", done, total)
		}
	}
	return nil
}

// ready asks the chip who it is and whether it takes the image, where PICOBOOT is
// to be had; the serial number of BOOTSEL mode says who it is too.
func (h *held) ready(ctx context.Context, im *image.Image) error {
	i, ok := picobootOf(h.device)
	var conn usb.Conn
	err := errors.New("no PICOBOOT")
	if ok {
		conn, err = h.bus.Open(ctx, h.device, i.Number)
	}
	if err != nil {
		return board.CheckChip(h.opt.ChipID, h.device.Serial, "usb "+h.device.Port)
	}
	t := &Target{held: h, conn: conn}
	defer conn.Close()
	// Opening makes flash readable (erratum RP2350-E10), without which the ROM
	// would not find a partition table that decides about the file.
	if t.pico, err = picoboot.Open(ctx, conn, i); err != nil {
		return t.fault(err)
	}
	t.pico.Trace = h.opt.Trace
	if t.system, err = t.pico.System(ctx); err != nil {
		return t.fault(err)
	}
	if err := board.CheckChip(h.opt.ChipID, t.ChipID(), "usb "+h.device.Port); err != nil {
		return err
	}
	if err := t.CheckArch(im.Arch); err != nil {
		return err
	}
	family, _, err := im.FamilyFor()
	if err != nil {
		return err
	}
	tg, err := t.pico.Target(ctx, family)
	if err != nil {
		return t.fault(err)
	}
	if !tg.Accepted {
		return &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage,
			Summary: "the board does not take this file from its drive", Seen: "family " + uf2.FamilyName(family),
			Try: []string{"stem-hw info -b usb:" + h.device.Port},
		}
	}
	return nil
}

// again looks at the board once more.
func (h *held) again(ctx context.Context) (usb.Device, bool, error) {
	all, err := h.bus.Devices(ctx)
	for _, d := range all {
		if d.Port == h.device.Port && d.Num == h.device.Num {
			return d, true, nil
		}
	}
	return usb.Device{}, false, err
}

// drive waits until the kernel has found the board's drive.
func (h *held) drive(ctx context.Context) (usb.Drive, error) {
	if _, ok := h.device.Find(usb.InterfaceStorage); !ok {
		return usb.Drive{}, &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "the board shows no drive", Seen: h.device.String(),
			Wanted: "its interface, which OTP or the request for BOOTSEL mode switched off",
			Try:    []string{"use the other way: --via bootsel"},
		}
	}
	var drive usb.Drive
	err := poll(ctx, diskTime, func() (bool, error) {
		d, ok, err := h.again(ctx)
		if err == nil && !ok {
			err = &faults.Fault{
				Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the board left the USB", Seen: h.device.String(),
				Try: []string{"plug it in with the button BOOTSEL held, and run the same command again"},
			}
		}
		if err != nil || d.Drive == nil || d.Drive.Partition == "" {
			return false, err
		}
		drive = *d.Drive
		return true, nil
	})
	if errors.Is(err, errPatience) {
		err = &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
			Summary: "the kernel shows no disk for the board's drive", Seen: h.device.String(),
			Wanted: "the module usb-storage, and nobody who ejected the disk", Try: []string{"use the other way: --via bootsel"},
		}
	}
	return drive, err
}

// left reports whether the board leaves the bus in time.
func (h *held) left(ctx context.Context, limit time.Duration) bool {
	return poll(ctx, limit, func() (bool, error) {
		_, ok, err := h.again(ctx)
		return err == nil && !ok, err
	}) == nil
}

// whyNot asks the boot ROM why it did not start what came.
func (h *held) whyNot(ctx context.Context, cause error) error {
	f := &faults.Fault{
		Code: faults.CodeWriteFailed, Status: faults.StatusWrite,
		Summary: "the board did not start what was written to its drive", Err: cause,
		Details: []string{"the board waits in BOOTSEL mode"}, Try: []string{"use the other way: --via bootsel"},
	}
	d, ok, err := h.again(ctx)
	if err == nil && !ok {
		return &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the board left the USB before it had all blocks", Err: cause,
			Try: []string{"plug it in with the button BOOTSEL held, and run the same command again"},
		}
	}
	if i, ok := picobootOf(d); ok {
		if conn, err := h.bus.Open(ctx, d, i.Number); err == nil {
			defer conn.Close()
			if p, err := picoboot.Open(ctx, conn, i); err == nil {
				if s, err := p.UF2Status(ctx); err == nil {
					f.Seen = s.String()
				}
			}
		}
	}
	return f
}

var errPatience = errors.New("the time is up")

// poll asks again and again.
func poll(ctx context.Context, limit time.Duration, f func() (bool, error)) error {
	end := time.Now().Add(limit)
	for {
		ok, err := f()
		if err != nil || ok {
			return err
		}
		if !time.Now().Before(end) {
			return fmt.Errorf("%w: %s", errPatience, limit)
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
