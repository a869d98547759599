package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

// useResult is the board of a project.
type useResult struct {
	Project string `json:"project"`
	// Board is the selector of the pinned board, empty if none is.
	Board     string `json:"board,omitempty"`
	Serial    string `json:"serial,omitempty"`
	Simulated bool   `json:"simulated"`
	Nickname  string `json:"nickname,omitempty"`
	// Override is $STEM_HW_BOARD, which counts more.
	Override string `json:"override,omitempty"`
}

func (useResult) Kind() string { return "use" }

func (r useResult) Text(t *ui.Text) {
	what := "no board is pinned"
	if r.Board != "" {
		what = r.Board
		if r.Nickname != "" {
			what = r.Nickname + " (" + r.Board + ")"
		}
		what += ", serial number " + r.Serial
	}
	t.Linef("%s: %s", r.Project, what)
}

func (a *app) useCmd() *cobra.Command {
	var clear bool
	var nickname, forget string
	cmd := &cobra.Command{
		Use:   "use [BOARD]",
		Short: "pin a board for this project",
		Long: `Use pins a board for this project: verbs take it from then on when no -b is given.
Without BOARD it shows which one is pinned.

The project is the nearest folder upwards with a stem-hw.toml, else with a .git,
else the working folder. The pin is kept in your state folder, by the project's
real path: nothing in the project can change it.`,
		Example: `  stem-hw use sim
  stem-hw use E660 --nickname desk
  stem-hw use --clear`,
		GroupID:           groupBoards,
		Args:              atMostArgs("BOARD"),
		ValidArgsFunction: a.completeBoards,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case clear && len(args) > 0:
				return faults.Usage("--clear takes no board")
			case nickname != "" && len(args) == 0:
				f := faults.Usage("--nickname needs a board")
				f.Try = []string{"stem-hw use sim --nickname " + nickname}
				return f
			}
			return a.use(cmd.Context(), args, clear, nickname, forget)
		},
	}
	cmd.Flags().BoolVar(&clear, "clear", false, "forget the pin of this project")
	cmd.Flags().StringVar(&nickname, "nickname", "", "also give the board this `NAME`")
	cmd.Flags().StringVar(&forget, "forget", "", "forget the nickname `NAME`")
	return cmd
}

func (a *app) use(ctx context.Context, args []string, clear bool, nickname, forget string) error {
	store, known, err := a.decisions()
	if err != nil {
		return err
	}
	project, err := state.Project(".")
	if err != nil {
		return err
	}
	var pin *state.Pin
	if len(args) > 0 {
		c, _, err := a.named(ctx, args[0], "stem-hw use %s")
		if err != nil {
			return err
		}
		pin = &state.Pin{Selector: c.Selector(), Board: c.Identity, Since: time.Now().UTC().Truncate(time.Second)}
	}
	if nickname != "" {
		if why := board.CheckNickname(nickname); why != "" {
			f := faults.Usage("this cannot be a nickname")
			f.Seen, f.Wanted = strconv.Quote(nickname)+": "+why, "letters, digits, - and _, beginning with a letter"
			return f
		}
	}
	if pin != nil || clear || forget != "" {
		err = store.Change(func(b *state.Boards) error {
			if forget != "" {
				if _, ok := b.Nicknames[forget]; !ok {
					f := faults.Usage("there is no nickname %q", forget)
					f.Try = []string{"stem-hw list"}
					return f
				}
				delete(b.Nicknames, forget)
			}
			if clear {
				delete(b.Pins, project)
			}
			if pin != nil {
				b.Pins[project] = *pin
			}
			if nickname != "" {
				for n, id := range b.Nicknames {
					if id == pin.Board || strings.EqualFold(n, nickname) {
						delete(b.Nicknames, n)
					}
				}
				b.Nicknames[nickname] = pin.Board
			}
			known = *b
			return nil
		})
		if err != nil {
			return err
		}
	}
	r := useResult{Project: project, Override: a.getenv(envName("board"))}
	if p, ok := known.Pins[project]; ok {
		r.Board, r.Serial, r.Nickname = p.Selector, p.Board.Serial, known.Nickname(p.Board)
		s, err := board.Parse(p.Selector)
		r.Simulated = err == nil && s.Kind == board.KindSim
	}
	if r.Override != "" {
		a.ui.Note("%s=%s counts more than the pin", envName("board"), r.Override)
	}
	if err := a.ui.Result(r); err != nil {
		return err
	}
	if r.Board == "" && len(args) == 0 && !clear {
		a.ui.Say("pin one with: stem-hw use sim")
	}
	return nil
}
