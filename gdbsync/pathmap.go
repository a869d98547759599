package gdbsync

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Mapping says that the folder Built, where the program was built, is the folder
// Here, where it is looked at.
type Mapping struct{ Built, Here string }

// PathMap brings source paths from where they were built to where the editor is,
// and back. The longest folder that fits counts.
type PathMap []Mapping

// ParseMapping reads "BUILT=HERE", two absolute paths.
func ParseMapping(s string) (Mapping, error) {
	built, here, ok := strings.Cut(s, "=")
	m := Mapping{filepath.Clean(built), filepath.Clean(here)}
	if !ok || !filepath.IsAbs(m.Here) || built == "" || strings.ContainsAny(s, "\n\r\"\\") {
		return m, fmt.Errorf("%q is not BUILT=HERE with HERE an absolute path", s)
	}
	return m, nil
}

// Here returns where the editor finds a path of the program's.
func (m PathMap) Here(path string) string {
	return m.swap(path, func(p Mapping) (string, string) { return p.Built, p.Here })
}

// Built returns what the program calls a path of the editor's.
func (m PathMap) Built(path string) string {
	return m.swap(path, func(p Mapping) (string, string) { return p.Here, p.Built })
}

func (m PathMap) swap(path string, ends func(Mapping) (from, to string)) string {
	if path == "" {
		return ""
	}
	path = filepath.Clean(path)
	best, out := -1, path
	for _, p := range m {
		from, to := ends(p)
		rest, ok := below(path, from)
		if ok && len(from) > best {
			best, out = len(from), filepath.Join(to, rest)
		}
	}
	return out
}

// below returns what of path is below dir.
func below(path, dir string) (rest string, ok bool) {
	if path == dir {
		return "", true
	}
	if dir != "/" {
		dir += "/"
	}
	return strings.CutPrefix(path, dir)
}
