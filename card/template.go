package card

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

//go:embed all:template
var templates embed.FS

// Templates are what a new card can begin as.
func Templates() []string { return []string{"c", "sdk", "asm", "mixed"} }

// New makes a card in dir, which must not exist or be empty.
func New(dir, cardName, template string) error {
	if !name.MatchString(cardName) {
		f := faults.Usage("this cannot be a card's name")
		f.Seen, f.Wanted = cardName, "letters, digits, - and _, at most 32"
		return f
	}
	if !slices.Contains(Templates(), template) {
		f := faults.Usage("there is no template %q", template)
		f.Wanted = strings.Join(Templates(), ", ")
		return f
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the folder is not empty", Seen: dir, Err: err,
			Wanted: "a folder that does not exist yet", Try: []string{"another name"},
		}
	}
	folders := []string{template}
	if template != "sdk" {
		folders = append(folders, "stem")
	}
	for _, f := range folders {
		from := path.Join("template", f)
		err := fs.WalkDir(templates, from, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := templates.ReadFile(p)
			if err != nil {
				return err
			}
			rel := strings.TrimPrefix(p, from+"/")
			if f == "stem" {
				rel = path.Join("stem", rel)
			}
			to := filepath.Join(dir, filepath.FromSlash(rel))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, []byte(strings.ReplaceAll(string(text), "@NAME@", cardName)), 0o644)
		})
		if err != nil {
			return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusInternal, Summary: "the card cannot be written", Seen: dir, Err: err}
		}
	}
	return nil
}
