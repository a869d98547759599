package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/job"
	"github.com/stem-hw/stem-hw/mcp"
)

// jobWorkCmd carries out what was approved. People have no use for it.
func (a *app) jobWorkCmd() *cobra.Command {
	return &cobra.Command{
		Use: "work", Short: "write what was approved, until nothing is left", Hidden: true, Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			syscall.CloseOnExec(child.ReportFD)
			report := os.NewFile(child.ReportFD, "report")
			_ = report.Close()
			return a.withJobs(cmd.Context(), func(s *job.Store) error {
				for {
					ok, err := s.Work(cmd.Context(), jobRunner{a}, pauseFor)
					if err != nil || !ok {
						return err
					}
					// What was approved while this one was about to end.
					left, err := s.List(cmd.Context(), job.Filter{State: job.Approved})
					if err != nil || len(left) == 0 {
						return err
					}
				}
			})
		},
	}
}

// boardFacts are what is known of a board.
type boardFacts struct {
	Board     board.Board `json:"board"`
	Simulated bool        `json:"simulated"`
	Chip      *chipInfo   `json:"chip"`
}

// chipID is the number of the board's chip, "" if it cannot be read now. A
// simulated board's serial number is its chip's.
func (f *boardFacts) chipID() string {
	switch {
	case f.Chip != nil:
		return f.Chip.ID
	case f.Simulated:
		return f.Board.Serial
	}
	return ""
}

func (a *app) boardFacts(ctx context.Context, selector string, more ...string) (*boardFacts, error) {
	doc, err := a.verbDocument(ctx, append([]string{"info", "--board=" + selector}, more...)...)
	if err != nil {
		return nil, err
	}
	var f boardFacts
	if err := json.Unmarshal(doc, &f); err != nil {
		return nil, faults.Internal(err)
	}
	return &f, nil
}

// changes are what a request would change: the document of the verb with
// --dry-run, or of the file where the board would have to be restarted for that.
type changes struct {
	Schema string    `json:"schema"`
	Boards []flashed `json:"boards"`
	From   uint32    `json:"from"`
	To     uint32    `json:"to"`
	Bytes  int64     `json:"content_bytes"`
}

func readChanges(doc []byte) (*changes, error) {
	var c changes
	return &c, json.Unmarshal(doc, &c)
}

func (c *changes) text() string {
	switch {
	case len(c.Boards) == 1:
		b := c.Boards[0]
		return fmt.Sprintf("%d of %s, %d unchanged", b.Changed, sectors(b.Sectors), b.Unchanged)
	case c.To > c.From:
		return fmt.Sprintf("%#x to %#x are erased", c.From, c.To)
	case c.Bytes > 0:
		return fmt.Sprintf("%d bytes of program; the board runs, so what is there now was not compared", c.Bytes)
	}
	return ""
}

// prepareJob finds a board without disturbing it, and what a request would change.
func (a *app) prepareJob(ctx context.Context, kind, selector, file string, options []string) (mcp.Prepared, error) {
	var p mcp.Prepared
	f, err := a.boardFacts(ctx, selector)
	if err != nil {
		return p, err
	}
	if f.Board.Role != board.RoleBoard {
		u := faults.Usage("this is no board")
		u.Seen = f.Board.Selector()
		return p, u
	}
	p.Selector, p.Serial, p.Chip = f.Board.Selector(), f.Board.Serial, f.chipID()
	if p.Chip == "" {
		p.Chip = a.knownChip(f.Board.Identity)
	}
	args := []string{"info", "--", file}
	switch {
	case kind == "erase" && f.still():
		args = append([]string{"erase", "--board=" + p.Selector, "--dry-run", "--yes"}, options...)
	case kind == "erase":
		return p, nil
	case f.still():
		args = []string{"flash", "--board=" + p.Selector, "--dry-run", "--", file}
	}
	p.Changes, err = a.verbDocument(ctx, args...)
	return p, err
}

// still says whether a board's flash can be looked into without a restart.
func (f *boardFacts) still() bool { return f.Simulated || f.Board.Mode == board.ModeBootsel }

// knownChip is the chip that was found in a board earlier.
func (a *app) knownChip(id board.Identity) string {
	_, known, err := a.decisions()
	if err != nil {
		return ""
	}
	for _, p := range known.Pins {
		if p.Chip != "" && p.Board.Same(id) {
			return p.Chip
		}
	}
	return ""
}

// jobRunner writes to boards with the verbs that people use.
type jobRunner struct{ a *app }

// Check compares the board with the one that was approved.
func (r jobRunner) Check(ctx context.Context, j *job.Job) error {
	f, err := r.a.boardFacts(ctx, j.Board)
	if err == nil && j.Chip != "" && f.chipID() == "" {
		// Approved: it may be restarted now.
		f, err = r.a.boardFacts(ctx, j.Board, "--force")
	}
	if err != nil {
		return err
	}
	other := func(seen, wanted string) error {
		return &faults.Fault{Code: faults.CodeOtherChip, Status: faults.StatusAmbiguous, Summary: "the board is another one than was approved", Seen: seen, Wanted: wanted}
	}
	if f.Board.Serial != j.Serial {
		return other("serial "+f.Board.Serial, j.Serial)
	}
	if id := f.chipID(); j.Chip != "" && !strings.EqualFold(id, j.Chip) {
		return other("chip "+id, j.Chip)
	}
	return nil
}

// Write flashes or erases.
func (r jobRunner) Write(ctx context.Context, j *job.Job, image string) (json.RawMessage, error) {
	if j.Kind == "erase" {
		return r.a.verbDocument(ctx, append([]string{"erase", "--board=" + j.Board, "--yes"}, j.Options...)...)
	}
	return r.a.verbDocument(ctx, "flash", "--board="+j.Board, "--", image)
}

// Verify compares once more. What was erased was read back by the verb itself, and
// so was a board that runs its new program already.
func (r jobRunner) Verify(ctx context.Context, j *job.Job, image string) error {
	if j.Kind == "erase" {
		return nil
	}
	f, err := r.a.boardFacts(ctx, j.Board)
	if err != nil || !f.still() {
		return nil
	}
	_, err = r.a.verbDocument(ctx, "verify", "--board="+j.Board, "--", image)
	return err
}
