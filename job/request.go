package job

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// Life is how long a request waits for a person, and an approval for the worker.
const Life = 15 * time.Minute

// maxImage bounds a file: the largest flash window, four times over for text formats.
const maxImage = 64 << 20

var idForm = regexp.MustCompile(`^[a-z2-7]{1,16}$`)

// Request is what is asked for.
type Request struct {
	// Kind is flash or erase.
	Kind     string
	Instance string
	Board    string
	Serial   string
	Chip     string
	// Image is the file to flash, as Keep gave it; Name what it was called.
	SHA256 string
	Size   int64
	Name   string
	// Options of the verb, in a fixed order.
	Options   []string
	Changes   json.RawMessage
	Reason    string
	Requester Requester
}

// liveKey is the same for requests that mean the same.
func (r *Request) liveKey() string {
	doc, err := json.Marshal([]any{r.Kind, r.Board, r.Serial, r.Chip, r.SHA256, r.Options})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

// Keep copies an image into the queue's folder by its digest.
func (s *Store) Keep(src io.Reader) (digest string, size int64, err error) {
	dir := filepath.Join(s.dir, "images")
	if err := state.MakeFolder(dir); err != nil {
		return "", 0, err
	}
	tmp, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return "", 0, faults.Internal(err)
	}
	defer os.Remove(tmp.Name())
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(tmp, h), io.LimitReader(src, maxImage+1))
	if err == nil && size > maxImage {
		err = &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage, Summary: "the file is too large for a board", Wanted: fmt.Sprintf("at most %d bytes", maxImage)}
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", 0, err
	}
	digest = hex.EncodeToString(h.Sum(nil))
	return digest, size, os.Rename(tmp.Name(), s.ImagePath(digest))
}

// ImagePath is where the copy of an image is.
func (s *Store) ImagePath(digest string) string {
	return filepath.Join(s.dir, "images", filepath.Base(digest))
}

// checkImage compares a copy with its digest.
func (s *Store) checkImage(digest string) error {
	f, err := os.OpenFile(s.ImagePath(digest), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err == nil {
		defer f.Close()
		h := sha256.New()
		if _, err = io.Copy(h, f); err == nil && hex.EncodeToString(h.Sum(nil)) != digest {
			err = errors.New("its digest is another one")
		}
	}
	if err != nil {
		return &faults.Fault{Code: faults.CodeHashMismatch, Status: faults.StatusImage, Summary: "the image is not what was approved", Seen: digest, Err: err}
	}
	return nil
}

// Add puts a request into the queue. The same one that is live already is
// returned in its place; fresh says whether it was not.
func (s *Store) Add(ctx context.Context, r Request) (j *Job, fresh bool, err error) {
	if r.Kind != "flash" && r.Kind != "erase" {
		return nil, false, faults.Internal(fmt.Errorf("a job of the kind %q", r.Kind))
	}
	if err := s.expire(ctx); err != nil {
		return nil, false, err
	}
	var raw [10]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return nil, false, faults.Internal(err)
	}
	id := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:]))[:12]
	if r.Options == nil {
		r.Options = []string{}
	}
	options, err := json.Marshal(r.Options)
	if err != nil {
		return nil, false, faults.Internal(err)
	}
	requester, err := json.Marshal(r.Requester)
	if err != nil {
		return nil, false, faults.Internal(err)
	}
	now := s.now().UnixMilli()
	key := r.liveKey()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, false, s.fault(err)
	}
	defer func() { _ = tx.Rollback() }()
	res, err := tx.ExecContext(ctx, `INSERT INTO jobs (id, kind, instance, board, serial, chip, image, sha256, size, options, live_key, requester, state,
		created, updated, expires, changes, reason) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (live_key) WHERE state IN ('queued', 'awaiting_approval', 'approved', 'flashing', 'verifying') DO NOTHING`,
		id, r.Kind, r.Instance, r.Board, r.Serial, r.Chip, r.Name, r.SHA256, r.Size, string(options), key, string(requester), Queued,
		now, now, now+Life.Milliseconds(), string(r.Changes), r.Reason)
	if err != nil {
		return nil, false, s.fault(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return nil, false, s.fault(err)
	}
	who := r.Requester.Account
	if r.Requester.Client != "" {
		who += ", " + r.Requester.Client
	}
	if n == 1 {
		if err := event(ctx, tx, id, now, Queued, who, ""); err != nil {
			return nil, false, s.fault(err)
		}
		if err := s.move(ctx, tx, id, AwaitingApproval, who, "", nil); err != nil {
			return nil, false, err
		}
	} else if err := tx.QueryRowContext(ctx, `SELECT id FROM jobs WHERE live_key = ?
		AND state IN ('queued', 'awaiting_approval', 'approved', 'flashing', 'verifying')`, key).Scan(&id); err != nil {
		return nil, false, s.fault(err)
	}
	if err := tx.Commit(); err != nil {
		return nil, false, s.fault(err)
	}
	j, err = s.Get(ctx, id)
	return j, n == 1, err
}

func event(ctx context.Context, tx *sql.Tx, id string, now int64, st State, who, detail string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO events (job, time, state, who, detail) VALUES (?,?,?,?,?)", id, now, st, who, detail)
	return err
}

// set are further columns to change with a state.
type set struct {
	approver, result, fault *string
	attempt                 bool
	expires                 time.Time
}

// move changes a job's state, if the one it is in allows it.
func (s *Store) move(ctx context.Context, tx *sql.Tx, id string, to State, who, detail string, with *set) error {
	var from State
	if err := tx.QueryRowContext(ctx, "SELECT state FROM jobs WHERE id = ?", id).Scan(&from); err != nil {
		return s.fault(err)
	}
	if !may(from, to) {
		return &faults.Fault{
			Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "the job is not in a state for this", Seen: string(from), Wanted: "one before " + string(to),
			Try: []string{"stem-hw job show " + id},
		}
	}
	now := s.now().UnixMilli()
	if with == nil {
		with = &set{}
	}
	q, args := "UPDATE jobs SET state = ?, updated = ?", []any{to, now}
	for _, c := range []struct {
		name string
		v    *string
	}{{"approver", with.approver}, {"result", with.result}, {"error", with.fault}} {
		if c.v != nil {
			q, args = q+", "+c.name+" = ?", append(args, *c.v)
		}
	}
	if with.attempt {
		q += ", attempts = attempts + 1"
	}
	if !with.expires.IsZero() {
		q, args = q+", expires = ?", append(args, with.expires.UnixMilli())
	}
	if _, err := tx.ExecContext(ctx, q+" WHERE id = ?", append(args, id)...); err != nil {
		return s.fault(err)
	}
	if err := event(ctx, tx, id, now, to, who, detail); err != nil {
		return s.fault(err)
	}
	return nil
}

// change is move in a transaction of its own.
func (s *Store) change(ctx context.Context, id string, to State, who, detail string, with *set) (*Job, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, s.fault(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := s.move(ctx, tx, id, to, who, detail, with); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, s.fault(err)
	}
	return s.Get(ctx, id)
}

// Approve approves a job for a person: who is their account and terminal. digest
// is what they saw.
func (s *Store) Approve(ctx context.Context, id, who, digest string) (*Job, error) {
	j, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if j.SHA256 != digest {
		return nil, &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "the job is another one than was shown", Seen: j.SHA256, Wanted: digest}
	}
	return s.change(ctx, j.ID, Approved, who, "", &set{approver: &who, expires: s.now().Add(Life)})
}

// Reject rejects a job.
func (s *Store) Reject(ctx context.Context, id, who, why string) (*Job, error) {
	j, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, j.ID, Rejected, who, why, nil)
}

// Cancel takes a job back that has not begun.
func (s *Store) Cancel(ctx context.Context, id, who string) (*Job, error) {
	j, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, j.ID, Cancelled, who, "", nil)
}

// expire ends what waited too long.
func (s *Store) expire(ctx context.Context) error {
	now := s.now().UnixMilli()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.fault(err)
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(ctx, "SELECT id FROM jobs WHERE state IN ('queued', 'awaiting_approval', 'approved') AND expires <= ?", now)
	if err != nil {
		return s.fault(err)
	}
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return errors.Join(s.fault(err), rows.Close())
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return s.fault(err)
	}
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		if err := s.move(ctx, tx, id, Expired, "stem-hw", "nobody decided in time", nil); err != nil {
			return err
		}
	}
	return s.fault(tx.Commit())
}
