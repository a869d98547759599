package card

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// Project is something that can be built: a task of a card, or a plain folder.
type Project struct {
	// Series, Card and Task are empty for a plain folder.
	Series, Card, Task, Title string
	// Dir is where it is built, a real path.
	Dir     string
	Targets []string
	Test    Test
	build   Build
	source  *source
	// more are other files of the project that bring commands.
	more []*source
}

// Adopt takes commands that stand in another file of the project: they take the
// place of make and cmake, not of the commands of a stem.toml. Like those they
// run only once the file is trusted.
func (p *Project) Adopt(path string, text []byte, build, test []string) {
	if len(p.build.Command) > 0 {
		build = nil
	}
	if len(p.Test.Command) > 0 {
		test = nil
	}
	if len(build)+len(test) == 0 {
		return
	}
	sum := sha256.Sum256(text)
	s := &source{File: &File{Build: Build{Command: build}, Test: Test{Command: test}}, path: path, digest: hex.EncodeToString(sum[:])}
	p.more = append(p.more, s)
	if len(build) > 0 {
		p.build.Command = build
	}
	if len(test) > 0 {
		p.Test.Command = test
	}
}

// task chooses a task of a card; without a word it is the card itself, or its
// first task.
func (c Card) task(words []string) (*Project, error) {
	p := &Project{Series: c.Series, Card: c.Name, Title: c.Title, Dir: c.Dir, Targets: c.Targets, Test: c.source.Test, build: c.source.Build, source: c.source}
	if len(p.Targets) == 0 {
		p.Targets = []string{RP2350RV}
	}
	if len(words) > 1 {
		f := faults.Usage("too many words behind the card %s", c.Name)
		f.Seen = strings.Join(words, " ")
		return nil, f
	}
	if len(words) == 0 && len(c.Tasks) == 0 {
		return p, nil
	}
	var names []string
	for _, t := range c.Tasks {
		names = append(names, t.Name)
		if len(words) > 0 && t.Name != words[0] {
			continue
		}
		p.Task = t.Name
		if t.Title != "" {
			p.Title = t.Title
		}
		if t.Build != nil {
			p.build = *t.Build
		}
		if t.Test != nil {
			p.Test = *t.Test
		}
		if t.Folder != "" {
			dir, err := filepath.EvalSymlinks(filepath.Join(c.Dir, t.Folder))
			if err != nil {
				return nil, fileFault(filepath.Join(c.Dir, t.Folder), err)
			}
			if rel, err := filepath.Rel(c.Dir, dir); err != nil || !filepath.IsLocal(rel) {
				return nil, badFile(c.source.path, fmt.Errorf("the folder %q of task %s leaves the card", t.Folder, t.Name))
			}
			p.Dir = dir
		}
		return p, nil
	}
	w := Workspace{Root: c.Dir}
	return nil, w.unknown("task of "+c.Series+" "+c.Name, words[0], names)
}

// Folder is the project in a folder: its stem.toml's card if it has one, else
// whatever a Makefile or a CMakeLists.txt builds.
func Folder(dir string) (*Project, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fileFault(dir, err)
	}
	s, err := readSource(filepath.Join(real, FileName))
	switch {
	case err == nil && s.Card != nil:
		return newCard(real, SeriesTable{}, s).task(nil)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return &Project{Dir: real}, nil
}

// Name is what the project is called in a session's name: "inf-bss-t4".
func (p *Project) Name() string {
	if p.Card == "" {
		base := strings.Map(func(r rune) rune {
			if r < 0x80 && name.MatchString("a"+string(r)) {
				return r
			}
			return '_'
		}, filepath.Base(p.Dir))
		if base == "" || base == "_" {
			base = "folder"
		}
		return base[:min(len(base), 32)]
	}
	n := p.Series + "-" + p.Card
	if p.Task != "" {
		n += "-t" + p.Task
	}
	return n
}

// Step is a command to run.
type Step struct {
	Argv []string
	Dir  string
	// Env is added to the environment.
	Env []string
	// Own says that the command comes from the project's stem.toml.
	Own bool
}

// Output is the program a build makes for a target; "" if only the folder tells.
func (p *Project) Output(target string) string {
	out := p.build.Output
	if out == "" && p.Card != "" && len(p.build.Command) == 0 {
		out = "build/{target}/" + p.outputName() + ".elf"
	}
	if out == "" {
		return ""
	}
	return filepath.Join(p.Dir, p.fill(out, target))
}

func (p *Project) outputName() string {
	if p.Task != "" {
		return p.Task
	}
	return p.Card
}

func (p *Project) fill(word, target string) string {
	return strings.NewReplacer("{target}", target, "{task}", p.Task, "{build}", filepath.Join("build", target)).Replace(word)
}

// env is what every command of a project gets.
func (p *Project) env(target, profile string) []string {
	return []string{
		"STEM_TARGET=" + target, "STEM_PROFILE=" + profile, "STEM_SERIES=" + p.Series, "STEM_CARD=" + p.Card, "STEM_TASK=" + p.Task,
		"STEM_BUILD=" + filepath.Join(p.Dir, "build", target),
	}
}

// BuildSteps are the commands that build it for a target with a compiler
// (a path of gcc or clang).
func (p *Project) BuildSteps(target, profile, compiler string) ([]Step, error) {
	cross := ""
	if base := filepath.Base(compiler); target != NativeAMD64 {
		cross = strings.TrimSuffix(base, "gcc")
	}
	env := p.env(target, profile)
	if len(p.build.Command) > 0 {
		return []Step{{Argv: p.words(p.build.Command, target), Dir: p.Dir, Env: append(env, "CROSS_COMPILE="+cross), Own: true}}, nil
	}
	has := func(n string) bool {
		info, err := os.Stat(filepath.Join(p.Dir, n))
		return err == nil && info.Mode().IsRegular()
	}
	switch {
	case has("CMakeLists.txt"):
		b := filepath.Join("build", target)
		conf := []string{"cmake", "-S", ".", "-B", b, "-DCMAKE_BUILD_TYPE=Debug"}
		switch target {
		case RP2350RV:
			conf = append(conf, "-DPICO_BOARD=pico2", "-DPICO_PLATFORM=rp2350-riscv")
		case RP2350Arm:
			conf = append(conf, "-DPICO_BOARD=pico2", "-DPICO_PLATFORM=rp2350-arm-s")
		}
		return []Step{{Argv: conf, Dir: p.Dir, Env: env}, {Argv: []string{"cmake", "--build", b}, Dir: p.Dir, Env: env}}, nil
	case has("Makefile") || has("makefile") || has("GNUmakefile"):
		argv := []string{"make", "--no-print-directory", "TARGET=" + target, "BUILD=build/" + target}
		if p.Task != "" {
			argv = append(argv, "TASK="+p.Task)
		}
		if p.Card != "" {
			argv = append(argv, "OUT=build/"+target+"/"+p.outputName()+".elf")
		}
		if cross != "" {
			argv = append(argv, "CROSS_COMPILE="+cross)
		} else {
			env = append(env, "STEM_CC="+filepath.Base(compiler))
		}
		return []Step{{Argv: argv, Dir: p.Dir, Env: env}}, nil
	}
	return nil, &faults.Fault{
		Code: faults.CodeBadCard, Status: faults.StatusUsage,
		Summary: "there is nothing to build in " + p.Dir, Wanted: "a Makefile, a CMakeLists.txt, or [build] in a stem.toml",
		Try: []string{"stem-hw card new NAME"},
	}
}

// TestStep is the project's own test command, if it has one.
func (p *Project) TestStep(target, profile string) (Step, bool) {
	if len(p.Test.Command) == 0 {
		return Step{}, false
	}
	return Step{Argv: p.words(p.Test.Command, target), Dir: p.Dir, Env: p.env(target, profile), Own: true}, true
}

func (p *Project) words(argv []string, target string) []string {
	out := make([]string, len(argv))
	for i, w := range argv {
		out[i] = p.fill(w, target)
	}
	return out
}

// Fits says whether it can be built for a target; a plain folder may be for any.
func (p *Project) Fits(target string) bool {
	return p.Card == "" || slices.Contains(p.Targets, target)
}

// OwnBuild says whether the project brings its own build command.
func (p *Project) OwnBuild() bool { return len(p.build.Command) > 0 }
