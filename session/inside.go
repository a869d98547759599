package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/gdbsync"
)

// What is in a runtime folder may have been put there by the session's inside: a
// link in the place of a file, a pipe that nobody writes to. It is opened without
// following anything out of the folder.

// maxState is the largest gdb-sync.json that is read.
const maxState = 8 << 20

// openInside opens a file of a runtime folder.
func openInside(f Folder, name string, flags int) (*os.File, error) {
	root, err := os.OpenRoot(f.Instance)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := root.Open(filepath.Base(f.Dir))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Join(f.Dir, name), Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// ReadState reads what a session says about its program. Nothing may depend on
// it: the inside of the session wrote it.
func ReadState(f Folder) (*gdbsync.State, error) {
	file, err := openInside(f, filepath.Base(f.State()), unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxState {
		return nil, errors.New("the state of the program is no plain file")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxState))
	if err != nil {
		return nil, err
	}
	var s gdbsync.State
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("the state of the program: %w", err)
	}
	if s.Schema != gdbsync.Schema {
		return nil, fmt.Errorf("the state of the program has the schema %q", s.Schema)
	}
	return &s, nil
}

// dialInside connects to a socket of a runtime folder: to this one, not to where
// a link in its place points.
func dialInside(f Folder, name string) (net.Conn, error) {
	file, err := openInside(f, name, unix.O_PATH)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is no socket", name)
	}
	return net.Dial("unix", "/proc/self/fd/"+strconv.Itoa(int(file.Fd())))
}

// Inside becomes the tmux of a container: it is the container's first process.
// The folder is the one that the container was given.
func Inside(instance string) error {
	data, err := os.ReadFile(Folder{Instance: instance}.spec())
	if err != nil {
		return err
	}
	var s PaneSpec
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	path, err := child.Find("tmux", "tmux")
	if err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{"tmux"}, serverArgs(s.Folder)...), os.Environ())
}
