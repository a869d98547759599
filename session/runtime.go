package session

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

// maxPath is the longest path of a session's socket. The kernel takes 107 bytes,
// but Neovim 0.7 cuts a longer one without a word.
const maxPath = 100

// longest is the longest name in a runtime folder.
const longest = "container.json"

// Runtime returns the runtime folder of all sessions of this user, which is made
// if it is missing and refused if it is not safe.
func Runtime(getenv func(string) string) (string, error) {
	base := getenv("XDG_RUNTIME_DIR")
	if base == "" {
		base = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
		if safe(base) != nil {
			base = filepath.Join(os.TempDir(), "stem-"+strconv.Itoa(os.Getuid()))
			if err := makeSafe(base); err != nil {
				return "", err
			}
		}
	}
	dir := filepath.Join(base, "stem")
	return dir, makeSafe(dir)
}

// makeSafe makes a folder of ours alone, or checks the one that is there.
func makeSafe(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusPermission, Summary: "the runtime folder cannot be made", Seen: dir, Err: err,
			Try: []string{"set XDG_RUNTIME_DIR to a folder of your own"},
		}
	}
	return safe(dir)
}

// safe checks a folder: no link, ours, for nobody else.
func safe(dir string) error {
	var st unix.Stat_t
	err := unix.Lstat(dir, &st)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && int(st.Uid) == os.Getuid() && st.Mode&0o077 == 0 {
		return nil
	}
	f := &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusPermission, Summary: "the runtime folder is not safe", Seen: dir, Err: err,
		Wanted: "a folder of your own with mode 0700, and no link", Try: []string{"set XDG_RUNTIME_DIR to a folder of your own", "ls -ld " + dir},
	}
	if err == nil {
		f.Seen = fmt.Sprintf("%s, type and mode %o, owner %d", dir, st.Mode, st.Uid)
	}
	return f
}

// Folder is a session's runtime folder: Instance is what a container gets, Dir
// the part of it that this start uses.
type Folder struct{ Instance, Dir string }

// steerSuffix ends the name of the folder with the files that steer the
// session's processes. It lies beside Instance, since what is in there can be
// written by them; into a container it is mounted read-only.
const steerSuffix = ".ro"

// NewFolder makes <runtime>/<thread>/<instance key>/<id>/; an empty id is a random
// one. The length of its sockets' paths is checked before anything is made.
func NewFolder(runtime, thread, instance, id string) (Folder, error) {
	if id == "" {
		var err error
		if id, err = newID(); err != nil {
			return Folder{}, err
		}
	}
	f, err := newInstance(runtime, thread, instance)
	if err != nil {
		return f, err
	}
	f.Dir = filepath.Join(f.Instance, id)
	return f, makeSafe(f.Dir)
}

// newID is a name that no earlier start had.
func newID() (string, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", faults.Internal(err)
	}
	return hex.EncodeToString(b[:]), nil
}

// newInstance makes the folder without the part that is new at each start.
func newInstance(runtime, thread, instance string) (Folder, error) {
	f := Folder{Instance: filepath.Join(runtime, thread, Key(instance))}
	if err := CheckLength(runtime, thread, instance); err != nil {
		return f, err
	}
	for _, dir := range []string{filepath.Dir(f.Instance), f.Instance, f.steer()} {
		if err := makeSafe(dir); err != nil {
			return f, err
		}
	}
	// What an earlier start left answers nobody any more.
	for _, dir := range []string{f.Instance, f.steer()} {
		old, err := os.ReadDir(dir)
		if err != nil {
			return f, faults.Internal(err)
		}
		for _, e := range old {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return f, nil
}

// CheckLength refuses a runtime folder whose sockets would have paths that are too
// long.
func CheckLength(runtime, thread, instance string) error {
	p := filepath.Join(runtime, thread, Key(instance), "0123456789ab", longest)
	if len(p) <= maxPath {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the path of the session's sockets is too long",
		Seen: fmt.Sprintf("%d bytes: %s", len(p), p), Wanted: fmt.Sprintf("at most %d", maxPath),
		Try: []string{"set XDG_RUNTIME_DIR to a short path"},
	}
}

// The files of a runtime folder.
func (f Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// Tmux is the path of tmux's socket.
func (f Folder) Tmux() string { return f.path("t.sock") }

// Editor is the path of Neovim's socket.
func (f Folder) Editor() string { return f.path("n.sock") }

// Server is the path of the socket gdb's remote protocol is served on.
func (f Folder) Server() string { return f.path("g.sock") }

// Link is the path of the socket that joins gdb and Neovim.
func (f Folder) Link() string { return f.path("l.sock") }

// Console is the path of the socket of the program's console.
func (f Folder) Console() string { return f.path("c.sock") }

// Calls is the path of the socket that takes operations for gdb.
func (f Folder) Calls() string { return f.path("d.sock") }

// State is the path of the file that says where the program stands.
func (f Folder) State() string { return f.path("gdb-sync.json") }

// Container is the path of the file that names the session's containers.
func (f Folder) Container() string { return f.path("container.json") }

func (f Folder) steer() string    { return f.Instance + steerSuffix }
func (f Folder) spec() string     { return filepath.Join(f.steer(), "panes.json") }
func (f Folder) commands() string { return filepath.Join(f.steer(), "commands.gdb") }
func (f Folder) conf() string     { return filepath.Join(f.steer(), "tmux.conf") }
func (f Folder) tty() string      { return f.path("tty") }

// Remove removes the folder, and those above it that are empty.
func (f Folder) Remove() error {
	if f.Instance == "" {
		return nil
	}
	err := errors.Join(os.RemoveAll(f.Instance), os.RemoveAll(f.steer()))
	_ = os.Remove(filepath.Dir(f.Instance))
	return err
}
