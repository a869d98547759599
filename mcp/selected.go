package mcp

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// Selection is the session that clients without one of their own mean: a link to
// its runtime folder, switched as a whole.
type Selection struct{ dir string }

// NewSelection returns the selection in the runtime folder of all sessions.
func NewSelection(runtime string) Selection { return Selection{filepath.Join(runtime, "mcp-selected")} }

// Path is the link.
func (s Selection) Path() string { return filepath.Join(s.dir, "current") }

// Set switches to a session's runtime folder. A reader sees the old or the new
// one, never none.
func (s Selection) Set(dir string) error {
	if err := state.MakeFolder(s.dir); err != nil {
		return err
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return faults.Internal(err)
	}
	tmp := filepath.Join(s.dir, ".new-"+hex.EncodeToString(b[:]))
	if err := os.Symlink(dir, tmp); err != nil {
		return faults.Internal(err)
	}
	if err := os.Rename(tmp, s.Path()); err != nil {
		return errors.Join(faults.Internal(err), os.Remove(tmp))
	}
	return nil
}

// Get returns the folder that is selected; "" is none.
func (s Selection) Get() (string, error) {
	dir, err := os.Readlink(s.Path())
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return dir, err
}

// Clear selects nothing.
func (s Selection) Clear() error {
	if err := os.Remove(s.Path()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return faults.Internal(err)
	}
	return nil
}
