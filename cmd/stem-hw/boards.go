package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/usb"
)

// chooseFlags are the options of every verb that touches a board.
type chooseFlags struct {
	board string
	wait  time.Duration
}

func (f *chooseFlags) add(cmd *cobra.Command, a *app) {
	cmd.Flags().StringVarP(&f.board, "board", "b", "", "the `BOARD`: a nickname, the beginning of a serial number, usb:3-1.2, sim or sim:NAME")
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "wait up to this `TIME` for a board that is in use or not there")
	_ = cmd.RegisterFlagCompletionFunc("board", a.completeBoards)
}

// chosen is the board that a verb is to use, and why.
type chosen struct {
	board.Board
	// place is where a simulated board lives, device what a real one is on the
	// USB.
	place  simboard.Place
	device usb.Device
	how    string
	// pin is what is pinned, if the choice comes from there.
	pin *state.Pin
}

// howNamed is the how of a board that -b or $STEM_HW_BOARD names.
const howNamed = "named"

// need is how a verb chooses when no board is named or pinned.
type need uint8

const (
	// needNamed refuses: the verb writes to a board, or says what one holds.
	needNamed need = iota
	// needAny takes the only board there is: the verb reads.
	needAny
)

// simPlace is where a simulated board lives.
func (a *app) simPlace(name string) (simboard.Place, error) {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return simboard.Place{}, err
	}
	runtime, err := a.runtimeFolder()
	if err != nil {
		return simboard.Place{}, err
	}
	return simboard.NewPlace(dir, runtime, name)
}

// decisions reads pins and nicknames.
func (a *app) decisions() (*state.Store, state.Boards, error) {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return nil, state.Boards{}, err
	}
	store := state.New(dir)
	b, err := store.Read()
	return store, b, err
}

// lookTime bounds how long a board is asked what it does.
const lookTime = 2 * time.Second

// boards lists all boards there are, simulated ones first.
func (a *app) boards(ctx context.Context) ([]board.Board, error) {
	out, err := a.simBoards(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.usbBoards(ctx)
	for _, f := range found {
		out = append(out, f.Board)
	}
	return out, err
}

// simBoards lists the simulated ones.
func (a *app) simBoards(ctx context.Context) ([]board.Board, error) {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return nil, err
	}
	_, known, err := a.decisions()
	if err != nil {
		return nil, err
	}
	out := []board.Board{}
	for _, name := range simboard.Names(dir) {
		p, err := a.simPlace(name)
		if err != nil {
			return nil, err
		}
		b := a.look(ctx, p)
		b.Nickname = known.Nickname(b.Identity)
		out = append(out, b)
	}
	return out, ctx.Err()
}

// look says what a simulated board does now.
func (a *app) look(ctx context.Context, p simboard.Place) board.Board {
	b := board.Board{
		Identity: board.Identity{Serial: p.Serial(), Role: board.RoleBoard},
		Sim:      p.Name, Simulated: true, Product: "Pico 2", Mode: board.ModeOff,
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	c, err := simboard.Dial(ctx, p, buildVersion().Version, "list")
	if err == nil {
		defer c.Close()
		var i *simboard.Info
		if i, err = c.Describe(ctx); err == nil {
			b.Mode, b.Detail, b.PID = i.Mode, i.Detail, c.PID
			return b
		}
	}
	if faults.Is(err, faults.CodeVersion) {
		b.Mode, b.Detail = board.ModeUsed, "served by another version of stem-hw"
	} else if u, held := p.Holder(); held {
		b.Mode, b.Detail, b.PID = board.ModeUsed, u.String(), u.PID
	}
	return b
}

// choose finds the board that a verb is to use: -b (or $STEM_HW_BOARD), the pin
// of this project, or the only one there is. command is the verb as it would be
// typed, with a place for the selector.
func (a *app) choose(ctx context.Context, selector string, n need, command string) (chosen, error) {
	c, ok, err := a.named(ctx, selector, command)
	if err != nil || ok {
		return c, err
	}
	all, err := a.boards(ctx)
	if err != nil {
		return chosen{}, err
	}
	if n == needNamed {
		return chosen{}, notNamed(all, command)
	}
	var live []board.Board
	for _, b := range all {
		if b.Mode != board.ModeOff {
			live = append(live, b)
		}
	}
	b, err := board.Only(live, board.Ask{Command: command})
	if err != nil {
		return chosen{}, err
	}
	c, err = a.chosenBoard(ctx, b, "the only one there is")
	if err == nil {
		a.ui.Note("using the board %s, the only one there is", b.Selector())
	}
	return c, err
}

// named finds the board that -b or the pin of this project name; ok is false if
// neither does.
func (a *app) named(ctx context.Context, selector, command string) (c chosen, ok bool, err error) {
	how := howNamed
	var pin *state.Pin
	if selector == "" {
		if pin, how, err = a.pinned(); err != nil || pin == nil {
			return c, false, err
		}
		selector = pin.Selector
	}
	s, err := board.Parse(selector)
	if err != nil {
		return c, false, err
	}
	switch s.Kind {
	case board.KindNative:
		return c, false, &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "a program of the host has no board", Seen: "-b native", Wanted: "a board",
			Try: []string{fmt.Sprintf(command, "sim")},
		}
	case board.KindSim:
		p, err := a.simPlace(s.Text)
		if err != nil {
			return c, false, err
		}
		c = chosen{Board: board.Board{
			Identity: board.Identity{Serial: p.Serial(), Role: board.RoleBoard}, Sim: p.Name, Simulated: true, Product: "Pico 2",
		}, place: p, how: how, pin: pin}
		a.tellPinned(c)
		return c, true, nil
	}
	var b board.Board
	err = a.present(ctx, func() error {
		all, err := a.boards(ctx)
		if err != nil {
			return err
		}
		ask := board.Ask{Command: command}
		if pin != nil {
			b, err = board.Pinned(pin.Pin(), all, ask)
		} else {
			b, err = board.Match(s, all, ask)
		}
		return a.withoutUSB(s, err)
	})
	if err != nil {
		return c, false, err
	}
	c, err = a.chosenBoard(ctx, b, how)
	c.pin = pin
	if err == nil {
		a.tellPinned(c)
	}
	return c, err == nil, err
}

// pinned is the pin of this project: its board, else its probe; nil without one.
func (a *app) pinned() (*state.Pin, string, error) {
	_, known, err := a.decisions()
	if err != nil {
		return nil, "", err
	}
	project, err := state.Project(".")
	if err != nil {
		return nil, "", err
	}
	for _, pins := range []map[string]state.Pin{known.Pins, known.Probes} {
		if pin, ok := pins[project]; ok {
			return &pin, "pinned for " + project, nil
		}
	}
	return nil, "", nil
}

// tellPinned says with -v where the choice of a board comes from if it was not
// named.
func (a *app) tellPinned(c chosen) {
	if c.how != howNamed {
		a.ui.Verbose(1, "board %s: %s", c.Selector(), c.how)
	}
}

// chosenBoard finds out how a board of the list is reached.
func (a *app) chosenBoard(ctx context.Context, b board.Board, how string) (chosen, error) {
	c := chosen{Board: b, how: how}
	var err error
	if b.Sim != "" {
		c.place, err = a.simPlace(b.Sim)
		return c, err
	}
	found, err := a.usbBoards(ctx)
	if err != nil {
		return c, err
	}
	for _, f := range found {
		if f.Node == b.Node && f.Port == b.Port {
			c.Board, c.device = f.Board, f.device
			return c, nil
		}
	}
	return c, board.NotFound(b.Selector(), nil)
}

// notNamed is the fault of a verb that never falls back.
func notNamed(all []board.Board, command string) error {
	f := &faults.Fault{
		Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
		Summary: "no board is named, and none is pinned for this project",
		Details: board.Rows(all),
		Try:     []string{"stem-hw use sim      (for this project)", fmt.Sprintf(command, "sim")},
	}
	if len(all) == 0 {
		f.Wanted = "a board, with -b or stem-hw use"
	}
	return f
}

// connect connects to the process that runs a simulated board and starts it if
// there is none.
func (a *app) connect(ctx context.Context, c chosen, verb string, wait time.Duration) (cl *simboard.Client, err error) {
	if err := c.needsSim(verb); err != nil {
		return nil, err
	}
	err = a.waiting(ctx, wait, func() error {
		var started bool
		cl, started, err = simboard.Connect(ctx, c.place, buildVersion().Version, verb, a.startServer)
		if err == nil && started {
			a.ui.Say("started the simulated board %s (process %d; it ends with: %s)", c.Selector(), cl.PID, stopCommand(c.place))
		} else if v := buildVersion().Version; err == nil && cl.Version != v {
			a.ui.Note("the board %s is run by stem-hw %s, this is %s; a new one is started after: %s",
				c.Selector(), cl.Version, v, stopCommand(c.place))
		}
		return err
	})
	return cl, err
}

// needsSim is the fault for a board on the USB where a verb can do with a
// simulated one alone.
func (c chosen) needsSim(verb string) error {
	if c.Sim != "" {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeNotSupported, Status: faults.StatusTarget,
		Summary: "stem-hw " + verb + " cannot reach this board", Seen: c.Selector() + ", " + c.Where(), Wanted: "a simulated board",
		Try: []string{"the same command with -b sim"},
	}
}

func stopCommand(p simboard.Place) string {
	if p.Name == board.DefaultSim {
		return "stem-hw sim stop"
	}
	return "stem-hw sim stop " + p.Name
}

// waiting does f, and again for as long as --wait says while the board is in use.
func (a *app) waiting(ctx context.Context, wait time.Duration, f func() error) error {
	end := time.Now().Add(wait)
	told := false
	for {
		err := f()
		if faults.StatusOf(err) != faults.StatusBusy || err == nil || !time.Now().Before(end) {
			return err
		}
		if !told {
			a.ui.Say("waiting: %s", strings.TrimSpace(faults.Of(err).Summary+", "+faults.Of(err).Seen))
			told = true
		}
		t := time.NewTimer(50 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}
