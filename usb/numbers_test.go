package usb_test

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// numbers are those of a file as /proc/locks has them.
func numbers(st fs.FileInfo) (major, minor uint32, ino uint64) {
	s := st.Sys().(*syscall.Stat_t)
	return unix.Major(s.Dev), unix.Minor(s.Dev), s.Ino
}
