package report

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/ui"
)

// Written is a file that was written, and what is in it.
type Written struct {
	// Verb is what was done: "convert", "combine", "split", "seal".
	Verb   string   `json:"verb"`
	Inputs []string `json:"inputs"`
	Files  []Output `json:"files"`
	// Warnings and Notes are for standard error in text; JSON carries them.
	Warnings []string `json:"warnings,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Output is one file.
type Output struct {
	File   string `json:"file"`
	Format string `json:"format"`
	Family string `json:"family,omitempty"`
	// Blocks is the number of UF2 blocks; Bytes the size of the contents.
	Blocks int    `json:"blocks,omitempty"`
	Bytes  uint64 `json:"content_bytes"`
	Start  Addr   `json:"start"`
	End    Addr   `json:"end"`
	// Erratum is true if the extra block for RP2350-E10 is in front.
	Erratum bool   `json:"erratum_e10_block,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Version string `json:"version,omitempty"`
}

// Kind is "image-written".
func (*Written) Kind() string { return "image-written" }

// Text is one line a file.
func (w *Written) Text(t *ui.Text) {
	for _, f := range w.Files {
		s := fmt.Sprintf("%s, %s", strings.ToUpper(f.Format), size(f.Bytes))
		if f.Family != "" {
			s += ", family " + f.Family
		}
		if f.Blocks > 0 {
			s += fmt.Sprintf(", %d blocks", f.Blocks)
		}
		if f.Version != "" {
			s += ", version " + f.Version
		}
		if f.Hash != "" {
			s += ", hash " + f.Hash[:16] + "…"
		}
		t.Linef("%s: %s, %s-%s", f.File, s, f.Start, f.End)
	}
}
