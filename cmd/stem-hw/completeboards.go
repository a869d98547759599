package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/ui"
)

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
	named := map[string]string{}
	if found, err := a.usbBoards(context.Background()); err == nil {
		all := make([]board.Board, len(found))
		for i, p := range found {
			all[i] = p.Board
		}
		for i, name := range board.Names(all) {
			text := ui.Escape(all[i].Product) + ", usb " + all[i].Port + ", " + string(all[i].Mode)
			named[name] = text
			words = append(words, name+"\t"+text)
		}
	}
	if b, err := state.New(dir).Read(); err == nil {
		for n := range b.Nicknames {
			if _, there := named[n]; !there {
				words = append(words, n+"\ta nickname")
			}
		}
	}
	slices.Sort(words[1:])
	return words, cobra.ShellCompDirectiveNoFileComp
}
