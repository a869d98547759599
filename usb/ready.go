package usb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// readyTime bounds the wait for udev's rules. On a busy machine they take
	// seconds.
	readyTime = 10 * time.Second
	// readyEvery is how often is looked meanwhile.
	readyEvery = 20 * time.Millisecond
)

// WhenReady opens a device node by calling open, and if that is refused calls it
// again when udev is done with the node. The kernel makes nodes that root alone
// may open; for a moment after a board was plugged in, or restarted, udev's rules
// have not given it to anybody yet. root is where the machine's "/" is. Where no
// udev runs there is nothing to wait for.
func WhenReady(ctx context.Context, root, node string, refused func(error) bool, open func() error) error {
	err := open()
	if err == nil || !refused(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for udevWorksOn(root, node) {
		if sleep(ctx, readyEvery) != nil {
			break
		}
		if err = open(); err == nil || !refused(err) {
			return err
		}
	}
	// It may have been done between the last try and the last look.
	return open()
}

// udevWorksOn reports whether udev has still something to do for a node: it has
// not written its record of the device, or has not done all that was to do. A
// record comes behind owner and mode, but before access lists and programs
// (systemd, src/udev/udev-event.c); with the last event the queue's file goes.
func udevWorksOn(root, node string) bool {
	if _, err := os.Stat(filepath.Join(root, "run/udev/control")); err != nil {
		return false
	}
	name := recordOf(filepath.Join(root, node))
	if name == "" {
		return false // it went away
	}
	record, err := os.ReadFile(filepath.Join(root, "run/udev/data", name))
	if err != nil || !finished(string(record)) {
		return true
	}
	_, err = os.Stat(filepath.Join(root, "run/udev/queue"))
	return err == nil
}

// recordOf is the name of udev's record of a device: "c189:4". It is empty for
// what is no device.
func recordOf(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	kind := map[uint32]string{unix.S_IFCHR: "c", unix.S_IFBLK: "b"}[st.Mode&unix.S_IFMT]
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("%s%d:%d", kind, unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// finished reports whether a record is of a device whose rules were run: it says
// since when (I), and not that they run just now.
func finished(record string) bool {
	since := false
	for line := range strings.Lines(record) {
		switch line = strings.TrimSpace(line); {
		case line == "E:ID_PROCESSING=1":
			return false
		case strings.HasPrefix(line, "I:"):
			since = true
		}
	}
	return since
}
