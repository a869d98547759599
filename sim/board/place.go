package board

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// Place is where one simulated board lives.
type Place struct {
	// Name is the board's name.
	Name string
	// Dir is its folder in the state folder.
	Dir string
	// Socket is the path of the server's socket.
	Socket string
}

// maxSocketPath is the longest path of a Unix socket (sun_path of unix(7)).
const maxSocketPath = 107

// NewPlace returns the place of the board called name, below a state folder and
// a runtime folder.
func NewPlace(state, runtime, name string) (Place, error) {
	if why := board.CheckName(name); why != "" {
		f := faults.Usage("a simulated board cannot be called %q", name)
		f.Seen = why
		return Place{}, f
	}
	dir := filepath.Join(state, "sim", name)
	// The runtime folder is one for all state folders of a user.
	sum := sha256.Sum256([]byte(dir))
	p := Place{Name: name, Dir: dir, Socket: filepath.Join(runtime, "sim-"+hex.EncodeToString(sum[:6]))}
	if len(p.Socket) > maxSocketPath {
		return Place{}, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusInternal,
			Summary: "the path of a socket is too long",
			Seen:    fmt.Sprintf("%d bytes: %s", len(p.Socket), p.Socket), Wanted: fmt.Sprintf("at most %d", maxSocketPath),
			Try: []string{"set XDG_RUNTIME_DIR to a short path"},
		}
	}
	return p, nil
}

// Names lists the boards that exist below a state folder.
func Names(state string) []string {
	entries, err := os.ReadDir(filepath.Join(state, "sim"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && board.CheckName(e.Name()) == "" {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names
}

// Exists reports whether the board was ever used.
func (p Place) Exists() bool {
	st, err := os.Stat(p.Dir)
	return err == nil && st.IsDir()
}

// Selector is how the board is named on a command line.
func (p Place) Selector() string {
	return board.Selector{Kind: board.KindSim, Text: p.Name}.String()
}

// ChipID is the identity of the board's chip. It follows from the name, so that
// runs repeat.
func (p Place) ChipID() uint64 {
	if p.Name == board.DefaultSim {
		return rp2350.DefaultChipID
	}
	sum := sha256.Sum256([]byte("simulated board " + p.Name))
	return binary.BigEndian.Uint64(sum[:8]) | 1
}

// Serial is the serial number that the board shows.
func (p Place) Serial() string { return fmt.Sprintf("%016X", p.ChipID()) }

func (p Place) file(name string) string { return filepath.Join(p.Dir, name) }

// LogPath is where the server's own messages go.
func (p Place) LogPath() string { return p.file("log") }
