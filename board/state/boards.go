package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
)

// Schema is the file's format.
const Schema = "stem-hw/boards/1"

// maxFile bounds the file.
const maxFile = 4 << 20

// Boards is what the user decided.
type Boards struct {
	Schema string `json:"schema"`
	// Pins are the boards of projects, by the project's real path; Probes are
	// their debug probes.
	Pins   map[string]Pin `json:"pins"`
	Probes map[string]Pin `json:"probes,omitempty"`
	// Nicknames are names of boards.
	Nicknames map[string]board.Identity `json:"nicknames"`
}

// Pin is a project's board or probe.
type Pin struct {
	// Selector names the board exactly.
	Selector string         `json:"selector"`
	Board    board.Identity `json:"board"`
	// Chip is the device id of the chip, of the one behind a probe too; ""
	// until it was read.
	Chip string `json:"chip,omitempty"`
	// Aliases are serial numbers that its programs show.
	Aliases []string  `json:"aliases,omitempty"`
	Since   time.Time `json:"since"`
}

// Pin is what to look for.
func (p Pin) Pin() board.Pin { return board.Pin{Identity: p.Board, Aliases: p.Aliases} }

// Store is the file in a state folder.
type Store struct{ dir string }

// New returns the store in a state folder, which need not exist yet.
func New(dir string) *Store { return &Store{dir} }

// Path is the file's path.
func (s *Store) Path() string { return filepath.Join(s.dir, "boards.json") }

// Read returns what the file says; a file that does not exist says nothing.
func (s *Store) Read() (Boards, error) {
	b := Boards{Schema: Schema, Pins: map[string]Pin{}, Probes: map[string]Pin{}, Nicknames: map[string]board.Identity{}}
	f, err := os.Open(s.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, s.fault("cannot be read", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return b, s.fault("cannot be read", err)
	}
	if len(data) > maxFile {
		return b, s.fault("is too large", fmt.Errorf("more than %d bytes", maxFile))
	}
	if err := Parse(data, &b); err != nil {
		return b, s.fault("is damaged", err)
	}
	return b, nil
}

// Parse reads the contents of the file strictly.
func Parse(data []byte, b *Boards) error {
	*b = Boards{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(b); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	if b.Schema != Schema {
		return fmt.Errorf("schema %q, need %q", b.Schema, Schema)
	}
	if b.Pins == nil {
		b.Pins = map[string]Pin{}
	}
	if b.Nicknames == nil {
		b.Nicknames = map[string]board.Identity{}
	}
	if b.Probes == nil {
		b.Probes = map[string]Pin{}
	}
	for _, pins := range []map[string]Pin{b.Pins, b.Probes} {
		for project, p := range pins {
			if !filepath.IsAbs(project) {
				return fmt.Errorf("the pin of %q: not an absolute path", project)
			}
			if _, err := board.Parse(p.Selector); err != nil {
				return fmt.Errorf("the pin of %q: %w", project, err)
			}
		}
	}
	for name := range b.Nicknames {
		if why := board.CheckNickname(name); why != "" {
			return fmt.Errorf("the nickname %q: %s", name, why)
		}
	}
	return nil
}

// Change reads the file, lets change alter what it says, and replaces it. Others
// wait meanwhile. Nothing is written if change fails.
func (s *Store) Change(change func(b *Boards) error) error {
	if err := MakeFolder(s.dir); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(s.dir, "boards.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return s.fault("cannot be changed", err)
	}
	defer lock.Close()
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return s.fault("cannot be locked", err)
		}
	}
	b, err := s.Read()
	if err != nil {
		return err
	}
	if err := change(&b); err != nil {
		return err
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := Replace(s.Path(), append(data, '\n')); err != nil {
		return s.fault("cannot be written", err)
	}
	return nil
}

// Nickname returns the nickname of a board, "" if it has none.
func (b *Boards) Nickname(id board.Identity) string {
	best := ""
	for name, n := range b.Nicknames {
		// Simulated boards have no port, and no serial number twice.
		if n.Same(id) && (best == "" || name < best) {
			best = name
		}
	}
	return best
}

// maxAliases bounds the serial numbers that are remembered of a board.
const maxAliases = 8

// Learn remembers of every pin of a board or probe what was found out about it: the
// device id of its chip, or of the one behind it, and a serial number that its program shows. "" is
// nothing new. It says whether something changed.
func (b *Boards) Learn(id board.Identity, chip, alias string) (changed bool) {
	for project, p := range b.Pins {
		if !p.Board.Same(id) && !slices.Contains(p.Aliases, id.Serial) || !p.Board.Same(id) && p.Board.Port != id.Port {
			continue
		}
		if chip != "" && p.Chip == "" {
			p.Chip, changed = chip, true
		}
		if alias != "" && !strings.EqualFold(alias, p.Board.Serial) && !slices.Contains(p.Aliases, alias) && len(p.Aliases) < maxAliases {
			p.Aliases, changed = append(slices.Clone(p.Aliases), alias), true
		}
		if p.Board.Port != id.Port {
			p.Board.Port, changed = id.Port, true
		}
		b.Pins[project] = p
	}
	for project, p := range b.Probes {
		// The chip is the one behind the probe.
		if p.Board.Same(id) && chip != "" && p.Chip == "" {
			p.Chip, changed = chip, true
			b.Probes[project] = p
		}
	}
	return changed
}

func (s *Store) fault(what string, err error) error {
	return &faults.Fault{
		Code: faults.CodeBadState, Status: faults.StatusUsage,
		Summary: "the file with pins and nicknames " + what, Seen: s.Path(), Err: err,
		Try: []string{"mend the file by hand, or set it aside: mv " + s.Path() + " " + s.Path() + ".old"},
	}
}

// MakeFolder makes a folder of the user's alone, mode 0700, with those above it.
func MakeFolder(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusPermission,
			Summary: "the state folder cannot be made", Seen: dir, Err: err,
			Try: []string{"set XDG_STATE_HOME to a folder of your own"},
		}
	}
	return nil
}

// Replace writes a file of the user's alone, whole or not at all.
func Replace(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
