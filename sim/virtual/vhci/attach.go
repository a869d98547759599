//go:build linux

package vhci

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Attach plugs a device into a free port and returns the connection on which the
// kernel now sends CMD_SUBMIT and CMD_UNLINK. bus and number are what usbip port
// shows as the device's address; they mean nothing to the kernel.
func (c *Controller) Attach(port int, bus, number uint32) (net.Conn, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	ours := os.NewFile(uintptr(fds[1]), "vhci")
	defer ours.Close() // net.FileConn has its own
	// The kernel takes a reference of its own to its half.
	defer unix.Close(fds[0])
	line := fmt.Sprintf("%d %d %d %d", port, fds[0], bus<<16|number, FullSpeed)
	if err := os.WriteFile(filepath.Join(c.dir, "attach"), []byte(line), 0); err != nil {
		if errors.Is(err, unix.EBUSY) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("vhci port %d: %w", port, err)
	}
	return net.FileConn(ours)
}
