package board

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// User is who has a board, for people.
type User struct {
	PID   int       `json:"pid"`
	Verb  string    `json:"verb"`
	Since time.Time `json:"since"`
}

// String is "run (process 4711)".
func (u User) String() string {
	if u.PID == 0 {
		return "somebody"
	}
	return fmt.Sprintf("%s (process %d)", u.Verb, u.PID)
}

// ServerVerb is the verb of a User that is a server.
const ServerVerb = "server"

// Lock is the right to use a board's file. The kernel drops it with the process.
type Lock struct{ f *os.File }

// errHeld is what takeLock returns when somebody has the lock.
var errHeld = errors.New("the lock is held")

// TakeLock makes the caller the board's user, or tells who is.
func (p Place) TakeLock(verb string) (*Lock, error) {
	l, err := p.takeLock("lock", verb)
	if errors.Is(err, errHeld) {
		u, _ := p.Holder()
		return nil, busy(p.Selector(), u)
	}
	return l, err
}

func busy(selector string, u User) error {
	return &faults.Fault{
		Code: faults.CodeBusy, Status: faults.StatusBusy,
		Summary: "the board " + selector + " is in use",
		Seen:    u.String() + " has it", Wanted: "a board that nobody else uses",
		Try: []string{"wait for it with --wait 30s", "use another simulated board: -b sim:other"},
	}
}

// takeLock takes a lock file of the board; it fails with errHeld if that is
// taken.
func (p Place) takeLock(name, verb string) (*Lock, error) {
	if err := state.MakeFolder(p.Dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(p.file(name), os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, p.fault("cannot be locked", err)
	}
	// A lock of the open file: it goes when the process goes, and it can be asked
	// about without being taken.
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, wholeFile()); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, errHeld
		}
		return nil, p.fault("cannot be locked", err)
	}
	// The record is for people; the lock itself is what counts.
	if data, err := json.Marshal(User{os.Getpid(), verb, time.Now().UTC().Truncate(time.Second)}); err == nil {
		_ = f.Truncate(0)
		_, _ = f.WriteAt(data, 0)
	}
	return &Lock{f}, nil
}

// Release gives the lock back. It may be called twice.
func (l *Lock) Release() {
	if l != nil && l.f != nil {
		_ = l.f.Truncate(0)
		_ = l.f.Close()
		l.f = nil
	}
}

// Holder tells who has the board; held is false if nobody does.
func (p Place) Holder() (u User, held bool) {
	f, err := os.OpenFile(p.file("lock"), os.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return u, false
	}
	defer f.Close()
	ask := wholeFile()
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, ask); err != nil || ask.Type == unix.F_UNLCK {
		return u, false
	}
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err == nil && json.Unmarshal(data, &u) != nil {
		u = User{}
	}
	return u, true
}

func wholeFile() *unix.Flock_t {
	return &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
}

func (p Place) fault(what string, err error) error {
	return &faults.Fault{
		Code: faults.CodeBadState, Status: faults.StatusTarget,
		Summary: "the simulated board " + p.Selector() + " " + what, Seen: p.Dir, Err: err,
		Try: []string{"set it aside and begin with a new one: mv " + p.Dir + " " + p.Dir + ".old"},
	}
}
