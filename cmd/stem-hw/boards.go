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
)

// chooseFlags are the options of every verb that touches a board.
type chooseFlags struct {
	board string
	wait  time.Duration
}

func (f *chooseFlags) add(cmd *cobra.Command, a *app) {
	cmd.Flags().StringVarP(&f.board, "board", "b", "", "the `BOARD`: a nickname, the beginning of a serial number, usb:3-1.2, sim or sim:NAME")
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "wait up to this `TIME` for a board that is in use")
	_ = cmd.RegisterFlagCompletionFunc("board", a.completeBoards)
}

// completeBoards offers the boards there are, without opening one.
func (a *app) completeBoards(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	words := []string{"sim\tthe simulated board"}
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	for _, n := range simboard.Names(dir) {
		if n != board.DefaultSim {
			words = append(words, "sim:"+n+"\ta simulated board")
		}
	}
	if b, err := state.New(dir).Read(); err == nil {
		for n := range b.Nicknames {
			words = append(words, n+"\ta nickname")
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// chosen is the board that a verb is to use, and why.
type chosen struct {
	board.Board
	place simboard.Place
	how   string
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

// boards lists all boards there are.
func (a *app) boards(ctx context.Context) ([]board.Board, error) {
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
	c, err = a.chosenBoard(b, "the only one there is")
	if err == nil {
		a.ui.Note("using the board %s, the only one there is", b.Selector())
	}
	return c, err
}

// named finds the board that -b or the pin of this project name; ok is false if
// neither does.
func (a *app) named(ctx context.Context, selector, command string) (c chosen, ok bool, err error) {
	how := howNamed
	if selector == "" {
		_, known, err := a.decisions()
		if err != nil {
			return c, false, err
		}
		project, err := state.Project(".")
		if err != nil {
			return c, false, err
		}
		pin, pinned := known.Pins[project]
		if !pinned {
			return c, false, nil
		}
		selector, how = pin.Selector, "pinned for "+project
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
		}, place: p, how: how}
		a.tellPinned(c)
		return c, true, nil
	}
	all, err := a.boards(ctx)
	if err != nil {
		return c, false, err
	}
	b, err := board.Match(s, all, board.Ask{Command: command})
	if err != nil {
		return c, false, err
	}
	c, err = a.chosenBoard(b, how)
	a.tellPinned(c)
	return c, err == nil, err
}

// tellPinned says with -v where the choice of a board comes from if it was not
// named.
func (a *app) tellPinned(c chosen) {
	if c.how != howNamed {
		a.ui.Verbose(1, "board %s: %s", c.Selector(), c.how)
	}
}

func (a *app) chosenBoard(b board.Board, how string) (chosen, error) {
	c := chosen{Board: b, how: how}
	if b.Sim == "" {
		return c, &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "this board cannot be reached", Seen: b.Selector(), Try: []string{"stem-hw list"},
		}
	}
	var err error
	c.place, err = a.simPlace(b.Sim)
	return c, err
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

// storage reaches what a board keeps, without starting it: through the process
// that runs it, or in its file. changed, if not nil, gets the contents that were
// changed in place (nil when the board is served) and gives the board back.
type storage struct {
	client   *simboard.Client
	borrowed *simboard.Borrowed
	// contents are the board's when it is off; a copy that may be changed.
	contents *simboard.Contents
	size     uint32
	program  *simboard.Program
}

// openStorage opens it. reset, if not empty, stops a program that runs, and
// nobody else may use the board meanwhile.
func (a *app) openStorage(ctx context.Context, c chosen, verb string, wait time.Duration, reset simboard.ResetTo) (s *storage, err error) {
	version := buildVersion().Version
	err = a.waiting(ctx, wait, func() error {
		s = &storage{}
		if s.client, err = simboard.Dial(ctx, c.place, version, verb); err == nil {
			i, err := s.client.Describe(ctx)
			if err == nil && i.Mode == board.ModeUsed {
				err = s.client.Hold(ctx, "") // tells who has it
			}
			if err == nil && reset != "" {
				err = s.client.Hold(ctx, reset)
			}
			if err != nil {
				_ = s.client.Close()
				return err
			}
			s.size, s.program = i.FlashSize, i.Program
			return nil
		}
		s.client = nil
		if reset == "" && !c.place.Exists() {
			// Looking at a board that is not there does not make one.
			s.contents = c.place.NewContents()
			s.size = uint32(len(s.contents.Flash))
			return nil
		}
		if s.borrowed, err = simboard.Borrow(ctx, c.place, version, verb); err != nil {
			return err
		}
		s.contents = s.borrowed.Contents.Clone()
		s.size, s.program = uint32(len(s.contents.Flash)), s.contents.Program
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ReadFlash implements flashing.Device.
func (s *storage) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	if s.client != nil {
		return s.client.ReadFlash(ctx, addr, p)
	}
	return s.contents.ReadFlash(ctx, addr, p)
}

// EraseFlash implements flashing.Device.
func (s *storage) EraseFlash(ctx context.Context, addr, n uint32) error {
	if s.client != nil {
		return s.client.EraseFlash(ctx, addr, n)
	}
	return s.contents.EraseFlash(ctx, addr, n)
}

// ProgramFlash implements flashing.Device.
func (s *storage) ProgramFlash(ctx context.Context, addr uint32, p []byte) error {
	if s.client != nil {
		return s.client.ProgramFlash(ctx, addr, p)
	}
	return s.contents.ProgramFlash(ctx, addr, p)
}

// Close gives the board back; with keep, what was changed is kept.
func (s *storage) Close(keep bool) error {
	if s.client != nil {
		return s.client.Close()
	}
	if s.borrowed == nil {
		return nil
	}
	if !keep {
		return s.borrowed.Return(nil)
	}
	return s.borrowed.Return(s.contents)
}
