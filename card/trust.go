package card

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// TrustSchema is the format of the file with the trusted files.
const TrustSchema = "stem-hw/trust/1"

// Trust knows which files a person trusted: by path and digest, in the user's
// state folder, where no project can write.
type Trust struct{ dir string }

// NewTrust returns the trust kept in a state folder.
func NewTrust(dir string) *Trust { return &Trust{dir} }

type trusted struct {
	Schema string           `json:"schema"`
	Files  map[string]entry `json:"files"`
}

type entry struct {
	SHA256 string    `json:"sha256"`
	Since  time.Time `json:"since"`
}

func (t *Trust) path() string { return filepath.Join(t.dir, "trust.json") }

func (t *Trust) read() (trusted, error) {
	all := trusted{Schema: TrustSchema, Files: map[string]entry{}}
	data, err := os.ReadFile(t.path())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(&all)
	}
	if err == nil && all.Schema != TrustSchema {
		err = fmt.Errorf("schema %q, need %q", all.Schema, TrustSchema)
	}
	if err != nil {
		return all, &faults.Fault{
			Code: faults.CodeBadState, Status: faults.StatusUsage, Summary: "the file with the trusted projects cannot be used",
			Seen: t.path(), Err: err, Try: []string{"mv " + t.path() + " " + t.path() + ".old"},
		}
	}
	if all.Files == nil {
		all.Files = map[string]entry{}
	}
	return all, nil
}

// sources are the project's files that bring commands.
func (p *Project) sources() (out []*source) {
	for _, s := range append([]*source{p.source}, p.more...) {
		if s != nil && len(s.commands()) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Commands are the commands of the project's own files, one a line, for a person
// to read.
func (p *Project) Commands() (out []string) {
	for _, s := range p.sources() {
		for _, c := range s.commands() {
			words := make([]string, len(c))
			for i, w := range c {
				words[i] = fmt.Sprintf("%q", w)
			}
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// File is the project's file that brings commands, else its stem.toml; "" for a
// plain folder.
func (p *Project) File() string {
	if all := p.sources(); len(all) > 0 {
		return all[0].path
	}
	if p.source == nil {
		return ""
	}
	return p.source.path
}

// Check returns nil if a person trusted the project's files as they are now, or
// if they bring no commands. It compares with what was read: a file that changes
// meanwhile gains nothing.
func (t *Trust) Check(p *Project) error {
	for _, s := range p.sources() {
		all, err := t.read()
		if err != nil {
			return err
		}
		e, known := all.Files[s.path]
		if known && e.SHA256 == s.digest {
			continue
		}
		f := &faults.Fault{
			Code: faults.CodeUntrusted, Status: faults.StatusRefused,
			Summary: "this project brings commands of its own, and nobody has trusted them",
			Seen:    s.path, Details: p.Commands(),
			Try: []string{"read " + s.path + ", then: stem-hw card trust " + s.path},
		}
		if known {
			f.Summary = "this project's commands have changed since they were trusted"
		}
		return f
	}
	return nil
}

// Add trusts the project's files as they were read.
func (t *Trust) Add(p *Project, now time.Time) error {
	if p.source == nil && len(p.more) == 0 {
		return faults.Usage("there is no %s to trust", FileName)
	}
	if err := state.MakeFolder(t.dir); err != nil {
		return err
	}
	all, err := t.read()
	if err != nil {
		return err
	}
	files := p.more
	if p.source != nil {
		files = append([]*source{p.source}, files...)
	}
	for _, s := range files {
		all.Files[s.path] = entry{s.digest, now.UTC().Truncate(time.Second)}
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return faults.Internal(err)
	}
	return state.Replace(t.path(), append(data, '\n'))
}
