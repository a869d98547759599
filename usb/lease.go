package usb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

// Holder is who has a board for himself.
type Holder struct {
	PID int `json:"pid"`
	// User is an account's name, or its number without one.
	User string `json:"user,omitempty"`
	// Verb is what the holder does ("flash"), Since when he began.
	Verb  string    `json:"verb,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// String says it in words.
func (h Holder) String() string {
	s := fmt.Sprintf("process %d", h.PID)
	if h.User != "" {
		s += " of " + h.User
	}
	if h.Verb != "" {
		s = h.Verb + ", " + s
	}
	if !h.Since.IsZero() {
		s += ", since " + h.Since.Local().Format("15:04:05")
	}
	return s
}

// Lease is a board that this process has for itself: an exclusive flock on the
// device node, which every account sees, with a record beside it that says who
// and why. The kernel drops it with its holder.
type Lease struct {
	finder *Finder
	device Device
	verb   string
	node   *os.File
	record string
}

// ErrMoved is a board that was plugged in anew while it was waited for.
var ErrMoved = errors.New("the board was plugged in anew")

// Lease takes a board for this process. While somebody else has it, it waits up
// to wait; those who wait get it in the order in which they came. waiting, if
// not nil, is called once with the holder when there is something to wait for.
// A board that comes back as another device meanwhile is ErrMoved: find it again.
func (f *Finder) Lease(ctx context.Context, d Device, verb string, wait time.Duration, waiting func(Holder)) (*Lease, error) {
	var file *os.File
	err := WhenReady(ctx, f.sys.Dir, d.Node.Path, refusedFile, func() (err error) {
		file, err = os.OpenFile(filepath.Join(f.sys.Dir, d.Node.Path), os.O_RDWR|unix.O_CLOEXEC, 0)
		return err
	})
	switch {
	case refusedFile(err):
		return nil, NoAccess(seenNow(f.sys, d))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return nil, ErrMoved
	case err != nil:
		return nil, openFault(d, err)
	}
	err = flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		if wait <= 0 {
			_ = file.Close()
			return nil, f.busy(d)
		}
		if waiting != nil {
			if h := f.Holder(d); h != nil {
				waiting(*h)
			}
		}
		if err = queue(ctx, file, wait); errors.Is(err, errWaited) {
			return nil, f.busy(d)
		}
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, openFault(d, err)
	}
	l := &Lease{finder: f, device: d, verb: verb, node: file}
	if !l.current() {
		_ = l.Release()
		return nil, ErrMoved
	}
	l.write()
	return l, nil
}

func refusedFile(err error) bool { return errors.Is(err, fs.ErrPermission) }

// errWaited is the end of the time to wait.
var errWaited = errors.New("the time to wait is over")

// queue waits for the lock where the kernel keeps the order of those who wait. A
// wait that is given up goes on in its thread until the lock comes, and lets go
// of it at once.
func queue(ctx context.Context, file *os.File, wait time.Duration) error {
	got, gaveUp := make(chan error), make(chan struct{})
	go func() {
		err := flock(file, unix.LOCK_EX)
		select {
		case got <- err:
		case <-gaveUp:
			_ = file.Close()
		}
	}()
	t := time.NewTimer(wait)
	defer t.Stop()
	var err error
	select {
	case err = <-got:
		if err != nil {
			_ = file.Close()
		}
		return err
	case <-t.C:
		err = errWaited
	case <-ctx.Done():
		err = ctx.Err()
	}
	close(gaveUp)
	return err
}

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// busy is the fault for a board that somebody else has.
func (f *Finder) busy(d Device) error {
	h := f.Holder(d)
	seen := "somebody who cannot be seen from here"
	if h != nil {
		seen = h.String()
	}
	return &faults.Fault{
		Code: faults.CodeBusy, Status: faults.StatusBusy,
		Summary: "the board is in use", Seen: seen,
		Try: []string{"the same command with --wait 30s"},
	}
}

// current says that the node locked is the one that is there now.
func (l *Lease) current() bool {
	var mine, now unix.Stat_t
	if unix.Fstat(int(l.node.Fd()), &mine) != nil || unix.Stat(l.node.Name(), &now) != nil {
		return false
	}
	return mine.Dev == now.Dev && mine.Ino == now.Ino && mine.Rdev == now.Rdev
}

// write puts the record beside the lock. It is only for people to read: without
// it the lock holds all the same.
func (l *Lease) write() {
	data, err := json.Marshal(Holder{PID: os.Getpid(), Verb: l.verb, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return
	}
	name := recordName(uint32(os.Geteuid()), l.device.Node.Path)
	for _, dir := range recordDirs {
		dir = filepath.Join(l.finder.sys.Dir, dir)
		tmp, err := os.CreateTemp(dir, "."+name+".*")
		if err != nil {
			continue
		}
		_, err = tmp.Write(append(data, '\n'))
		err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
		if err == nil {
			err = os.Rename(tmp.Name(), filepath.Join(dir, name))
		}
		if err != nil {
			_ = os.Remove(tmp.Name())
			continue
		}
		l.record = filepath.Join(dir, name)
		return
	}
}

// Device is what the lease is for.
func (l *Lease) Device() Device { return l.device }

// Move takes the lease over to the device that the board has come back as. The
// new node is locked before the old one is let go; if somebody else was faster,
// the fault says so and the lease is at its end.
func (l *Lease) Move(ctx context.Context, to Device) error {
	next, err := l.finder.Lease(ctx, to, l.verb, 0, nil)
	if err != nil {
		_ = l.Release()
		return err
	}
	_ = l.Release()
	*l = *next
	return nil
}

// Release gives the board back. It may be called again.
func (l *Lease) Release() error {
	if l == nil || l.node == nil {
		return nil
	}
	if l.record != "" {
		_ = os.Remove(l.record)
	}
	err := l.node.Close()
	l.node, l.record = nil, ""
	return err
}

// Holder returns who has a board for himself, nil if nobody has. It opens
// nothing.
func (f *Finder) Holder(d Device) *Holder {
	l := newLook(f.sys)
	return l.holder(l.node(d.Node.Path[1:]))
}
