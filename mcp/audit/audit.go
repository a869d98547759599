package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// Schema is the format of a record.
const Schema = "stem-hw/mcp-audit/1"

// The phases of a record.
const (
	Before  = "before"
	After   = "after"
	Refused = "refused"
)

// Record is one line.
type Record struct {
	Schema string    `json:"schema"`
	Time   time.Time `json:"time"`
	// Call joins the records of one call.
	Call  string `json:"call"`
	Phase string `json:"phase"`
	// Account and UID are who owns the process at the other end, PID is that process.
	Account string `json:"account"`
	UID     int    `json:"uid"`
	PID     int    `json:"pid,omitempty"`
	// Key is the fingerprint of the SSH key it came with, Peer where from.
	Key  string `json:"key,omitempty"`
	Peer string `json:"peer,omitempty"`
	// Client is what the client calls itself.
	Client string `json:"client,omitempty"`
	Level  string `json:"level"`
	// Instance is the session, Container its full id.
	Instance  string          `json:"instance,omitempty"`
	Container string          `json:"container,omitempty"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Result is ok, or the code of the fault; Detail says more.
	Result string `json:"result,omitempty"`
	Detail string `json:"detail,omitempty"`
	// DurationMS is how long it took.
	DurationMS float64 `json:"duration_ms,omitempty"`
}

// Log is the audit of one user.
type Log struct {
	dir string
	// max bounds the file, keep how many older ones there are.
	max  int64
	keep int
	now  func() time.Time
}

// Name is the file's name in the state folder's audit folder.
const Name = "audit.jsonl"

// New returns the audit in a state folder.
func New(dir string) *Log {
	return &Log{dir: filepath.Join(dir, "audit"), max: 8 << 20, keep: 8, now: time.Now}
}

// Path is the path of the file.
func (l *Log) Path() string { return filepath.Join(l.dir, Name) }

// Append writes a record; after nil it is on disk.
func (l *Log) Append(r Record) error {
	r.Schema = Schema
	if r.Time.IsZero() {
		r.Time = l.now().UTC()
	}
	r.Arguments = Redact(r.Arguments)
	line, err := json.Marshal(r)
	if err != nil {
		return l.fault(err)
	}
	if err := state.MakeFolder(l.dir); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(l.dir, "lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return l.fault(err)
	}
	defer lock.Close()
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return l.fault(err)
		}
	}
	if st, err := os.Lstat(l.Path()); err == nil && st.Size()+int64(len(line)) > l.max {
		if err := l.rotate(); err != nil {
			return l.fault(err)
		}
	}
	f, err := os.OpenFile(l.Path(), os.O_CREATE|os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return l.fault(err)
	}
	if st, serr := f.Stat(); serr != nil || !st.Mode().IsRegular() {
		return errors.Join(l.fault(errors.New("no plain file")), f.Close())
	}
	_, err = f.Write(append(line, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return l.fault(err)
	}
	return nil
}

// rotate sets the file aside, and drops the oldest ones.
func (l *Log) rotate() error {
	name := fmt.Sprintf("audit-%s.jsonl", l.now().UTC().Format("20060102T150405.000000000"))
	if err := os.Rename(l.Path(), filepath.Join(l.dir, name)); err != nil {
		return err
	}
	old, err := l.old()
	if err != nil {
		return err
	}
	for len(old) > l.keep {
		if err := os.Remove(old[0]); err != nil {
			return err
		}
		old = old[1:]
	}
	return nil
}

// old are the files that were set aside, oldest first.
func (l *Log) old() ([]string, error) {
	all, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all {
		if strings.HasPrefix(e.Name(), "audit-") && strings.HasSuffix(e.Name(), ".jsonl") {
			out = append(out, filepath.Join(l.dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (l *Log) fault(err error) error {
	return &faults.Fault{
		Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "what cannot be audited is not done", Seen: l.Path(), Err: err,
		Try: []string{"ls -l " + l.dir, "df " + l.dir},
	}
}
