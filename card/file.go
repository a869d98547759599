package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
)

// FileName is what the files are called.
const FileName = "stem.toml"

// maxFile bounds one: it is a page of text.
const maxFile = 256 << 10

// File is what a stem.toml says.
type File struct {
	Series *SeriesTable `toml:"series"`
	Card   *Table       `toml:"card"`
	Build  Build        `toml:"build"`
	Test   Test         `toml:"test"`
	Tasks  []TaskTable  `toml:"task"`
}

// SeriesTable is [series].
type SeriesTable struct {
	Name  string `toml:"name"`
	Title string `toml:"title"`
}

// Table is the [card] of a file.
type Table struct {
	Name    string   `toml:"name"`
	Series  string   `toml:"series"`
	Title   string   `toml:"title"`
	Targets []string `toml:"targets"`
}

// TaskTable is one [[task]].
type TaskTable struct {
	Name  string `toml:"name"`
	Title string `toml:"title"`
	// Folder is below the card's.
	Folder string `toml:"folder"`
	Build  *Build `toml:"build"`
	Test   *Test  `toml:"test"`
}

// Build is [build]. In its words {target}, {task} and {build} stand for those.
type Build struct {
	// Command is a program and its arguments; none is make or cmake.
	Command []string `toml:"command"`
	// Output is the program that comes out, below the folder.
	Output string `toml:"output"`
}

// Test is [test].
type Test struct {
	// Command is a program that tests, in place of running what was built.
	Command []string `toml:"command"`
	// Expect are texts that must be printed, Fail texts that mean failure.
	Expect  []string          `toml:"expect"`
	Fail    []string          `toml:"fail"`
	Input   string            `toml:"input"`
	Timeout profiles.Duration `toml:"timeout"`
}

// name is what series, cards and tasks may be called: words of a command line
// and parts of a session's name.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

// ParseFile reads a stem.toml strictly. path is for messages.
func ParseFile(path string, text []byte) (*File, error) {
	var f File
	dec := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, badFile(path, err)
	}
	if why := f.check(); why != "" {
		return nil, badFile(path, errors.New(why))
	}
	return &f, nil
}

func badFile(path string, err error) error {
	fault := &faults.Fault{
		Code: faults.CodeBadCard, Status: faults.StatusUsage, Summary: path + " has a mistake", Seen: err.Error(),
		Try: []string{"stem-hw card new NAME     (makes one to compare with)"},
	}
	var strict *toml.StrictMissingError
	var de *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		line, _ := strict.Errors[0].Position()
		fault.Summary = fmt.Sprintf("%s:%d has a mistake", path, line)
		fault.Seen = "a key that does not exist: " + strings.Join(strict.Errors[0].Key(), ".")
	case errors.As(err, &de):
		line, col := de.Position()
		fault.Summary = fmt.Sprintf("%s:%d:%d has a mistake", path, line, col)
		fault.Seen = strings.TrimPrefix(de.Error(), "toml: ")
	}
	return fault
}

func (f *File) check() string {
	if f.Series != nil && !name.MatchString(f.Series.Name) {
		return fmt.Sprintf("the series' name %q: letters, digits, - and _, at most 32", f.Series.Name)
	}
	if f.Card == nil {
		if len(f.Tasks) > 0 {
			return "tasks without a [card]"
		}
		return ""
	}
	if !name.MatchString(f.Card.Name) {
		return fmt.Sprintf("the card's name %q: letters, digits, - and _, at most 32", f.Card.Name)
	}
	if f.Card.Series != "" && !name.MatchString(f.Card.Series) {
		return fmt.Sprintf("the series %q: letters, digits, - and _, at most 32", f.Card.Series)
	}
	for _, t := range f.Card.Targets {
		if !slices.Contains(Targets(), t) {
			return fmt.Sprintf("the target %q: there are %s", t, strings.Join(Targets(), ", "))
		}
	}
	seen := map[string]bool{}
	for _, t := range f.Tasks {
		switch {
		case !name.MatchString(t.Name):
			return fmt.Sprintf("the task's name %q: letters, digits, - and _, at most 32", t.Name)
		case seen[t.Name]:
			return fmt.Sprintf("two tasks are called %q", t.Name)
		case t.Folder != "" && !filepath.IsLocal(t.Folder):
			return fmt.Sprintf("the folder %q of task %s is not below the card's", t.Folder, t.Name)
		case t.Build != nil && t.Build.bad() != "":
			return t.Build.bad()
		}
		seen[t.Name] = true
	}
	return f.Build.bad()
}

func (b *Build) bad() string {
	if b.Output != "" && !filepath.IsLocal(b.Output) {
		return fmt.Sprintf("the output %q is not below the card's folder", b.Output)
	}
	if len(b.Command) > 0 && b.Command[0] == "" {
		return "a command without a program"
	}
	return ""
}

// commands are the commands a file brings along.
func (f *File) commands() (out [][]string) {
	add := func(b *Build, t *Test) {
		if b != nil && len(b.Command) > 0 {
			out = append(out, b.Command)
		}
		if t != nil && len(t.Command) > 0 {
			out = append(out, t.Command)
		}
	}
	add(&f.Build, &f.Test)
	for _, t := range f.Tasks {
		add(t.Build, t.Test)
	}
	return out
}

// source is a file with its digest.
type source struct {
	*File
	path, digest string
}

// readSource reads a stem.toml; it must be a plain file.
func readSource(path string) (*source, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, badFile(path, fmt.Errorf("not a plain file of at most %d bytes", maxFile))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fileFault(path, err)
	}
	f, err := ParseFile(path, text)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return &source{f, path, hex.EncodeToString(sum[:])}, nil
}

func fileFault(path string, err error) error {
	status := faults.StatusUsage
	if errors.Is(err, fs.ErrPermission) {
		status = faults.StatusPermission
	}
	return &faults.Fault{Code: faults.CodeFileAccess, Status: status, Summary: "cannot read " + path, Err: err, Try: []string{"ls -l " + path}}
}
