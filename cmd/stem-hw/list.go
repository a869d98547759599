package main

import (
	"context"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/ui"
	"github.com/stem-hw/stem-hw/usb"
)

// listResult is every board there is.
type listResult struct {
	Boards []board.Board `json:"boards"`
	// USB is false for a program without USB, which lists simulated boards alone.
	USB bool `json:"usb"`
}

func (listResult) Kind() string { return "list" }

func (r listResult) Text(t *ui.Text) {
	if len(r.Boards) == 0 {
		return
	}
	t.Head("BOARD", "SERIAL", "PRODUCT", "WHERE", "MODE")
	for i, name := range board.Names(r.Boards) {
		b := r.Boards[i]
		t.Row(name, b.Serial, b.Product, b.Where(), b.State())
	}
}

// listEvent is one change of the list.
type listEvent struct {
	Event string      `json:"event"`
	Board board.Board `json:"board"`
}

func (listEvent) Kind() string { return "list-event" }

func (e listEvent) Text(t *ui.Text) {
	t.Linef("%-8s %s  %s  %s  %s", e.Event, e.Board.Selector(), e.Board.Serial, e.Board.Where(), e.Board.State())
}

// watchTime is how often --watch looks at simulated boards.
const watchTime = 250 * time.Millisecond

func (a *app) listCmd() *cobra.Command {
	var watch bool
	var identify identifyFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the boards and probes there are",
		Long: `List shows every board and debug probe on the USB, and the simulated boards that
exist: what they do, what belongs to them, and who uses them. It opens none of them.
A board that this account may not open is shown with what is missing. An empty list
is no error.

With --watch it goes on and tells of every change, one line each, until ctrl-c. With
--identify it blinks a board or probe, or says where it is.`,
		Example: `  stem-hw list
  stem-hw list --json | jq -r '.boards[].serial'
  stem-hw list --watch
  stem-hw list --identify -b E660`,
		GroupID: groupBoards,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if identify.on {
				return a.identify(cmd.Context(), &identify)
			}
			if watch {
				return a.watchBoards(cmd.Context())
			}
			all, err := a.boards(cmd.Context())
			if err != nil {
				return err
			}
			if !usb.Available && a.ui.ErrTerminal() {
				a.ui.Note("%s", usb.ErrNoUSB)
			}
			if len(all) == 0 {
				a.ui.Say("no boards; stem-hw flash -b sim FILE makes a simulated one")
			}
			return a.ui.Result(listResult{all, usb.Available})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "tell of every change until ctrl-c")
	identify.add(cmd, a)
	cmd.MarkFlagsMutuallyExclusive("watch", "identify")
	return cmd
}

// watchBoards tells of every change of the list.
func (a *app) watchBoards(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sims, err := a.simBoards(ctx)
	if err != nil {
		return err
	}
	plugs, ended := a.watchUSB(ctx)
	var real []board.Board
	if plugs != nil {
		select {
		case real = <-plugs:
		case err := <-ended:
			return err
		}
	}
	w := watched{a: a, seen: map[string]board.Board{}}
	tick := time.NewTicker(watchTime)
	defer tick.Stop()
	for {
		if err := w.update(append(append([]board.Board(nil), sims...), real...)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case real = <-plugs:
		case err := <-ended:
			return err
		case <-tick.C:
			if sims, err = a.simBoards(ctx); err != nil {
				return err
			}
		}
	}
}

// watchUSB sends what is on the USB at every change. Without USB both channels
// are nil.
func (a *app) watchUSB(ctx context.Context) (<-chan []board.Board, <-chan error) {
	finder, err := a.usbFinder()
	if err != nil {
		return nil, nil
	}
	plugs, ended := make(chan []board.Board), make(chan error, 1)
	go func() {
		ended <- finder.Watch(ctx, func(devices []usb.Device) error {
			found, err := a.plugged(finder, devices)
			if err != nil {
				return err
			}
			out := make([]board.Board, len(found))
			for i, p := range found {
				out[i] = p.Board
			}
			select {
			case plugs <- out:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return plugs, ended
}

// watched is what a watcher was told.
type watched struct {
	a    *app
	seen map[string]board.Board
}

// update tells what differs from the last time. A board that is plugged in anew
// is another device, even at the same port: it goes and comes.
func (w *watched) update(now []board.Board) error {
	here := map[string]bool{}
	key := func(b board.Board) string { return b.Sim + "\x00" + b.Port + "\x00" + b.Node }
	for _, b := range now {
		here[key(b)] = true
	}
	for k, b := range w.seen {
		if here[k] {
			continue
		}
		delete(w.seen, k)
		if err := w.a.ui.Event(listEvent{"removed", b}); err != nil {
			return err
		}
	}
	for _, b := range now {
		old, known := w.seen[key(b)]
		if known && reflect.DeepEqual(old, b) {
			continue
		}
		w.seen[key(b)] = b
		e := listEvent{"changed", b}
		if !known {
			e.Event = "added"
		}
		if err := w.a.ui.Event(e); err != nil {
			return err
		}
	}
	return nil
}
