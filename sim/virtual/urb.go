package virtual

import "encoding/binary"

// Status is how a URB ended, numbered as Linux does (USB/IP carries it).
type Status int32

const (
	StatusOK         Status = 0
	StatusNoEndpoint Status = -2   // ENOENT
	StatusStall      Status = -32  // EPIPE
	StatusProtocol   Status = -71  // EPROTO: nobody answers
	StatusOverflow   Status = -75  // EOVERFLOW: more came than there is room for
	StatusUnlinked   Status = -104 // ECONNRESET
	StatusGone       Status = -108 // ESHUTDOWN
	StatusShort      Status = -121 // EREMOTEIO: less came, and that was not allowed
)

// Setup is the packet that begins a control transfer (USB 2.0, 9.3).
type Setup struct {
	Type, Request        uint8
	Value, Index, Length uint16
}

// ParseSetup reads the eight bytes of a SETUP packet.
func ParseSetup(p [8]byte) Setup {
	le := binary.LittleEndian
	return Setup{p[0], p[1], le.Uint16(p[2:]), le.Uint16(p[4:]), le.Uint16(p[6:])}
}

// Bytes is the packet.
func (s Setup) Bytes() (p [8]byte) {
	p[0], p[1] = s.Type, s.Request
	le := binary.LittleEndian
	le.PutUint16(p[2:], s.Value)
	le.PutUint16(p[4:], s.Index)
	le.PutUint16(p[6:], s.Length)
	return p
}

// In reports whether the data stage goes to the host.
func (s Setup) In() bool { return s.Type&0x80 != 0 }

// Fields of Setup.Type.
const (
	kindMask     = 0x60
	kindStandard = 0x00
	kindClass    = 0x20
	kindVendor   = 0x40

	toMask      = 0x1f
	toDevice    = 0
	toInterface = 1
	toEndpoint  = 2
)

// URB is one transfer.
type URB struct {
	// Endpoint is its number without the direction, In the direction.
	Endpoint uint8
	In       bool
	// Setup is of meaning for endpoint 0.
	Setup Setup
	// Data is what is sent. When an IN transfer is complete it is what came.
	Data []byte
	// Length is the room of an IN transfer.
	Length int
	// ZeroPacket ends an OUT transfer of whole packets with an empty one.
	ZeroPacket bool
	// ShortNotOK makes an IN transfer fail that brings less than Length.
	ShortNotOK bool
	// Done, which may be nil, is called once when the transfer is complete.
	Done func(u *URB)

	// Status and Actual, the bytes that were moved, are set before Done.
	Status Status
	Actual int

	finished bool
}

// Complete reports whether the transfer has ended.
func (u *URB) Complete() bool { return u.finished }

// address is the endpoint's address.
func (u *URB) address() uint8 {
	if u.In {
		return u.Endpoint&15 | 0x80
	}
	return u.Endpoint & 15
}

// finish ends the transfer.
func (u *URB) finish(s Status) {
	if u.finished {
		return
	}
	u.finished = true
	if u.In {
		u.Actual = len(u.Data)
		if s == StatusOK && u.ShortNotOK && u.Actual < u.Length {
			s = StatusShort
		}
	}
	u.Status = s
	if u.Done != nil {
		u.Done(u)
	}
}

// Device is what a host sees at one address.
type Device interface {
	// Descriptors are the device descriptor and the first configuration with
	// all that is in it.
	Descriptors() (device, config []byte)
	// Reset is a reset of the bus: all transfers end, the device is not
	// configured.
	Reset()
	// Submit begins a transfer. It never waits; u.Done may be called within.
	Submit(u *URB)
	// Unlink ends a transfer with StatusUnlinked; false if it was complete.
	Unlink(u *URB) bool
	// Poll lets transfers go on that waited for the device.
	Poll()
}
