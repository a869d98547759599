package mcp

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

// cardPath is the absolute path of something in the card. Neither .. nor a link
// leads out of it.
func (p *Place) cardPath(path string) (string, error) {
	rel, err := p.inCard(path)
	if err != nil {
		return "", err
	}
	return filepath.Join(p.Record.Card, rel), nil
}

// inCard is a path below the card, with every link on the way checked.
func (p *Place) inCard(path string) (string, error) {
	if strings.ContainsAny(path, "\x00\n\r") || path == "" || len(path) > 1024 {
		return "", badArgument("path", "a path in the card")
	}
	rel := path
	if filepath.IsAbs(path) {
		r, err := filepath.Rel(p.Record.Card, path)
		if err != nil {
			return "", outOfCard(path)
		}
		rel = r
	}
	rel = filepath.Clean(rel)
	if !filepath.IsLocal(rel) {
		return "", outOfCard(path)
	}
	card, err := filepath.EvalSymlinks(p.Record.Card)
	if err != nil {
		return "", faults.Internal(err)
	}
	// What does not exist has its folder checked.
	for at := rel; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(filepath.Join(card, at))
		if err == nil {
			if real != card && !strings.HasPrefix(real, card+"/") {
				return "", outOfCard(path)
			}
			break
		}
		if !os.IsNotExist(err) || at == "." {
			return "", outOfCard(path)
		}
		if _, err := os.Lstat(filepath.Join(card, at)); err == nil {
			return "", outOfCard(path) // a link to what does not exist
		}
	}
	return rel, nil
}

func outOfCard(path string) *faults.Fault {
	return refused("this path is not in the card", fmt.Sprintf("%q", path))
}

// readCard reads a file of the card.
func (p *Place) readCard(path string) (string, error) {
	rel, err := p.inCard(path)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(p.Record.Card)
	if err != nil {
		return "", faults.Internal(err)
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the file cannot be read", Seen: fmt.Sprintf("%q", path), Err: err}
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", refused("this is no plain file", fmt.Sprintf("%q", path))
	}
	text, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return "", faults.Internal(err)
	}
	return string(text), nil
}

// fixed are files that decide what is run or trusted; an agent does not edit
// them, in any case of letters.
var fixed = struct{ names, suffixes []string }{
	names:    []string{"makefile", "gnumakefile", "cmakelists.txt", "meson.build", "build.ninja", "compile_flags.txt", ".clangd"},
	suffixes: []string{".toml", ".ld", ".lds", ".x", ".mk", ".cmake", ".cfg", ".gdb", ".py", ".sh", ".lua", ".vim", ".json"},
}

// editable is the path of a source file of the card.
func (p *Place) editable(path string) (string, error) {
	abs, err := p.cardPath(path)
	if err != nil {
		return "", err
	}
	rel, err := p.inCard(path)
	if err != nil {
		return "", err
	}
	no := func() error {
		return refused("this file is not edited by an agent: it decides what is built, run or trusted", fmt.Sprintf("%q", path), "ask the person: student_notify")
	}
	// By its real name, too: a link may be called main.c.
	all := []string{rel}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		if card, err := filepath.EvalSymlinks(p.Record.Card); err == nil {
			if r, err := filepath.Rel(card, real); err == nil {
				all = append(all, r)
			}
		}
	}
	for _, rel := range all {
		for _, part := range strings.Split(strings.ToLower(rel), "/") {
			if strings.HasPrefix(part, ".") {
				return "", no()
			}
		}
		base := strings.ToLower(filepath.Base(rel))
		for _, n := range fixed.names {
			if base == n {
				return "", no()
			}
		}
		for _, s := range fixed.suffixes {
			if strings.HasSuffix(base, s) {
				return "", no()
			}
		}
	}
	return abs, nil
}
