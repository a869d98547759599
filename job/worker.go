package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

// Runner writes to boards.
type Runner interface {
	// Check says whether the board that a job names is the one it was approved
	// for: the same serial number, the same chip.
	Check(ctx context.Context, j *Job) error
	// Write does what the job says; image is the path of its image.
	Write(ctx context.Context, j *Job, image string) (json.RawMessage, error)
	// Verify compares the board with the image once more.
	Verify(ctx context.Context, j *Job, image string) error
}

// maxAttempts bounds how often a job is tried; waits are between them.
const maxAttempts = 3

var waits = []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second}

// transport says whether an error is one of the way to the board, not of the
// board or the image.
func transport(err error) bool {
	f := faults.Of(err)
	if f == nil {
		return false
	}
	switch f.Code {
	case faults.CodeLost, faults.CodeBusy, faults.CodeBoardNotFound, faults.CodeBadWires, faults.CodeTimeout:
		return true
	}
	return false
}

// Work carries out what was approved until nothing is left. ok is false if
// another worker does so already.
func (s *Store) Work(ctx context.Context, r Runner, pause func(context.Context, time.Duration) error) (ok bool, err error) {
	lock, err := os.OpenFile(filepath.Join(s.dir, "worker.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, s.fault(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return false, s.fault(err)
	}
	// What a worker that was killed had begun: the attempt is used up.
	if err := s.resume(ctx); err != nil {
		return true, err
	}
	for ctx.Err() == nil {
		j, err := s.nextApproved(ctx)
		if err != nil || j == nil {
			return true, err
		}
		if err := s.carryOut(ctx, j, r, pause); err != nil {
			return true, err
		}
	}
	return true, ctx.Err()
}

func (s *Store) nextApproved(ctx context.Context) (*Job, error) {
	if err := s.expire(ctx); err != nil {
		return nil, err
	}
	j, err := scan(s.db.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE state = 'approved' ORDER BY updated, id LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return j, s.fault(err)
}

// resume brings jobs that nobody works on any more back to approved, or ends
// them.
func (s *Store) resume(ctx context.Context) error {
	for _, st := range []State{Flashing, Verifying} {
		all, err := s.List(ctx, Filter{State: st})
		if err != nil {
			return err
		}
		for _, j := range all {
			to, why := Approved, "its worker ended; it goes on"
			with := &set{expires: s.now().Add(Life)}
			if j.Attempts >= maxAttempts {
				to, why = FlashFailed, "its worker ended, three times"
				with = &set{fault: &why}
			}
			if _, err := s.change(ctx, j.ID, to, "stem-hw", why, with); err != nil {
				return err
			}
		}
	}
	return nil
}

// carryOut does one job to its end.
func (s *Store) carryOut(ctx context.Context, j *Job, r Runner, pause func(context.Context, time.Duration) error) error {
	for {
		j, err := s.change(ctx, j.ID, Flashing, "stem-hw", "", &set{attempt: true})
		if err != nil {
			return err
		}
		result, werr := s.attempt(ctx, j, r)
		if ctx.Err() != nil {
			return ctx.Err() // the next worker finds it
		}
		if werr == nil {
			text := string(result)
			_, err = s.change(ctx, j.ID, Flashed, "stem-hw", "", &set{result: &text})
			return err
		}
		why := werr.Error()
		if !transport(werr) || j.Attempts >= maxAttempts {
			_, err = s.change(ctx, j.ID, FlashFailed, "stem-hw", why, &set{fault: &why})
			return err
		}
		if _, err = s.change(ctx, j.ID, Approved, "stem-hw", why+"; once more", &set{fault: &why, expires: s.now().Add(Life)}); err != nil {
			return err
		}
		if err := pause(ctx, waits[j.Attempts-1]); err != nil {
			return err
		}
	}
}

func (s *Store) attempt(ctx context.Context, j *Job, r Runner) (json.RawMessage, error) {
	image := ""
	if j.Kind == "flash" {
		if err := s.checkImage(j.SHA256); err != nil {
			return nil, err
		}
		image = s.ImagePath(j.SHA256)
	}
	if err := r.Check(ctx, j); err != nil {
		return nil, err
	}
	result, err := r.Write(ctx, j, image)
	if err != nil {
		return nil, err
	}
	if _, err := s.change(ctx, j.ID, Verifying, "stem-hw", "", nil); err != nil {
		return nil, err
	}
	return result, r.Verify(ctx, j, image)
}
