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
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/ui"
	"github.com/stem-hw/stem-hw/usb"
)

// useResult is the board of a project, and its probe.
type useResult struct {
	Project string `json:"project"`
	// Board is the selector of the pinned board, empty if none is.
	Board     string `json:"board,omitempty"`
	Serial    string `json:"serial,omitempty"`
	Port      string `json:"port,omitempty"`
	Chip      string `json:"chip,omitempty"`
	Simulated bool   `json:"simulated"`
	Nickname  string `json:"nickname,omitempty"`
	// Probe is the selector of the pinned probe.
	Probe         string `json:"probe,omitempty"`
	ProbeNickname string `json:"probe_nickname,omitempty"`
	ProbeChip     string `json:"probe_chip,omitempty"`
	// Missing are the roles that the project's stem-hw.toml asks for and nothing
	// fills.
	Missing []board.Role `json:"missing,omitempty"`
	// Override is $STEM_HW_BOARD, which counts more.
	Override string `json:"override,omitempty"`
}

func (useResult) Kind() string { return "use" }

func (r useResult) Text(t *ui.Text) {
	what := "no board is pinned"
	if r.Board != "" {
		what = pinWords(r.Nickname, r.Board)
		if r.Serial != "" && r.Serial != r.Board {
			what += ", serial number " + r.Serial
		}
		if r.Port != "" {
			what += ", usb " + r.Port
		}
	}
	if r.Board != "" || r.Probe == "" {
		t.Linef("%s: %s", r.Project, what)
	}
	if r.Probe != "" {
		what := pinWords(r.ProbeNickname, r.Probe)
		if r.ProbeChip != "" {
			what += ", chip " + r.ProbeChip
		}
		t.Linef("%s: probe %s", r.Project, what)
	}
	for _, role := range r.Missing {
		t.Linef("%s: stem-hw.toml asks for a %s, and none is pinned", r.Project, role)
	}
}

func pinWords(nickname, selector string) string {
	if nickname != "" {
		return nickname + " (" + selector + ")"
	}
	return selector
}

func (a *app) useCmd() *cobra.Command {
	var clear bool
	var nickname, forget string
	cmd := &cobra.Command{
		Use:   "use [BOARD]",
		Short: "pin a board or a probe for this project",
		Long: `Use pins a board for this project: verbs take it from then on when no -b is given.
A debug probe is pinned beside the board. Without BOARD it shows what is pinned, and
which roles ([roles] in stem-hw.toml) nothing fills yet.

A board is known again by its serial number, wherever it is plugged in. Another one
where it was is not taken for it (exit status 4).

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
	cmd.Flags().BoolVar(&clear, "clear", false, "forget the pins of this project")
	cmd.Flags().StringVar(&nickname, "nickname", "", "also give the board this `NAME`")
	cmd.Flags().StringVar(&forget, "forget", "", "forget the nickname `NAME`")
	cmd.Flags().Duration("wait", 0, "wait up to this `TIME` for a board that is not there")
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
		if c.Mode == board.ModeBootsel && c.Chip == "rp2350" && c.device.Product == usb.ProductRP2350Boot && board.Telling(c.Serial) {
			// The RP2350's boot ROM shows its device id as serial number.
			pin.Chip = strings.ToUpper(c.Serial)
		}
		if c.Role == board.RoleProbe {
			if pin.Chip, err = a.chipBehind(ctx, c); err != nil {
				return err
			}
		}
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
				delete(b.Probes, project)
			}
			if pin != nil {
				pins := b.Pins
				if pin.Board.Role == board.RoleProbe {
					pins = b.Probes
				}
				if old := pins[project]; old.Board.Same(pin.Board) {
					// What was found out about it is still true.
					pin.Aliases = old.Aliases
					if pin.Chip == "" {
						pin.Chip = old.Chip
					}
				}
				pins[project] = *pin
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
		r.Board, r.Serial, r.Port, r.Chip, r.Nickname = p.Selector, p.Board.Serial, p.Board.Port, p.Chip, known.Nickname(p.Board)
		s, err := board.Parse(p.Selector)
		r.Simulated = err == nil && s.Kind == board.KindSim
	}
	if p, ok := known.Probes[project]; ok {
		r.Probe, r.ProbeNickname, r.ProbeChip = p.Selector, known.Nickname(p.Board), p.Chip
	}
	if r.Missing, err = missingRoles(r); err != nil {
		return err
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

// missingRoles are the roles that the project needs and nothing fills.
func missingRoles(r useResult) (out []board.Role, err error) {
	overlays, err := profiles.Find(".")
	if err != nil {
		return nil, err
	}
	p, err := profiles.Load("", overlays...)
	if err != nil {
		return nil, err
	}
	for _, role := range p.Roles.Needs {
		if role == "board" && r.Board == "" || role == "probe" && r.Probe == "" {
			out = append(out, board.Role(role))
		}
	}
	return out, nil
}

// chipBehind reads the device id of the chip behind a probe; its program runs on.
// Where no chip answers, the pin is as good, and the id is recorded when one does
// for the first time.
func (a *app) chipBehind(ctx context.Context, c chosen) (string, error) {
	w := &probeWay{f: &probeFlags{clock: probeClock}, chosen: c, how: howNamed}
	t, done, err := a.openProbe(ctx, w, "use", probe.Options{})
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		why := err.Error()
		if f := faults.Of(err); f != nil {
			why = f.Summary
		}
		a.ui.Note("which chip is behind the probe is not known yet (%s); the first one that is reached counts", why)
		return "", nil
	}
	return t.Chip().ID, done()
}
