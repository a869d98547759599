package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/board/state"
)

// PaneSpec is what the windows of a session are told. The keeper writes it; in a
// container it is mounted read-only.
type PaneSpec struct {
	Instance string `json:"instance"`
	Profile  string `json:"profile"`
	Target   string `json:"target"`
	Card     string `json:"card"`
	Program  string `json:"program"`
	// Remote says that gdb reaches the program through a server's socket.
	Remote bool `json:"remote"`
	// HasMain says that the program has a main to run to.
	HasMain bool `json:"has_main"`
	// Console is the command that shows the console; empty is the session's own
	// console socket, or for a program of this computer a terminal of its own.
	Console []string `json:"console,omitempty"`
	// OpenFirst is the file that the editor opens.
	OpenFirst string `json:"open_first,omitempty"`
	Folder    Folder `json:"folder"`
}

// Write writes the specification into the runtime folder.
func (s *PaneSpec) Write() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return state.Replace(s.Folder.spec(), append(data, '\n'))
}

// ReadPaneSpec reads it back in a window.
func ReadPaneSpec(dir string) (*PaneSpec, error) {
	f := Folder{Instance: filepath.Dir(dir), Dir: dir}
	data, err := os.ReadFile(f.spec())
	if err != nil {
		return nil, err
	}
	var s PaneSpec
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: %w", f.spec(), err)
	}
	if s.Folder != f {
		return nil, errors.New("the windows' specification belongs to another folder")
	}
	return &s, nil
}
