package session

import (
	"context"
	"errors"
	"os"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/gdbsync"
)

// PaneIO is the terminal a window has.
type PaneIO struct {
	In, Out *os.File
	Say     func(format string, args ...any)
}

// editorArgs are Neovim's: nothing of the project steers it. A swap file, of a
// session beside this one or of an editor that was killed, raises no question:
// an editor that waits for an answer would follow nobody.
func editorArgs(s *PaneSpec) []string {
	args := []string{
		"--listen", s.Folder.Editor(), "--cmd", "set noexrc nomodeline shortmess+=A | nnoremap <C-z> <Nop>",
		"--cmd", "autocmd SwapExists * let v:swapchoice = 'e'",
	}
	if s.OpenFirst != "" {
		args = append(args, "--", s.OpenFirst)
	}
	return args
}

// EditorPane runs Neovim, and another one when the person has quit it and wants
// one.
func EditorPane(ctx context.Context, s *PaneSpec, io PaneIO) (err error) {
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	for {
		_ = os.Remove(s.Folder.Editor()) // of one that was killed
		p, err := sup.Start(ctx, child.Spec{
			Program: "nvim", Package: "neovim", Args: editorArgs(s), Dir: s.Card,
			Stdin: io.In, Stdout: io.Out, Stderr: io.Out, Terminal: io.In,
		})
		if err != nil {
			return err
		}
		_ = p.Wait()
		if ctx.Err() != nil {
			return nil
		}
		io.Say("Neovim ended. Enter starts it again, q closes this window")
		again, err := gdbsync.AskAgain(ctx, io.In)
		if err != nil || !again {
			return err
		}
	}
}

// gdbSettings are for every gdb of a session: nothing of the project is loaded by
// itself, and the defaults of gdb-multiarch, which suit GNU/Linux, are off for
// bare metal.
func gdbSettings(remote bool) []string {
	out := []string{
		"-iex", "set auto-load local-gdbinit off", "-iex", "set auto-load safe-path /usr/share/gdb/auto-load",
		"-iex", "set auto-load python-scripts off", "-iex", "set auto-load gdb-scripts off", "-iex", "set confirm off",
		"-iex", "set debuginfod enabled off", "-iex", "set history save off",
	}
	if remote {
		return append(out, "-iex", "set osabi none")
	}
	return append(out, "-iex", "set startup-with-shell off")
}

// GdbPane runs gdb, in step with Neovim and gdb-sync.json.
func GdbPane(ctx context.Context, s *PaneSpec, io PaneIO) error {
	opt := gdbsync.Options{
		Gdb: "gdb-multiarch", Program: s.Program, Args: gdbSettings(s.Remote), Restart: "run", Instance: s.Instance, Target: s.Profile + "/" + s.Target,
		StateFile: s.Folder.State(), Editor: s.Folder.Editor(), Calls: s.Folder.Calls(), Dir: s.Card, Sources: []string{s.Card}, In: io.In, Out: io.Out, Say: io.Say,
	}
	if s.Remote {
		opt.Remote, opt.Link = s.Folder.Server(), s.Folder.Link()
		opt.Restart = "restart"
		opt.Args = append(opt.Args, "-ix", s.Folder.commands())
	} else if tty, err := os.ReadFile(s.Folder.tty()); err == nil && ttyName.Match(tty) {
		opt.Args = append(opt.Args, "-iex", "set inferior-tty "+string(tty))
	}
	if s.HasMain {
		opt.Start = []string{"tbreak main", "continue"}
		if !s.Remote {
			opt.Start[1] = "run"
		}
	}
	return gdbsync.Run(ctx, opt)
}
