package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/card"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/sim/native"
)

// whatFlags choose where and for what a card, folder or file is used.
type whatFlags struct {
	profile, target string
}

func (f *whatFlags) add(cmd *cobra.Command) {
	choiceFlag(cmd, &f.profile, "profile", "auto", "the `PROFILE`: "+strings.Join(profiles.Names(), ", ")+", auto", append(profiles.Names(), "auto")...)
	choiceFlag(cmd, &f.target, "target", "", "the `TARGET`: "+strings.Join(card.Targets(), ", "), card.Targets()...)
}

// what is what a person means by the words behind a verb.
type what struct {
	// project is set for a card or a folder, file for a program.
	project *card.Project
	file    string
	profile string
	target  string
	// why the profile was chosen, if it was not asked for.
	why string
	// selector is the board that is named or pinned; empty is none.
	selector string
	// compiler builds for target; set where there is something to build.
	compiler string
}

// name is what it is called in messages and sessions.
func (w *what) name() string {
	if w.project != nil {
		return w.project.Name()
	}
	p := card.Project{Dir: strings.TrimSuffix(w.file, filepath.Ext(w.file))}
	return p.Name()
}

// isPath says whether a word can only be a path.
func isPath(word string) bool {
	return strings.ContainsRune(word, '/') || word == "." || word == ".."
}

// find finds what words mean, with the commands of the project's stem-hw.toml.
func (a *app) find(words []string, all bool) ([]*what, error) {
	whats, err := a.findWhat(words, all)
	if err != nil {
		return nil, err
	}
	for _, w := range whats {
		if w.project == nil {
			continue
		}
		overlays, err := profiles.Find(w.project.Dir)
		if err != nil {
			return nil, err
		}
		build, test, buildFile, testFile, err := profiles.CommandsIn(overlays)
		if err != nil {
			return nil, err
		}
		w.project.Adopt(buildFile.Path, buildFile.Text, build, nil)
		w.project.Adopt(testFile.Path, testFile.Text, nil, test)
	}
	return whats, nil
}

// findWhat finds what words mean: an existing file or folder, else a card. all
// asks for every task of a card that is named without one.
func (a *app) findWhat(words []string, all bool) ([]*what, error) {
	if len(words) == 0 {
		words = []string{"."}
	}
	info, statErr := os.Stat(words[0])
	there := len(words) == 1 && statErr == nil
	if len(words) == 1 && !there && isPath(words[0]) {
		return nil, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusImage, Summary: words[0] + " cannot be read", Err: statErr,
			Try: []string{"check the path"},
		}
	}
	if there && isPath(words[0]) {
		return one(folderOrFile(words[0], info))
	}
	root, err := card.Root(a.getenv)
	if err != nil {
		if there {
			return one(folderOrFile(words[0], info))
		}
		return nil, err
	}
	ws, err := card.Scan(root)
	if err != nil {
		return nil, err
	}
	projects, err := ws.ResolveAll(words, all)
	switch {
	case there && err == nil:
		f := faults.Usage("%q is both a path and a card", words[0])
		f.Seen = projects[0].Dir
		f.Try = []string{"./" + words[0] + " for the path", projects[0].Series + " " + projects[0].Card + " for the card"}
		return nil, f
	case there:
		return one(folderOrFile(words[0], info))
	case err != nil:
		for _, b := range ws.Broken {
			a.ui.Warn("%v", b)
		}
		if len(words) == 1 && filepath.Ext(words[0]) != "" {
			return nil, &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusImage, Summary: words[0] + " cannot be read", Err: statErr, Try: []string{"check the path"},
			}
		}
		return nil, err
	}
	var out []*what
	for _, p := range projects {
		out = append(out, &what{project: p})
	}
	return out, nil
}

func one(w *what, err error) ([]*what, error) {
	if err != nil {
		return nil, err
	}
	return []*what{w}, nil
}

func folderOrFile(path string, info fs.FileInfo) (*what, error) {
	if !info.IsDir() {
		return &what{file: path}, nil
	}
	p, err := card.Folder(path)
	return &what{project: p}, err
}

// settle chooses profile, target and compiler. fallback says whether auto may
// fall back to a simulation.
func (a *app) settle(_ context.Context, w *what, f *whatFlags, selector string, fallback bool) error {
	w.target = f.target
	if w.file != "" {
		if err := w.fileTarget(f); err != nil {
			return err
		}
	}
	if err := a.chooseProfile(w, f, selector, fallback); err != nil {
		return err
	}
	if w.target == "" {
		w.target = defaultTarget(w.profile, w.project)
	}
	if (w.target == card.NativeAMD64) != (w.profile == profiles.NativeAMD64) {
		u := faults.Usage("the target %s does not run in the profile %s", w.target, w.profile)
		u.Try = []string{"--profile " + profileOf(w.target)}
		return u
	}
	if w.project == nil {
		return nil
	}
	if !w.project.Fits(w.target) {
		u := faults.Usage("%s is not made for the target %s", w.project.Name(), w.target)
		u.Wanted = strings.Join(w.project.Targets, ", ")
		return u
	}
	var err error
	if w.compiler, err = compilerFor(w.target); err != nil && w.project.OwnBuild() {
		err = nil // its command knows what it needs
	}
	return err
}

// fileTarget is the target that a file is for.
func (w *what) fileTarget(f *whatFlags) error {
	t := ""
	if native.Is(w.file) {
		t = card.NativeAMD64
	} else if img, err := image.Open(w.file); err == nil {
		t = card.TargetOf(img.Arch)
	} else {
		return err
	}
	if t == "" {
		t = f.target
	}
	if f.target != "" && f.target != t {
		u := faults.Usage("%s is not for the target %s", w.file, f.target)
		u.Seen = "a program for " + t
		return u
	}
	w.target = t
	return nil
}

func profileOf(target string) string {
	if target == card.NativeAMD64 {
		return profiles.NativeAMD64
	}
	return profiles.Hazard3Sim
}

func defaultTarget(profile string, p *card.Project) string {
	fits := []string{card.RP2350RV, card.RP2350Arm}
	if profile == profiles.NativeAMD64 {
		fits = []string{card.NativeAMD64}
	}
	if p != nil {
		for _, t := range p.Targets {
			if slices.Contains(fits, t) {
				return t
			}
		}
	}
	return fits[0]
}

// chooseProfile falls back in order: a board that is named or pinned, the
// simulated one, this computer.
func (a *app) chooseProfile(w *what, f *whatFlags, selector string, fallback bool) error {
	if selector == "" {
		_, known, err := a.decisions()
		if err != nil {
			return err
		}
		project, err := state.Project(".")
		if err != nil {
			return err
		}
		if pin, ok := known.Pins[project]; ok {
			selector = pin.Selector
		}
	}
	sel, err := board.Parse(selector)
	isNative := selector != "" && err == nil && sel.Kind == board.KindNative
	if selector != "" && err != nil {
		return err
	}
	if isNative {
		selector = ""
	}
	w.selector = selector
	if f.profile != "" && f.profile != "auto" {
		w.profile = f.profile
		if w.profile != profiles.RP2350 {
			w.selector = ""
		}
		if w.profile == profiles.RP2350 && selector == "" {
			return a.noBoard()
		}
		return nil
	}
	switch {
	case isNative || w.target == card.NativeAMD64:
		w.profile, w.selector, w.why = profiles.NativeAMD64, "", "the program is for this computer"
	case selector != "":
		w.profile, w.why = profiles.RP2350, "the board "+selector+" is named or pinned"
	case !fallback:
		return a.noBoard()
	default:
		w.profile, w.why = profiles.Hazard3Sim, "no board is named or pinned for this project"
		if w.project != nil && w.target == "" && !a.canBuild(w.project, defaultTarget(profiles.Hazard3Sim, w.project)) &&
			a.canBuild(w.project, card.NativeAMD64) {
			w.profile, w.why = profiles.NativeAMD64, "no board is named or pinned, and nothing here builds for one"
		}
	}
	return nil
}

func (a *app) canBuild(p *card.Project, target string) bool {
	if !p.Fits(target) {
		return false
	}
	_, err := compilerFor(target)
	return err == nil
}

func (a *app) noBoard() error {
	return &faults.Fault{
		Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
		Summary: "no board is named, and none is pinned for this project",
		Try:     []string{"stem-hw list", "stem-hw use BOARD      (for this project)", "--profile hazard3-sim"},
	}
}

// compilerFor finds a compiler for a target.
func compilerFor(target string) (string, error) {
	t := card.ToolchainFor(target)
	var first error
	for _, p := range t.Programs {
		path, err := child.Find(p, t.Package)
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// program finds what a build made.
func (w *what) program() (string, error) {
	if w.file != "" {
		return w.file, nil
	}
	if out := w.project.Output(w.target); out != "" {
		if _, err := os.Stat(out); err != nil {
			return "", &faults.Fault{
				Code: faults.CodeBuildFailed, Status: faults.StatusImage, Summary: "the build made no program", Wanted: out, Err: err,
				Try: []string{"make it there, or say output in " + card.FileName},
			}
		}
		return out, nil
	}
	best, err := newestProgram(filepath.Join(w.project.Dir, "build", w.target), w.target)
	if best == "" && err == nil {
		best, err = newestProgram(w.project.Dir, w.target)
	}
	if err == nil && best == "" {
		err = &faults.Fault{
			Code: faults.CodeBuildFailed, Status: faults.StatusImage, Summary: "the build made no program for " + w.target, Seen: w.project.Dir,
			Try: []string{"say which one it is: stem-hw run FILE"},
		}
	}
	return best, err
}

// newestProgram is the newest ELF program for a target below dir.
func newestProgram(dir, target string) (best string, err error) {
	var newest int64
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == dir && errors.Is(err, fs.ErrNotExist) {
				return filepath.SkipAll
			}
			return err
		}
		if d.IsDir() {
			if path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "CMakeFiles" || strings.HasSuffix(d.Name(), "-build")) {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.ModTime().UnixNano() < newest || !elfFor(path, target) {
			return nil //nolint:nilerr // a file that is gone is no program
		}
		best, newest = path, info.ModTime().UnixNano()
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("looking for the program: %w", err)
	}
	return best, nil
}

func elfFor(path, target string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return false
	}
	switch target {
	case card.RP2350RV:
		return f.Machine == elf.EM_RISCV && f.Class == elf.ELFCLASS32
	case card.RP2350Arm:
		return f.Machine == elf.EM_ARM
	}
	return f.Machine == elf.EM_X86_64
}
