//go:build linux

package rig

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Monitor follows every transfer of a bus from its begin to its end, by the
// kernel's usbmon (Linux, Documentation/usb/usbmon.rst).
type Monitor struct {
	fd     int
	cancel chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	open    map[uint64]monEvent // by the transfer's address
	seen    int
	dropped int
	err     error
}

// monEvent is the kernel's struct mon_bin_hdr (drivers/usb/mon/mon_bin.c).
type monEvent struct {
	id                           uint64
	kind, xfer, endpoint, device uint8
	_                            uint16
	_, _                         int8
	_                            int64
	_                            int32
	status                       int32
	length                       uint32
	_                            [28]byte
}

func (e monEvent) String() string {
	return fmt.Sprintf("%c %s of device %d, endpoint %#02x, %d bytes, status %d", e.kind,
		[...]string{"isochronous", "interrupt", "control", "bulk"}[e.xfer&3], e.device, e.endpoint, e.length, e.status)
}

// Requests of usbmon, and the greatest ring that it makes.
const (
	monGet   = 1<<30 | unsafe.Sizeof(monGetArg{})<<16 | 0x92<<8 | 10
	monRing  = 0x92<<8 | 4
	monStats = 2<<30 | unsafe.Sizeof([2]uint32{})<<16 | 0x92<<8 | 3
	ringSize = 1200 << 10
)

type monGetArg struct {
	event *monEvent
	data  unsafe.Pointer
	room  uintptr
}

// Watch begins to follow a bus; with the test it ends.
func Watch(t testing.TB, bus int) *Monitor {
	t.Helper()
	need(t)
	fd, err := unix.Open(fmt.Sprintf("/dev/usbmon%d", bus), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("usbmon: %v", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), monRing, ringSize); errno != 0 {
		_ = unix.Close(fd)
		t.Fatalf("usbmon's ring: %v", errno)
	}
	m := &Monitor{fd: fd, open: map[uint64]monEvent{}, cancel: make(chan struct{}), done: make(chan struct{})}
	go m.follow()
	t.Cleanup(func() {
		close(m.cancel)
		<-m.done
		_ = unix.Close(fd)
	})
	return m
}

// follow takes events until it is cancelled.
func (m *Monitor) follow() {
	defer close(m.done)
	for {
		select {
		case <-m.cancel:
			return
		default:
		}
		var e monEvent
		switch err := m.next(&e); {
		case errors.Is(err, unix.EWOULDBLOCK):
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLIN}}, 100); err != nil && !errors.Is(err, unix.EINTR) {
				m.fail(err)
				return
			}
		case errors.Is(err, unix.EINTR):
		case err != nil:
			m.fail(err)
			return
		default:
			m.take(e)
		}
	}
}

func (m *Monitor) next(e *monEvent) error {
	var none [1]byte
	arg := monGetArg{event: e, data: unsafe.Pointer(&none[0])}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m.fd), monGet, uintptr(unsafe.Pointer(&arg))); errno != 0 {
		return errno
	}
	return nil
}

func (m *Monitor) fail(err error) {
	m.mu.Lock()
	m.err = err
	m.mu.Unlock()
}

// take notes an event: S begins a transfer, C completes it, E could not begin it.
func (m *Monitor) take(e monEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen++
	if e.kind == 'S' {
		m.open[e.id] = e
	} else {
		delete(m.open, e.id)
	}
}

// Transfers counts the events so far.
func (m *Monitor) Transfers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen
}

// pending are the transfers that wait, those of the root hub left out.
func (m *Monitor) pending() (list []string, err error) {
	var stats [2]uint32
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m.fd), monStats, uintptr(unsafe.Pointer(&stats)))
	m.mu.Lock()
	defer m.mu.Unlock()
	if errno != 0 && m.err == nil {
		m.err = errno
	}
	m.dropped += int(stats[1])
	for _, e := range m.open {
		if e.device != 1 {
			list = append(list, e.String())
		}
	}
	return list, m.err
}

// NoLeak fails the test if a transfer is never completed. Should usbmon itself
// have lost events there is no telling; what is left then is the module, which
// Kernel unloads.
func (m *Monitor) NoLeak(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		list, err := m.pending()
		switch {
		case err != nil:
			t.Fatalf("usbmon: %v", err)
		case len(list) == 0:
			return
		case time.Now().Before(end):
		case m.dropped > 0:
			t.Logf("usbmon lost %d events: of these transfers the end was perhaps not seen: %q", m.dropped, list)
			return
		default:
			t.Fatalf("transfers that nobody completed: %q", list)
		}
	}
}
