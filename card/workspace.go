package card

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// How far a workspace is searched.
const (
	maxDepth = 6
	maxCards = 5000
)

// Root returns the workspace root: $STEM_WORKSPACE, or ~/dev/workspace/stem.
func Root(getenv func(string) string) (string, error) {
	root := getenv("STEM_WORKSPACE")
	if root == "" {
		home := getenv("HOME")
		if home == "" {
			return "", faults.Usage("there is no workspace: neither STEM_WORKSPACE nor HOME is set")
		}
		root = filepath.Join(home, "dev", "workspace", "stem")
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", faults.Internal(err)
	}
	return abs, nil
}

// Card is one card of a workspace.
type Card struct {
	Series, SeriesTitle string
	Name, Title         string
	// Dir is the card's folder, a real path.
	Dir     string
	Targets []string
	Tasks   []TaskTable
	source  *source
}

// Workspace is what a workspace root holds.
type Workspace struct {
	Root  string
	Cards []Card
	// Broken are files that cannot be used.
	Broken []error
}

// Scan looks for cards below a root. Links and hidden folders are not followed.
// A root that does not exist holds nothing.
func Scan(root string) (*Workspace, error) {
	w := &Workspace{Root: root}
	real, err := filepath.EvalSymlinks(root)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, fileFault(root, err)
	}
	w.Root = real
	return w, w.scan(real, SeriesTable{}, 0)
}

func (w *Workspace) scan(dir string, series SeriesTable, depth int) error {
	s, err := readSource(filepath.Join(dir, FileName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		w.Broken = append(w.Broken, err)
	default:
		if s.Series != nil {
			series = *s.Series
		}
		if s.Card != nil {
			w.Cards = append(w.Cards, newCard(dir, series, s))
		}
	}
	if depth == maxDepth || len(w.Cards) >= maxCards {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if depth == 0 {
			return fileFault(dir, err)
		}
		return nil // a folder that may not be read holds no card of ours
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "build" {
			if err := w.scan(filepath.Join(dir, e.Name()), series, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func newCard(dir string, series SeriesTable, s *source) Card {
	c := Card{
		Series: series.Name, SeriesTitle: series.Title, Name: s.Card.Name, Title: s.Card.Title, Dir: dir,
		Targets: s.Card.Targets, Tasks: s.Tasks, source: s,
	}
	if s.Card.Series != "" && s.Card.Series != c.Series {
		c.Series, c.SeriesTitle = s.Card.Series, ""
	}
	if c.Series == "" {
		c.Series = "cards"
	}
	return c
}

// Resolve finds what words name: SERIES CARD [TASK], or CARD [TASK] where one
// card alone is called so.
func (w *Workspace) Resolve(words []string) (*Project, error) {
	if len(words) == 0 || len(words) > 3 {
		f := faults.Usage("a card is named by its series, its name and perhaps a task")
		f.Seen, f.Wanted = strings.Join(words, " "), "SERIES CARD [TASK]"
		return nil, f
	}
	var series []string
	for _, c := range w.Cards {
		series = appendNew(series, c.Series)
	}
	if slices.Contains(series, words[0]) {
		return w.inSeries(words[0], words[1:])
	}
	// A card's name alone.
	var found []Card
	var names []string
	for _, c := range w.Cards {
		names = append(names, c.Name)
		if c.Name == words[0] {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		return found[0].task(words[1:])
	}
	if len(found) > 1 {
		f := faults.Usage("several cards are called %q", words[0])
		for _, c := range found {
			f.Details = append(f.Details, "stem-hw … "+c.Series+" "+c.Name)
		}
		f.Status = faults.StatusAmbiguous
		return nil, f
	}
	return nil, w.unknown("series or card", words[0], append(series, names...))
}

func (w *Workspace) inSeries(series string, words []string) (*Project, error) {
	var names []string
	for _, c := range w.Cards {
		if c.Series != series {
			continue
		}
		names = append(names, c.Name)
		if len(words) > 0 && c.Name == words[0] {
			return c.task(words[1:])
		}
	}
	if len(words) == 0 {
		f := faults.Usage("%q is a series: which card of it?", series)
		f.Details = names
		f.Try = []string{"stem-hw card list"}
		return nil, f
	}
	return nil, w.unknown("card of "+series, words[0], names)
}

func (w *Workspace) unknown(what, word string, names []string) error {
	f := faults.Usage("there is no %s called %q", what, word)
	f.Code = faults.CodeNoCard
	near := Near(word, names)
	switch {
	case len(near) > 0:
		f.Wanted = "perhaps " + strings.Join(near, ", ")
	case len(names) > 0:
		f.Wanted = "one of " + strings.Join(names[:min(len(names), 12)], ", ")
	default:
		f.Seen = fmt.Sprintf("no card below %s", w.Root)
	}
	f.Try = []string{"stem-hw card list"}
	return f
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// ResolveAll is Resolve; with all, a card that is named without a task stands for
// each of its tasks.
func (w *Workspace) ResolveAll(words []string, all bool) ([]*Project, error) {
	p, err := w.Resolve(words)
	if err != nil {
		return nil, err
	}
	out := []*Project{p}
	if !all || p.Task == "" || words[len(words)-1] == p.Task && len(words) > 1 && words[len(words)-2] == p.Card {
		return out, nil
	}
	for _, c := range w.Cards {
		if c.source != p.source {
			continue
		}
		out = nil
		for _, t := range c.Tasks {
			q, err := c.task([]string{t.Name})
			if err != nil {
				return nil, err
			}
			out = append(out, q)
		}
	}
	return out, nil
}
