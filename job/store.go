package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver, without cgo

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// Store is the queue of one user.
type Store struct {
	db  *sql.DB
	dir string
	now func() time.Time
}

// Requester is who asked.
type Requester struct {
	Account string `json:"account"`
	Client  string `json:"client,omitempty"`
	Level   string `json:"level,omitempty"`
	Key     string `json:"key,omitempty"`
}

// Job is one request and what became of it.
type Job struct {
	ID string `json:"id"`
	// Kind is flash or erase.
	Kind     string `json:"kind"`
	State    State  `json:"state"`
	Instance string `json:"instance"`
	// Board is the selector, Serial and Chip the board's and chip's own numbers.
	Board  string `json:"board"`
	Serial string `json:"serial"`
	Chip   string `json:"chip,omitempty"`
	// Image is the file's name, SHA256 its digest.
	Image  string `json:"image,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
	// Options are of the verb: the range of an erase.
	Options []string `json:"options,omitempty"`
	// Changes is what the verb says with --dry-run.
	Changes   json.RawMessage `json:"changes,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Requester Requester       `json:"requester"`
	Approver  string          `json:"approver,omitempty"`
	Attempts  int             `json:"attempts"`
	Created   time.Time       `json:"created"`
	Updated   time.Time       `json:"updated"`
	Expires   time.Time       `json:"expires"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     string          `json:"error,omitempty"`
	Events    []Event         `json:"events,omitempty"`
}

// Event is one change of a job.
type Event struct {
	Time   time.Time `json:"time"`
	State  State     `json:"state"`
	Who    string    `json:"who"`
	Detail string    `json:"detail,omitempty"`
}

// Open opens the queue in a state folder, and makes it if it is not there.
func Open(ctx context.Context, stateDir string) (*Store, error) {
	dir := filepath.Join(stateDir, "jobs")
	if err := state.MakeFolder(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "jobs.db")
	// SQLite makes its files by the umask.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, storeFault(path, err)
	}
	if err := f.Close(); err != nil {
		return nil, storeFault(path, err)
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	db, err := sql.Open("sqlite", u.String()+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, storeFault(path, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(storeFault(path, err), db.Close())
	}
	return &Store{db: db, dir: dir, now: time.Now}, nil
}

// Close closes the queue.
func (s *Store) Close() error { return s.db.Close() }

func storeFault(path string, err error) error {
	return &faults.Fault{
		Code: faults.CodeBadState, Status: faults.StatusUsage, Summary: "the queue of jobs cannot be used", Seen: path, Err: err,
		Try: []string{"set it aside: mv " + path + " " + path + ".old"},
	}
}

const columns = `id, kind, state, instance, board, serial, chip, image, sha256, size, options, changes, reason, requester, approver, attempts,
	created, updated, expires, result, error`

type scanner interface{ Scan(dest ...any) error }

func scan(r scanner) (*Job, error) {
	var j Job
	var options, changes, requester, result string
	var created, updated, expires int64
	if err := r.Scan(&j.ID, &j.Kind, &j.State, &j.Instance, &j.Board, &j.Serial, &j.Chip, &j.Image, &j.SHA256, &j.Size, &options, &changes, &j.Reason,
		&requester, &j.Approver, &j.Attempts, &created, &updated, &expires, &result, &j.Error); err != nil {
		return nil, err
	}
	if err := errors.Join(json.Unmarshal([]byte(options), &j.Options), json.Unmarshal([]byte(requester), &j.Requester)); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		text string
		to   *json.RawMessage
	}{{changes, &j.Changes}, {result, &j.Result}} {
		if p.text != "" && json.Valid([]byte(p.text)) {
			*p.to = json.RawMessage(p.text)
		}
	}
	j.Created, j.Updated, j.Expires = at(created), at(updated), at(expires)
	return &j, nil
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Filter chooses jobs.
type Filter struct {
	Instance string
	State    State
	// Live leaves out those that are over.
	Live bool
	// Limit bounds how many; 0 means 100.
	Limit int
}

// List returns jobs, newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Job, error) {
	if err := s.expire(ctx); err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 100
	}
	q := "SELECT " + columns + " FROM jobs WHERE (?1 = '' OR instance = ?1) AND (?2 = '' OR state = ?2)"
	if f.Live {
		q += " AND state IN ('queued', 'awaiting_approval', 'approved', 'flashing', 'verifying')"
	}
	rows, err := s.db.QueryContext(ctx, q+" ORDER BY created DESC, id LIMIT ?3", f.Instance, string(f.State), f.Limit)
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close()
	out := []Job{}
	for rows.Next() {
		j, err := scan(rows)
		if err != nil {
			return nil, s.fault(err)
		}
		out = append(out, *j)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fault(err)
	}
	return out, nil
}

// Get returns a job with its events. A unique beginning of the id does.
func (s *Store) Get(ctx context.Context, id string) (*Job, error) {
	if err := s.expire(ctx); err != nil {
		return nil, err
	}
	var ids []string
	if idForm.MatchString(id) {
		rows, err := s.db.QueryContext(ctx, "SELECT id FROM jobs WHERE substr(id, 1, ?1) = ?2 LIMIT 2", len(id), id)
		if err != nil {
			return nil, s.fault(err)
		}
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				return nil, errors.Join(s.fault(err), rows.Close())
			}
			ids = append(ids, one)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, s.fault(err)
		}
	}
	if len(ids) != 1 {
		f := &faults.Fault{Code: faults.CodeNoJob, Status: faults.StatusNotFound, Summary: "there is no such job", Seen: id, Try: []string{"stem-hw job list"}}
		if len(ids) > 1 {
			f.Status, f.Summary = faults.StatusAmbiguous, "several jobs begin so"
		}
		return nil, f
	}
	j, err := scan(s.db.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE id = ?", ids[0]))
	if err != nil {
		return nil, s.fault(err)
	}
	rows, err := s.db.QueryContext(ctx, "SELECT time, state, who, detail FROM events WHERE job = ? ORDER BY id", j.ID)
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Event
		var t int64
		if err := rows.Scan(&t, &e.State, &e.Who, &e.Detail); err != nil {
			return nil, s.fault(err)
		}
		e.Time = at(t)
		j.Events = append(j.Events, e)
	}
	return j, rows.Err()
}

func (s *Store) fault(err error) error {
	if err == nil || faults.Of(err) != nil {
		return err
	}
	return storeFault(filepath.Join(s.dir, "jobs.db"), err)
}
