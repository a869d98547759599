package profiles

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

//go:embed rp2350.toml hazard3-sim.toml native-amd64.toml
var files embed.FS

// The names of the profiles.
const (
	RP2350      = "rp2350"
	Hazard3Sim  = "hazard3-sim"
	NativeAMD64 = "native-amd64"
)

// Default is the profile when nobody chose one.
const Default = RP2350

// The overlays' file names.
const (
	ProjectFile = "stem-hw.toml"
	LocalFile   = "stem-hw.local.toml"
)

// maxFile bounds an overlay: a settings file is small.
const maxFile = 1 << 20

// Names returns the profiles there are, the default first.
func Names() []string { return []string{RP2350, Hazard3Sim, NativeAMD64} }

// Overlay is one file that lies over a profile.
type Overlay struct {
	// Path is the file, for messages.
	Path string
	Text []byte
}

// overlay is what a file may hold.
type overlay struct {
	Profile string `toml:"profile"`
	Settings
}

// Load returns the profile called name with overlays laid over it, first to
// last. With an empty name the overlays choose, else Default.
func Load(name string, overlays ...Overlay) (*Profile, error) {
	layers := make([]*document, 0, len(overlays))
	chosen := name
	for _, o := range overlays {
		d, err := parse(o)
		if err != nil {
			return nil, err
		}
		var file overlay
		if err := d.decode(&file); err != nil {
			return nil, err
		}
		if file.Profile != "" {
			if !known(file.Profile) {
				return nil, d.fault("profile", unknownProfile(file.Profile))
			}
			if name == "" {
				chosen = file.Profile
			}
		}
		layers = append(layers, d)
	}
	if chosen == "" {
		chosen = Default
	}
	p, err := builtin(chosen)
	if err != nil {
		return nil, err
	}
	settings := overlay{Settings: p.Settings}
	for _, d := range layers {
		if err := d.decode(&settings); err != nil {
			return nil, err
		}
		if key, err := settings.check(&p.Chip); err != nil {
			return nil, d.fault(key, err)
		}
	}
	p.Settings = settings.Settings
	return p, nil
}

func known(name string) bool {
	for _, n := range Names() {
		if n == name {
			return true
		}
	}
	return false
}

func unknownProfile(name string) error {
	err := fmt.Errorf("there is no profile %q (there are %s)", name, strings.Join(Names(), ", "))
	if n := nearest(name, Names()); n != "" {
		return &hint{err, fmt.Sprintf("profile = %q", n)}
	}
	return err
}

// builtin reads an embedded profile.
func builtin(name string) (*Profile, error) {
	if !known(name) {
		f := faults.Usage("there is no profile %q", name)
		f.Wanted = "one of " + strings.Join(Names(), ", ")
		return nil, f
	}
	text, err := files.ReadFile(name + ".toml")
	if err != nil {
		return nil, err
	}
	d, err := parse(Overlay{Path: name + ".toml", Text: text})
	if err != nil {
		return nil, err
	}
	// Values that a profile may leave out.
	p := &Profile{Settings: Settings{
		Board:   Board{LED: -1},
		Console: Console{Baud: 115200, DataBits: 8, Parity: "none", StopBits: 1, DTR: true, Reconnect: true},
		Flash:   Flash{Verify: true},
		Debug:   Debug{SWDKHz: 5000, SWDKHzMin: 500},
		Run:     Run{Speed: "auto"},
	}}
	if err := d.decode(p); err != nil {
		return nil, err
	}
	if key, err := p.check(&p.Chip); err != nil {
		return nil, d.fault(key, err)
	}
	return p, nil
}

// Find reads the overlays for work in dir: the nearest stem-hw.toml from dir
// upwards, and the stem-hw.local.toml in the same folder. The search ends at a
// folder with a .git, at the user's home, and at the root. Without a project
// file it returns nothing.
func Find(dir string) ([]Overlay, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one the search just goes on to the root
	for {
		found, err := at(dir)
		if err != nil || len(found) > 0 {
			return found, err
		}
		_, gitErr := os.Lstat(filepath.Join(dir, ".git"))
		up := filepath.Dir(dir)
		if gitErr == nil || dir == home || up == dir {
			return nil, nil
		}
		dir = up
	}
}

func at(dir string) (found []Overlay, err error) {
	for _, name := range []string{ProjectFile, LocalFile} {
		o, err := readFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		found = append(found, o)
	}
	return found, nil
}

func readFile(path string) (Overlay, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		return Overlay{}, &faults.Fault{
			Code: faults.CodeBadProfile, Status: faults.StatusUsage,
			Summary: path + " is not a settings file",
			Seen:    fmt.Sprintf("%s, %d bytes", info.Mode().Type(), info.Size()),
			Wanted:  fmt.Sprintf("a regular file of at most %d bytes", maxFile),
		}
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Overlay{}, err
	}
	if err != nil {
		return Overlay{}, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusUsage,
			Summary: "cannot read " + path, Err: err,
		}
	}
	return Overlay{Path: path, Text: text}, nil
}
