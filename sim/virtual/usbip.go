package virtual

import (
	"encoding/binary"
	"fmt"
	"io"
)

// USB/IP 1.1.1 (Linux, Documentation/usb/usbip_protocol.rst).
const (
	usbipVersion = 0x0111

	opReqDevlist = 0x8005
	opRepDevlist = 0x0005
	opReqImport  = 0x8003
	opRepImport  = 0x0003

	opOK     = 0
	opBusy   = 2
	opNoDev  = 4
	busIDLen = 32
	pathLen  = 256

	usbipSubmit    = 1
	usbipUnlink    = 2
	usbipRetSubmit = 3
	usbipRetUnlink = 4
	usbipHeader    = 48

	speedFull = 2

	flagShortNotOK = 0x0001
	flagZeroPacket = 0x0040

	// maxTransfer bounds what a client can make us hold.
	maxTransfer = 16 << 20
	// noPackets marks what is not isochronous.
	noPackets = 0xffffffff
)

// operation is a request before a device is imported.
type operation struct {
	code  uint16
	busID string
}

// readOperation reads one. io.EOF is the orderly end.
func readOperation(r io.Reader) (op operation, err error) {
	var h [8]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return op, err
	}
	be := binary.BigEndian
	if v := be.Uint16(h[:]); v != usbipVersion {
		return op, fmt.Errorf("the client speaks USB/IP version %#04x; %#04x is spoken here", v, usbipVersion)
	}
	op.code = be.Uint16(h[2:])
	switch op.code {
	case opReqDevlist:
		return op, nil
	case opReqImport:
		var id [busIDLen]byte
		if _, err := io.ReadFull(r, id[:]); err != nil {
			return op, cutOff(err)
		}
		n := 0
		for n < len(id) && id[n] != 0 {
			n++
		}
		op.busID = string(id[:n])
		return op, nil
	}
	return op, fmt.Errorf("USB/IP operation %#04x is unknown; the list (%#04x) and import (%#04x) are known", op.code, opReqDevlist, opReqImport)
}

// cutOff makes an end in the middle of something an error.
func cutOff(err error) error {
	if err == io.EOF { //nolint:errorlint // io.ReadFull returns it as it is
		return io.ErrUnexpectedEOF
	}
	return err
}

// usbipCommand is CMD_SUBMIT or CMD_UNLINK.
type usbipCommand struct {
	unlink   bool
	seq      uint32
	in       bool
	endpoint uint8
	flags    uint32
	length   int
	setup    Setup
	data     []byte
	victim   uint32
}

// readCommand reads one with its data.
func readCommand(r io.Reader) (c usbipCommand, err error) {
	var h [usbipHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return c, err
	}
	be := binary.BigEndian
	c.seq = be.Uint32(h[4:])
	switch cmd := be.Uint32(h[:]); cmd {
	case usbipUnlink:
		c.unlink, c.victim = true, be.Uint32(h[20:])
		return c, nil
	case usbipSubmit:
	default:
		return c, fmt.Errorf("USB/IP command %d is unknown; submit (1) and unlink (2) are known", cmd)
	}
	dir, ep, length, packets := be.Uint32(h[12:]), be.Uint32(h[16:]), be.Uint32(h[24:]), be.Uint32(h[32:])
	switch {
	case dir > 1 || ep > 15:
		return c, fmt.Errorf("USB/IP submit for direction %d of endpoint %d", dir, ep)
	case length > maxTransfer:
		return c, fmt.Errorf("USB/IP submit of %d bytes; at most %d are taken", length, maxTransfer)
	case packets != 0 && packets != noPackets:
		return c, fmt.Errorf("an isochronous transfer of %d packets; no device here has such endpoints", packets)
	}
	c.in, c.endpoint, c.flags, c.length = dir == 1, uint8(ep), be.Uint32(h[20:]), int(length)
	c.setup = ParseSetup([8]byte(h[40:48]))
	if !c.in && c.length > 0 {
		c.data = make([]byte, c.length)
		if _, err := io.ReadFull(r, c.data); err != nil {
			return c, cutOff(err)
		}
	}
	return c, nil
}

// urb is the transfer that a submit asks for.
func (c *usbipCommand) urb() *URB {
	return &URB{
		Endpoint: c.endpoint, In: c.in, Setup: c.setup, Data: c.data, Length: c.length,
		ZeroPacket: c.flags&flagZeroPacket != 0, ShortNotOK: c.flags&flagShortNotOK != 0,
	}
}

// retSubmit answers a submit.
func retSubmit(seq uint32, in bool, u *URB) []byte {
	be := binary.BigEndian
	b := make([]byte, usbipHeader)
	be.PutUint32(b, usbipRetSubmit)
	be.PutUint32(b[4:], seq)
	be.PutUint32(b[20:], uint32(u.Status))
	be.PutUint32(b[24:], uint32(u.Actual))
	be.PutUint32(b[32:], noPackets)
	if in {
		b = append(b, u.Data[:u.Actual]...)
	}
	return b
}

// retUnlink answers an unlink.
func retUnlink(seq uint32, s Status) []byte {
	b := make([]byte, usbipHeader)
	binary.BigEndian.PutUint32(b, usbipRetUnlink)
	binary.BigEndian.PutUint32(b[4:], seq)
	binary.BigEndian.PutUint32(b[20:], uint32(s))
	return b
}

// reply begins the answer to an operation.
func reply(code uint16, status uint32) []byte {
	be := binary.BigEndian
	return be.AppendUint32(be.AppendUint16(be.AppendUint16(nil, usbipVersion), code), status)
}

// describe is a device as lists and imports show it, without its interfaces.
func (p *Port) describe() []byte {
	be, le := binary.BigEndian, binary.LittleEndian
	d, c := p.dev.Descriptors()
	b := make([]byte, pathLen+busIDLen)
	copy(b[:pathLen-1], "/sys/devices/platform/stem-hw/usb"+fmt.Sprint(p.Bus)+"/"+p.BusID)
	copy(b[pathLen:len(b)-1], p.BusID)
	b = be.AppendUint32(b, p.Bus)
	b = be.AppendUint32(b, p.Number)
	b = be.AppendUint32(b, speedFull)
	b = be.AppendUint16(b, le.Uint16(d[8:]))
	b = be.AppendUint16(b, le.Uint16(d[10:]))
	b = be.AppendUint16(b, le.Uint16(d[12:]))
	return append(b, d[4], d[5], d[6], c[5], d[17], c[4])
}
