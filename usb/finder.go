package usb

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// System is the machine that a Finder looks at.
type System struct {
	// Root is its "/": sys, dev, proc and run are looked at. Nothing below dev is
	// ever opened.
	Root fs.FS
	// Access says whether this process may read and write a node, named by its
	// path from the root without the first slash.
	Access func(node string) bool
	// Users and Groups turn numbers into names; a number stays if they return "".
	Users, Groups func(id uint32) string
	// Dir is the root as a folder of this machine, for locks.
	Dir string
}

// Machine is the machine that this process runs on. Under umockdev, which says so
// in UMOCKDEV_DIR, it is the machine that umockdev makes up: its library shows
// that to C programs alone.
func Machine(getenv func(string) string) System {
	dir := getenv("UMOCKDEV_DIR")
	if !filepath.IsAbs(dir) {
		dir = "/"
	}
	return System{
		Root: os.DirFS(dir),
		Dir:  dir,
		Access: func(node string) bool {
			return unix.Faccessat(unix.AT_FDCWD, filepath.Join(dir, node), unix.R_OK|unix.W_OK, unix.AT_EACCESS) == nil
		},
		Users: func(id uint32) string {
			u, err := user.LookupId(strconv.FormatUint(uint64(id), 10))
			if err != nil {
				return ""
			}
			return u.Username
		},
		Groups: func(id uint32) string {
			g, err := user.LookupGroupId(strconv.FormatUint(uint64(id), 10))
			if err != nil {
				return ""
			}
			return g.Name
		},
	}
}

// Finder finds boards and probes.
type Finder struct {
	sys   System
	index index
}

// New returns a finder for a machine. Without cgo there is none, and the fault
// says so.
func New(sys System) (*Finder, error) {
	x, err := newIndex()
	if err != nil {
		return nil, err
	}
	return &Finder{sys: sys, index: x}, nil
}

// Devices lists the boards and probes there are, in order of bus and port. A
// device that goes away while it is looked at is left out.
func (f *Finder) Devices(ctx context.Context) ([]Device, error) {
	paths, err := f.index.devices()
	if err != nil {
		return nil, err
	}
	look := newLook(f.sys)
	var out []Device
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d, ok := look.device(p); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Device) int { return comparePorts(a.Port, b.Port) })
	return out, nil
}

// comparePorts orders port paths by their numbers: 1-2 before 1-10.
func comparePorts(a, b string) int {
	split := func(r rune) bool { return r == '-' || r == '.' }
	as, bs := strings.FieldsFunc(a, split), strings.FieldsFunc(b, split)
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
