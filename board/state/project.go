package state

import (
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/faults"
)

// Folder returns the user's state folder from the environment:
// $XDG_STATE_HOME/stem-hw, or ~/.local/state/stem-hw.
func Folder(getenv func(string) string) (string, error) {
	base := getenv("XDG_STATE_HOME")
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			return "", &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusUsage,
				Summary: "there is no folder to keep state in",
				Seen:    "neither XDG_STATE_HOME nor HOME is set", Try: []string{"export HOME=/home/you"},
			}
		}
		base = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(base) {
		return "", &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusUsage,
			Summary: "the state folder has no absolute path", Seen: "XDG_STATE_HOME=" + base,
			Try: []string{"unset XDG_STATE_HOME"},
		}
	}
	return filepath.Join(base, "stem-hw"), nil
}

// marks are what the top folder of a project has, best first.
var marks = []string{"stem-hw.toml", ".git"}

// Project returns the real path of the project that dir belongs to: the nearest
// folder from dir upwards with a stem-hw.toml, else with a .git, else dir.
func Project(dir string) (string, error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return "", &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusUsage,
			Summary: "the working folder cannot be found", Err: err, Try: []string{"cd to a folder that exists"},
		}
	}
	for _, mark := range marks {
		for d := real; ; d = filepath.Dir(d) {
			if _, err := os.Lstat(filepath.Join(d, mark)); err == nil {
				return d, nil
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	return real, nil
}
