package gdbsync

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Schema and Version name the format of gdb-sync.json.
const (
	Schema  = "stem-hw/gdb-sync/1"
	Version = 1
)

// Phase is what the program does, as far as gdb knows.
type Phase string

// The phases.
const (
	// Starting: gdb is being started.
	Starting Phase = "starting"
	// NoProgram: gdb runs and no program does.
	NoProgram Phase = "no-program"
	// Running and Stopped: the program runs, or stands at Frame.
	Running Phase = "running"
	Stopped Phase = "stopped"
	// Exited: the program ended; ExitCode says how.
	Exited Phase = "exited"
	// Disconnected: the debug server went away and is waited for.
	Disconnected Phase = "disconnected"
	// GdbEnded: gdb itself ended.
	GdbEnded Phase = "gdb-ended"
)

// State is where a program stands: the contents of gdb-sync.json.
type State struct {
	Schema  string `json:"schema"`
	Version int    `json:"version"`
	// Sequence is one more with every change.
	Sequence uint64 `json:"sequence"`
	// Stops counts how often the program stopped.
	Stops    uint64 `json:"stops"`
	Instance string `json:"instance"`
	State    Phase  `json:"state"`
	// Reason is why it is in this state, in gdb's words: "breakpoint-hit",
	// "end-stepping-range", "signal-received".
	Reason string `json:"reason,omitempty"`
	// Signal is the signal's name, if that is the reason.
	Signal string `json:"signal,omitempty"`
	// ExitCode is the status of a program that exited.
	ExitCode *int `json:"exit_code,omitempty"`
	// Frame is the frame that is looked at; nil while there is none.
	Frame *Frame `json:"frame"`
	// Thread is the thread that is looked at, Core the core it is on.
	Thread string `json:"thread,omitempty"`
	Core   string `json:"core,omitempty"`
	// Breakpoints and Threads are never null.
	Breakpoints []Breakpoint `json:"breakpoints"`
	Threads     []Thread     `json:"threads"`
	// Target is what is debugged: "hazard3-sim/rp2350-rv".
	Target  string    `json:"target"`
	Updated time.Time `json:"updated"`
}

// Frame is a place in the program.
type Frame struct {
	Level int `json:"level"`
	// Path is the source file's full path where the editor is; File is what the
	// program's debug information calls it.
	Path     string `json:"path,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	Address  string `json:"address"`
}

// Breakpoint is a breakpoint, watchpoint or catchpoint.
type Breakpoint struct {
	Number  string `json:"number"`
	Type    string `json:"type"`
	Enabled bool   `json:"enabled"`
	// Temporary ones are deleted when they are hit.
	Temporary bool   `json:"temporary,omitempty"`
	Path      string `json:"path,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Function  string `json:"function,omitempty"`
	Address   string `json:"address,omitempty"`
	// Expression is what a watchpoint watches.
	Expression string `json:"expression,omitempty"`
	Condition  string `json:"condition,omitempty"`
	Hits       int    `json:"hits"`
	// Location is what was asked for, to ask for it again.
	Location string `json:"location,omitempty"`
	// Places are further places of the same breakpoint.
	Places []Place `json:"places,omitempty"`
}

// Place is one of several places of a breakpoint.
type Place struct {
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Address string `json:"address"`
	Enabled bool   `json:"enabled"`
}

// Thread is a thread: a core of a chip, a task of an RTOS, a thread of a process.
type Thread struct {
	ID string `json:"id"`
	// Name and Target are what gdb calls it: the name, if it has one, and the
	// target's own words ("Thread 2 (hart 1)").
	Name    string `json:"name,omitempty"`
	Target  string `json:"target,omitempty"`
	Details string `json:"details,omitempty"`
	State   string `json:"state,omitempty"`
	Core    string `json:"core,omitempty"`
	Frame   *Frame `json:"frame,omitempty"`
}

// clone copies what later changes would alter.
func (s *State) clone() State {
	c := *s
	c.Breakpoints = append([]Breakpoint{}, s.Breakpoints...)
	c.Threads = append([]Thread{}, s.Threads...)
	if s.Frame != nil {
		f := *s.Frame
		c.Frame = &f
	}
	return c
}

// Write writes a state to a file, whole or not at all.
func (s *State) Write(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("gdb-sync.json: %w", err)
	}
	// The name is always the same: one process writes, and what a killed one
	// left is overwritten.
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.Remove(tmp); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("gdb-sync.json: %w", err)
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("gdb-sync.json: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("gdb-sync.json: %w", err)
	}
	return nil
}

// Read reads a state file.
func Read(path string) (*State, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if s.Schema != Schema {
		return nil, fmt.Errorf("%s: schema %q, need %q", path, s.Schema, Schema)
	}
	return &s, nil
}
