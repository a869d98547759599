package boards

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
)

// serve carries the traffic of a device that the guest is given, until one of
// them goes.
func (b *Board) serve(to wire.Attach, busID string) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	served := make(chan error, 1)
	go func() { served <- b.server.Serve(b.ctx, theirs) }()
	// The kernel takes over where usbip's tools have imported the device.
	if err := importDevice(ours, busID); err != nil {
		b.log("rig: %s: %v", busID, err) // it is gone again
		return
	}
	guest, err := b.attacher.Attach(to)
	if err != nil {
		b.log("rig: port %d: %v", to.Port, err)
		return
	}
	go func() {
		_, _ = io.Copy(ours, guest)
		ours.Close()
	}()
	_, _ = io.Copy(guest, ours)
	_ = guest.Close()
	ours.Close()
	if err := <-served; err != nil {
		b.log("rig: port %d: %v", to.Port, err)
	}
}

// importDevice does what usbip attach does (Linux,
// Documentation/usb/usbip_protocol.rst).
func importDevice(conn io.ReadWriter, busID string) error {
	const version, request, answered = 0x0111, 0x8003, 8 + 312
	req := binary.BigEndian.AppendUint16(nil, version)
	req = binary.BigEndian.AppendUint16(req, request)
	req = append(req, make([]byte, 4+32)...)
	copy(req[8:], busID)
	if _, err := conn.Write(req); err != nil {
		return err
	}
	var reply [answered]byte
	if _, err := io.ReadFull(conn, reply[:8]); err != nil {
		return err
	}
	if status := binary.BigEndian.Uint32(reply[4:]); status != 0 {
		return fmt.Errorf("the device cannot be had, status %d", status)
	}
	if _, err := io.ReadFull(conn, reply[8:]); err != nil {
		return errors.Join(io.ErrUnexpectedEOF, err)
	}
	return nil
}
