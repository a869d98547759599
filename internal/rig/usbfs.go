//go:build linux

package rig

import (
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Raw is a device opened through the kernel's usbfs, with nothing in between: to
// do to it what no library would.
type Raw struct {
	t testing.TB
	f *os.File
}

// Open opens the device; it is closed with the test.
func (d *Device) Open(t testing.TB) *Raw {
	t.Helper()
	f, err := os.OpenFile(d.Node(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &Raw{t, f}
}

// Close closes it.
func (r *Raw) Close() { r.f.Close() }

// Requests of usbfs, and what they take (Linux, include/uapi/linux/usbdevice_fs.h).
type (
	controlTransfer struct {
		kind, request        uint8
		value, index, length uint16
		timeout              uint32 // in ms
		_                    uint32
		data                 unsafe.Pointer
	}
	bulkTransfer struct {
		endpoint, length, timeout uint32
		_                         uint32
		data                      unsafe.Pointer
	}
)

const (
	dirRead  = 2 << 30
	dirBoth  = 3 << 30
	usbLimit = 20_000 // ms

	usbdevfsControl   = dirBoth | unsafe.Sizeof(controlTransfer{})<<16 | 'U'<<8
	usbdevfsBulk      = dirBoth | unsafe.Sizeof(bulkTransfer{})<<16 | 'U'<<8 | 2
	usbdevfsClaim     = dirRead | 4<<16 | 'U'<<8 | 15
	usbdevfsRelease   = dirRead | 4<<16 | 'U'<<8 | 16
	usbdevfsReset     = 'U'<<8 | 20
	usbdevfsClearHalt = dirRead | 4<<16 | 'U'<<8 | 21
)

func (r *Raw) ioctl(request uintptr, arg unsafe.Pointer) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, r.f.Fd(), request, uintptr(arg))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func (r *Raw) number(request uintptr, n uint32) {
	r.t.Helper()
	if _, err := r.ioctl(request, unsafe.Pointer(&n)); err != nil {
		r.t.Fatalf("usbfs request %#x of %d: %v", request, n, err)
	}
}

// Claim claims an interface, Release gives it back.
func (r *Raw) Claim(i int) { r.t.Helper(); r.number(usbdevfsClaim, uint32(i)) }

// Release gives an interface back.
func (r *Raw) Release(i int) { r.t.Helper(); r.number(usbdevfsRelease, uint32(i)) }

// ClearHalt clears the halt of an endpoint.
func (r *Raw) ClearHalt(endpoint uint8) { r.t.Helper(); r.number(usbdevfsClearHalt, uint32(endpoint)) }

// Reset resets the port.
func (r *Raw) Reset() error {
	_, err := r.ioctl(usbdevfsReset, nil)
	return err
}

// Control makes a control transfer. Data are what is sent, or room for what
// comes.
func (r *Raw) Control(kind, request uint8, value, index uint16, data []byte) (n int, err error) {
	buf := append(data, 0)[:len(data)+1]
	c := controlTransfer{
		kind: kind, request: request, value: value, index: index, length: uint16(len(data)), timeout: usbLimit,
		data: unsafe.Pointer(&buf[0]),
	}
	n, err = r.ioctl(usbdevfsControl, unsafe.Pointer(&c))
	runtime.KeepAlive(buf)
	copy(data, buf)
	return n, err
}

// Bulk makes a bulk transfer in the direction of the endpoint's address, and
// gives up after a limit in milliseconds; 0 is patient.
func (r *Raw) Bulk(endpoint uint8, data []byte, limit int) (n int, err error) {
	if limit == 0 {
		limit = usbLimit
	}
	buf := append(data, 0)[:len(data)+1]
	b := bulkTransfer{endpoint: uint32(endpoint), length: uint32(len(data)), timeout: uint32(limit), data: unsafe.Pointer(&buf[0])}
	n, err = r.ioctl(usbdevfsBulk, unsafe.Pointer(&b))
	runtime.KeepAlive(buf)
	copy(data, buf)
	return n, err
}

// Control makes a control transfer to the host. err is EPIPE for a stall.
func (d *Device) Control(t testing.TB, kind, request uint8, value, index uint16, room int) (data []byte, err error) {
	t.Helper()
	r := d.Open(t)
	defer r.Close()
	data = make([]byte, room)
	n, err := r.Control(kind, request, value, index, data)
	return data[:n], err
}
