package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// Schema is the format of a record.
const Schema = "stem-hw/session-record/1"

// Record is what is true about a session.
type Record struct {
	Schema   string `json:"schema"`
	Instance string `json:"instance"`
	// Workspace is the root, Thread its key.
	Workspace string `json:"workspace"`
	Thread    string `json:"thread"`
	Profile   string `json:"profile"`
	Target    string `json:"target"`
	Simulated bool   `json:"simulated"`
	// Board is the selector of a board that is named or pinned.
	Board string `json:"board,omitempty"`
	// Card is the folder, Program what is debugged; Words name it on a command line.
	Card    string   `json:"card"`
	Program string   `json:"program"`
	Words   []string `json:"words"`
	HasMain bool     `json:"has_main"`
	// Runtime is the folder with the sockets; empty before the first start.
	Runtime string    `json:"runtime,omitempty"`
	Created time.Time `json:"created"`
	// Keeper is the process that owns it, if its lock is held.
	Keeper int `json:"keeper,omitempty"`
	// Pod, EditorID and DebugID are full ids of podman's; empty without.
	Pod      string `json:"pod,omitempty"`
	EditorID string `json:"editor_container,omitempty"`
	DebugID  string `json:"debug_container,omitempty"`
	// Podman is the service they are known to, Image what they are made of; with
	// an image the session is in containers, even before they have ids.
	Podman string `json:"podman,omitempty"`
	Image  string `json:"image,omitempty"`
	// Device is the node of the debug container, the only one of the session.
	Device string `json:"device,omitempty"`
	// Via is how the board is reached: "" or a word of --via.
	Via string `json:"via,omitempty"`
}

// Label is what the label of the session's pod and containers says.
func (r *Record) Label() string { return r.Thread + "-" + Key(r.Instance) }

// Contained says whether the session is in containers.
func (r *Record) Contained() bool { return r.Image != "" }

// folder is the record's runtime folder.
func (r *Record) folder() Folder {
	if r.Runtime == "" {
		return Folder{}
	}
	return Folder{Instance: filepath.Dir(r.Runtime), Dir: r.Runtime}
}

// Folder is the session's runtime folder.
func (r *Record) Folder() Folder { return r.folder() }

// Registry is the sessions of a user, in their state folder.
type Registry struct{ dir string }

// NewRegistry returns the registry in a state folder.
func NewRegistry(dir string) *Registry { return &Registry{filepath.Join(dir, "sessions")} }

// Dir is the folder of one session.
func (g *Registry) Dir(thread, instance string) string {
	return filepath.Join(g.dir, thread+"-"+Key(instance))
}

func recordPath(dir string) string { return filepath.Join(dir, "record.json") }

// LogPath is where a session's keeper writes its log.
func LogPath(dir string) string { return filepath.Join(dir, "keeper.log") }

// ReadRecord reads the record in a session's folder.
func ReadRecord(dir string) (*Record, error) {
	data, err := os.ReadFile(recordPath(dir))
	if err != nil {
		return nil, err
	}
	var r Record
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(&r)
	if err == nil && r.Schema != Schema {
		err = fmt.Errorf("schema %q, need %q", r.Schema, Schema)
	}
	if err == nil {
		err = CheckName(r.Instance)
	}
	if err != nil {
		return nil, &faults.Fault{
			Code: faults.CodeBadState, Status: faults.StatusUsage, Summary: "the record of a session cannot be used", Seen: recordPath(dir), Err: err,
			Try: []string{"rm -r " + dir},
		}
	}
	return &r, nil
}

// Write writes a record, whole or not at all.
func (r *Record) Write(dir string) error {
	r.Schema = Schema
	if err := state.MakeFolder(dir); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return faults.Internal(err)
	}
	return state.Replace(recordPath(dir), append(data, '\n'))
}

// Lock is held by a keeper for as long as it lives.
type Lock struct{ f *os.File }

// TakeLock takes a session's lock; ok is false if its keeper lives.
func TakeLock(dir string) (l *Lock, ok bool, err error) {
	if err := state.MakeFolder(dir); err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, faults.Internal(err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		_ = f.Close()
		return nil, false, nil
	}
	if err != nil {
		_ = f.Close()
		return nil, false, faults.Internal(err)
	}
	return &Lock{f}, true, nil
}

// Release gives the lock back.
func (l *Lock) Release() { _ = l.f.Close() }

// State is what a session is.
type State string

// The states of a session.
const (
	// Running: its keeper lives.
	Running State = "running"
	// Stopped: nothing of it runs.
	Stopped State = "stopped"
	// Broken: its keeper was killed; session rm clears what is left.
	Broken State = "broken"
)

// Entry is one session with its state.
type Entry struct {
	Record
	State State `json:"state"`
	// Dir is its folder in the registry.
	Dir string `json:"-"`
}

// entry finds out what a session is: its lock tells.
func entry(dir string) (*Entry, error) {
	r, err := ReadRecord(dir)
	if err != nil {
		return nil, err
	}
	e := &Entry{Record: *r, Dir: dir}
	l, free, err := TakeLock(dir)
	switch {
	case err != nil:
		return nil, err
	case !free:
		e.State = Running
		return e, nil
	}
	l.Release()
	e.State = Stopped
	if r.Keeper != 0 {
		e.State = Broken // a keeper that ends on purpose says so
	}
	return e, nil
}

// List returns every session, by name.
func (g *Registry) List() (out []Entry, broken []error) {
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			broken = append(broken, err)
		}
		return nil, broken
	}
	for _, d := range entries {
		e, err := entry(filepath.Join(g.dir, d.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			broken = append(broken, err)
		default:
			out = append(out, *e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Instance < out[j].Instance })
	return out, broken
}

// Find returns the session called name, or the only running one for an empty
// name.
func (g *Registry) Find(name string, near func(string, []string) []string) (*Entry, error) {
	all, _ := g.List()
	var names []string
	var running, called []*Entry
	for i := range all {
		names = append(names, all[i].Instance)
		if all[i].State == Running {
			running = append(running, &all[i])
		}
		if all[i].Instance == name {
			called = append(called, &all[i])
		}
	}
	switch {
	case name == "" && len(running) == 1:
		return running[0], nil
	case len(called) == 1:
		return called[0], nil
	}
	f := &faults.Fault{
		Code: faults.CodeNoSession, Status: faults.StatusNotFound, Summary: fmt.Sprintf("there is no session called %q", name),
		Try: []string{"stem-hw session list"},
	}
	if name == "" {
		f.Summary = "no session runs"
		if len(running) > 1 {
			f.Status, f.Summary, f.Details = faults.StatusAmbiguous, "several sessions run: which one?", names
		}
	} else if len(called) > 1 {
		f.Status, f.Summary = faults.StatusAmbiguous, "several workspaces have a session of that name"
	} else if n := near(name, names); len(n) > 0 {
		f.Wanted = "perhaps " + n[0]
	}
	return nil, f
}
