package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

// stopTime is how long a keeper may take to end its session.
const stopTime = 20 * time.Second

// Stop ends a session that runs: its keeper is asked, then made.
func Stop(ctx context.Context, e *Entry) error {
	if e.State != Running {
		return nil
	}
	r, err := ReadRecord(e.Dir)
	if err != nil {
		return err
	}
	if r.Keeper > 0 {
		_ = syscall.Kill(r.Keeper, syscall.SIGTERM)
	}
	free := func() bool {
		l, ok, err := TakeLock(e.Dir)
		if err == nil && ok {
			l.Release()
		}
		return ok
	}
	if waitFor(ctx, stopTime, free) {
		return nil
	}
	// The lock is still held, so the number is still the keeper's.
	if r, err := ReadRecord(e.Dir); err == nil && r.Keeper > 0 {
		_ = syscall.Kill(r.Keeper, syscall.SIGKILL)
	}
	if waitFor(ctx, stopTime, free) {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "the session does not end", Seen: e.Instance, Try: []string{"stem-hw session logs " + e.Instance},
	}
}

// Reaper removes what a session has in podman.
type Reaper func(ctx context.Context, r *Record) error

// Remove stops a session and removes all of it but the program's log: containers,
// runtime folder, record.
func Remove(ctx context.Context, e *Entry, getenv func(string) string, reap Reaper) error {
	if err := Stop(ctx, e); err != nil {
		return err
	}
	l, ok, err := TakeLock(e.Dir)
	if err != nil {
		return err
	}
	if !ok {
		return &faults.Fault{Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "somebody has just started the session again", Seen: e.Instance}
	}
	defer l.Release()
	r, err := ReadRecord(e.Dir)
	if err != nil {
		return err
	}
	if reap != nil {
		if err := reap(ctx, r); err != nil {
			return err
		}
	}
	// The folder's name is computed, not taken from anywhere.
	if runtime, err := Runtime(getenv); err == nil {
		f := Folder{Instance: filepath.Join(runtime, r.Thread, Key(r.Instance))}
		reapWindows(ctx, f)
		if err := f.Remove(); err != nil {
			return faults.Internal(err)
		}
	}
	if root, err := os.OpenRoot(r.Card); err == nil {
		for _, data := range []string{".stem", ".rv"} {
			dir := filepath.Join(data, "instances", r.Instance)
			_ = root.Remove(filepath.Join(dir, logName))
			_ = root.Remove(dir)
			_ = root.Remove(filepath.Join(data, "instances"))
			_ = root.Remove(data)
		}
		_ = root.Close()
	}
	if err := os.RemoveAll(e.Dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return faults.Internal(err)
	}
	return nil
}
