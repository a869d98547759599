package dap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
)

// HID carries packets of version 1.
type HID struct {
	f    *os.File
	size int
}

// openHID opens the hidraw node of a probe.
func openHID(ctx context.Context, d usb.Device, i usb.Interface, root string) (*HID, error) {
	path := filepath.Join(root, d.HIDRaw[0])
	var fd int
	refused := func(err error) bool { return errors.Is(err, fs.ErrPermission) }
	err := usb.WhenReady(ctx, root, d.HIDRaw[0], refused, func() (err error) {
		fd, err = unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	switch {
	case refused(err):
		d.Node.Path = d.HIDRaw[0]
		if st, serr := os.Stat(path); serr == nil {
			d.Node.Perm = uint32(st.Mode().Perm())
		}
		return nil, usb.NoAccess(d)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return nil, &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost,
			Summary: "the device went away", Seen: d.String(), Try: []string{"stem-hw list"},
		}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	size := packetSize
	for _, e := range i.Endpoints {
		if e.Type == "interrupt" && e.MaxPacket > 0 {
			size = max(size, e.MaxPacket)
		}
	}
	return NewHID(ctx, os.NewFile(uintptr(fd), path), size)
}

// NewHID carries packets over an open hidraw node; size is that of a report.
func NewHID(ctx context.Context, f *os.File, size int) (*HID, error) {
	h := &HID{f: f, size: size}
	for range mostPackets {
		wait, cancel := context.WithTimeout(ctx, staleTime)
		_, err := h.Receive(wait)
		cancel()
		if err == nil {
			continue
		}
		if ctx.Err() != nil || errors.Is(err, usb.ErrGone) {
			_ = f.Close()
			return nil, err
		}
		break
	}
	return h, nil
}

// Send hands one packet over, as a report without a number.
func (h *HID) Send(ctx context.Context, packet []byte) error {
	if len(packet) > h.size {
		return fmt.Errorf("a packet of %d bytes for a report of %d", len(packet), h.size)
	}
	report := make([]byte, 1+h.size)
	copy(report[1:], packet)
	return h.during(ctx, func() error {
		_, err := h.f.Write(report)
		return err
	})
}

// Receive waits for the next answer.
func (h *HID) Receive(ctx context.Context) (packet []byte, err error) {
	p := make([]byte, h.size)
	err = h.during(ctx, func() error {
		n, err := h.f.Read(p)
		packet = p[:n]
		return err
	})
	return packet, err
}

// during lets ctx interrupt f.
func (h *HID) during(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	end, _ := ctx.Deadline()
	_ = h.f.SetDeadline(end)
	stop := context.AfterFunc(ctx, func() { _ = h.f.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := f()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return context.DeadlineExceeded
	}
	return fmt.Errorf("%w: %w", usb.ErrGone, err)
}

// Close gives the node back.
func (h *HID) Close() error { return h.f.Close() }
