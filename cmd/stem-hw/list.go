package main

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/ui"
)

// listResult is every board there is.
type listResult struct {
	Boards []board.Board `json:"boards"`
}

func (listResult) Kind() string { return "list" }

func (r listResult) Text(t *ui.Text) {
	if len(r.Boards) == 0 {
		return
	}
	t.Head("BOARD", "SERIAL", "PRODUCT", "WHERE", "MODE")
	for _, b := range r.Boards {
		name, where := b.Selector(), "usb "+b.Port
		if b.Nickname != "" {
			name = b.Nickname
		}
		if b.Simulated {
			where = "simulated"
		}
		mode := string(b.Mode)
		if b.Detail != "" {
			mode += ": " + b.Detail
		}
		t.Row(name, b.Serial, b.Product, strings.Join(append([]string{where}, b.Consoles...), " "), mode)
	}
}

// listEvent is one change of the list.
type listEvent struct {
	Event string      `json:"event"`
	Board board.Board `json:"board"`
}

func (listEvent) Kind() string { return "list-event" }

func (e listEvent) Text(t *ui.Text) {
	mode := string(e.Board.Mode)
	if e.Board.Detail != "" {
		mode += ": " + e.Board.Detail
	}
	t.Linef("%-8s %s  %s  %s", e.Event, e.Board.Selector(), e.Board.Serial, mode)
}

// watchTime is how often --watch looks.
const watchTime = 250 * time.Millisecond

func (a *app) listCmd() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the boards there are",
		Long: `List shows every board: the simulated ones that exist, what they do, and who uses
them. An empty list is no error.

With --watch it goes on and tells of every change, one line each, until ctrl-c.`,
		Example: "  stem-hw list\n  stem-hw list --json | jq -r '.boards[].serial'\n  stem-hw list --watch",
		GroupID: groupBoards,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.boards(cmd.Context())
			if err != nil {
				return err
			}
			if watch {
				return a.watchBoards(cmd.Context(), all)
			}
			if len(all) == 0 {
				a.ui.Say("no boards; stem-hw flash -b sim FILE makes a simulated one")
			}
			return a.ui.Result(listResult{all})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "tell of every change until ctrl-c")
	return cmd
}

// watchBoards tells of every change of the list.
func (a *app) watchBoards(ctx context.Context, now []board.Board) error {
	seen := map[string]board.Board{}
	for {
		here := map[string]bool{}
		for _, b := range now {
			key := b.Selector()
			here[key] = true
			old, known := seen[key]
			if known && reflect.DeepEqual(old, b) {
				continue
			}
			seen[key] = b
			e := listEvent{"changed", b}
			if !known {
				e.Event = "added"
			}
			if err := a.ui.Event(e); err != nil {
				return err
			}
		}
		for key, b := range seen {
			if here[key] {
				continue
			}
			delete(seen, key)
			if err := a.ui.Event(listEvent{"removed", b}); err != nil {
				return err
			}
		}
		t := time.NewTimer(watchTime)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		var err error
		if now, err = a.boards(ctx); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
}
