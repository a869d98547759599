package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

// runDir is a folder of this process alone for its sockets: mode 0700, since
// other accounts share the machine. A folder whose owner was killed is removed
// by the next process that makes one.
type runDir struct {
	path string
	lock *os.File
}

// maxSocketPath is the longest path of a Unix socket (sun_path of unix(7)).
const maxSocketPath = 107

// runtimeFolder is where the sockets of all processes of this user are: below
// $XDG_RUNTIME_DIR, or below the folder for temporary files.
func (a *app) runtimeFolder() (string, error) {
	base := a.getenv("XDG_RUNTIME_DIR")
	if base == "" {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("stem-hw-%d", os.Getuid()))
	}
	base = filepath.Join(base, "stem-hw")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", runDirFault(base, err)
	}
	return base, private(base)
}

// newRunDir makes a folder in the runtime folder.
func (a *app) newRunDir() (*runDir, error) {
	base, err := a.runtimeFolder()
	if err != nil {
		return nil, err
	}
	reapRunDirs(base)
	path, err := os.MkdirTemp(base, "d")
	if err != nil {
		return nil, runDirFault(base, err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, runDirFault(path, err)
	}
	return &runDir{path: path, lock: lock}, nil
}

// socket returns the path of a socket in the folder.
func (d *runDir) socket(name string) (string, error) {
	p := filepath.Join(d.path, name)
	if len(p) > maxSocketPath {
		return "", &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusInternal,
			Summary: "the path of a socket is too long",
			Seen:    fmt.Sprintf("%d bytes: %s", len(p), p), Wanted: fmt.Sprintf("at most %d", maxSocketPath),
			Try: []string{"set XDG_RUNTIME_DIR to a short path"},
		}
	}
	return p, nil
}

// Close removes the folder.
func (d *runDir) Close() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

// private checks that a folder is ours and nobody else can enter it.
func private(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return runDirFault(path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o077 != 0 {
		return &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusPermission,
			Summary: "the folder for sockets is not safe",
			Seen:    fmt.Sprintf("%s, mode %o, owner %d", path, st.Mode&0o7777, st.Uid),
			Wanted:  "a folder of your own with mode 0700",
			Try:     []string{"chmod 700 " + path, "set XDG_RUNTIME_DIR to a folder of your own"},
		}
	}
	return nil
}

// reapRunDirs removes the folders of processes that are gone: nobody holds
// their lock.
func reapRunDirs(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, "d*", "lock"))
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = f.Close()
	}
}

func runDirFault(path string, err error) error {
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusInternal,
		Summary: "no folder for sockets", Seen: path, Err: err,
		Try: []string{"set XDG_RUNTIME_DIR to a folder of your own"},
	}
}
