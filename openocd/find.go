package openocd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Found is an OpenOCD on the machine.
type Found struct {
	// Path is the program; Where says in words what led to it.
	Path  string `json:"path"`
	Where string `json:"where"`
}

// Places are where programs are looked for.
type Places struct {
	// Named is $OPENOCD, which comes first; Path is $PATH; Home the home folder.
	Named, Path, Home string
	// Opt is /opt.
	Opt string
}

// PlacesOf reads an environment.
func PlacesOf(getenv func(string) string) Places {
	return Places{Named: getenv("OPENOCD"), Path: getenv("PATH"), Home: getenv("HOME"), Opt: "/opt"}
}

// Find lists every OpenOCD, each once, whatever led to it first.
func Find(p Places) []Found {
	var all []Found
	var seen []string
	add := func(path, where string) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || slices.Contains(seen, real) {
			return
		}
		if st, err := os.Stat(real); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
			return
		}
		seen = append(seen, real)
		all = append(all, Found{path, where})
	}
	for _, path := range strings.Fields(p.Named) {
		if filepath.IsAbs(path) {
			add(path, "$OPENOCD")
		}
	}
	for _, dir := range filepath.SplitList(p.Path) {
		if filepath.IsAbs(dir) { // what lies in a project is not looked for
			add(filepath.Join(dir, "openocd"), "PATH")
		}
	}
	glob := func(where string, patterns ...string) {
		for _, pattern := range patterns {
			found, _ := filepath.Glob(pattern)
			slices.Sort(found)
			slices.Reverse(found) // later versions first
			for _, path := range found {
				add(path, where)
			}
		}
	}
	if filepath.IsAbs(p.Home) {
		sdk := filepath.Join(p.Home, ".pico-sdk", "openocd")
		glob("~/.pico-sdk", sdk+"/*/openocd", sdk+"/*/bin/openocd")
	}
	if p.Opt != "" {
		glob(p.Opt, p.Opt+"/openocd*/bin/openocd", p.Opt+"/openocd*/openocd", p.Opt+"/*/openocd*/bin/openocd")
	}
	return all
}
