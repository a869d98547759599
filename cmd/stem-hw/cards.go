package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/card"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/ui"
)

func (a *app) cardCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "card",
		Short:   "cards: the exercises of a course",
		GroupID: groupCourses,
		Long: `A course's series holds cards, a card holds tasks. They are found by their stem.toml
files below the workspace root: $STEM_WORKSPACE, or ~/dev/workspace/stem.`,
		Example: "  stem-hw card list\n  stem-hw card new hello --template mixed",
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.cardListCmd(), a.cardNewCmd(), a.cardTrustCmd())
	return cmd
}

type cardRow struct {
	Series  string    `json:"series"`
	Card    string    `json:"card"`
	Title   string    `json:"title,omitempty"`
	Dir     string    `json:"dir"`
	Targets []string  `json:"targets"`
	Tasks   []taskRow `json:"tasks"`
}

type taskRow struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
}

type cardListResult struct {
	Root  string    `json:"root"`
	Cards []cardRow `json:"cards"`
}

func (cardListResult) Kind() string { return "card-list" }

func (r cardListResult) Text(t *ui.Text) {
	for _, c := range r.Cards {
		t.Linef("%s %s  %s", c.Series, c.Card, c.Title)
		for _, k := range c.Tasks {
			t.Linef("  %s %s %s  %s", c.Series, c.Card, k.Name, k.Title)
		}
	}
}

func (a *app) cardListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list [SERIES]",
		Short:   "list the cards of the workspace",
		Example: "  stem-hw card list inf",
		Args:    atMostArgs("SERIES"),
		RunE: func(_ *cobra.Command, args []string) error {
			root, err := card.Root(a.getenv)
			if err != nil {
				return err
			}
			ws, err := card.Scan(root)
			if err != nil {
				return err
			}
			r := cardListResult{Root: ws.Root, Cards: []cardRow{}}
			var series []string
			for _, c := range ws.Cards {
				series = append(series, c.Series)
				if len(args) > 0 && c.Series != args[0] {
					continue
				}
				row := cardRow{Series: c.Series, Card: c.Name, Title: c.Title, Dir: c.Dir, Targets: append([]string{}, c.Targets...), Tasks: []taskRow{}}
				for _, t := range c.Tasks {
					row.Tasks = append(row.Tasks, taskRow{t.Name, t.Title})
				}
				r.Cards = append(r.Cards, row)
			}
			for _, b := range ws.Broken {
				a.ui.Warn("%v", b)
			}
			if len(args) > 0 && len(r.Cards) == 0 {
				f := faults.Usage("there is no series called %q", args[0])
				f.Code = faults.CodeNoCard
				if near := card.Near(args[0], series); len(near) > 0 {
					f.Wanted = "perhaps " + strings.Join(near, ", ")
				}
				f.Try = []string{"stem-hw card list"}
				return f
			}
			if err := a.ui.Result(r); err != nil {
				return err
			}
			if len(r.Cards) == 0 {
				a.ui.Say("no card below %s ($STEM_WORKSPACE says where)", ws.Root)
			}
			return nil
		},
	}
}

type cardNewResult struct {
	Card     string `json:"card"`
	Template string `json:"template"`
	Dir      string `json:"dir"`
}

func (cardNewResult) Kind() string { return "card-new" }

func (r cardNewResult) Text(t *ui.Text) { t.Linef("%s", r.Dir) }

func (a *app) cardNewCmd() *cobra.Command {
	var template, dir string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "make a card",
		Long: `New makes a card in a folder NAME: sources, a Makefile or a CMakeLists.txt, and a
stem.toml with a test. Templates:
  c      C on the bare chip, for all three targets
  sdk    C with the pico-sdk ($PICO_SDK_PATH)
  asm    RISC-V assembly
  mixed  C that calls assembly, for all three targets`,
		Example: "  stem-hw card new hello\n  stem-hw card new sum --template mixed && stem-hw test ./sum",
		Args:    exactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			to := dir
			if to == "" {
				to = filepath.Base(args[0])
			}
			abs, err := filepath.Abs(to)
			if err != nil {
				return faults.Internal(err)
			}
			if err := card.New(abs, args[0], template); err != nil {
				return err
			}
			return a.ui.Result(cardNewResult{args[0], template, abs})
		},
	}
	choiceFlag(cmd, &template, "template", "c", "the `TEMPLATE`: "+strings.Join(card.Templates(), ", "), card.Templates()...)
	cmd.Flags().StringVar(&dir, "dir", "", "the `FOLDER` to make it in")
	return cmd
}

type trustResult struct {
	File     string   `json:"file"`
	Commands []string `json:"commands"`
	Trusted  bool     `json:"trusted"`
}

func (trustResult) Kind() string { return "card-trust" }

func (r trustResult) Text(t *ui.Text) {
	for _, c := range r.Commands {
		t.Linef("  %s", c)
	}
	if r.Trusted {
		t.Linef("%s is trusted as it is now", r.File)
	}
}

func (a *app) cardTrustCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust [CARD|FOLDER|FILE]",
		Short: "let a project's own commands run",
		Long: `Trust shows the commands that a project's stem.toml or stem-hw.toml brings along and, once a person
agrees, lets them run on this computer. The file is known by its contents: when
it changes it must be trusted again. The decision is kept in your state folder.`,
		Example: "  stem-hw card trust inf bss\n  stem-hw card trust ./stem.toml",
		Args:    cobra.MaximumNArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			if base := filepath.Base(strings.Join(args, " ")); base == card.FileName || base == profiles.ProjectFile || base == profiles.LocalFile {
				args = []string{filepath.Dir(args[0]) + "/"}
			}
			whats, err := a.find(args, false)
			if err != nil {
				return err
			}
			w := whats[0]
			if w.project == nil || w.project.File() == "" {
				f := faults.Usage("there is no %s to trust", card.FileName)
				f.Try = []string{"stem-hw card trust FOLDER"}
				return f
			}
			r := trustResult{File: w.project.File(), Commands: append([]string{}, w.project.Commands()...)}
			if len(r.Commands) == 0 {
				a.ui.Say("%s brings no commands: there is nothing to trust", r.File)
				return a.ui.Result(r)
			}
			if !yes {
				if !a.ui.Interactive() {
					return &faults.Fault{
						Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "nobody can be asked whether these commands may run",
						Seen: r.File, Details: r.Commands, Try: []string{"read the file, then the same command with --yes"},
					}
				}
				for _, c := range r.Commands {
					a.ui.Say("  %s", c)
				}
				answer, err := a.ui.Ask(fmt.Sprintf("Let these commands of %s run? Type yes: ", r.File))
				if err != nil {
					return err
				}
				if strings.TrimSpace(answer) != "yes" {
					return &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "not trusted", Seen: r.File}
				}
			}
			t, err := a.trust()
			if err != nil {
				return err
			}
			if err := t.Add(w.project, time.Now()); err != nil {
				return err
			}
			r.Trusted = true
			return a.ui.Result(r)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
