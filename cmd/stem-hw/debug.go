package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
)

// gdbCommands are defined in every gdb that debug starts.
//
//go:embed gdbcommands.gdb
var gdbCommands []byte

// gdbFlags are the options of debug alone.
type gdbFlags struct {
	gdb      string
	batch    bool
	scripts  []string
	commands []string
	noStart  bool
	autoLoad bool
}

func (a *app) debugCmd() *cobra.Command {
	var f debugFlags
	var g gdbFlags
	var wf whatFlags
	cmd := &cobra.Command{
		Use:     "debug [FILE|FOLDER|CARD]",
		Short:   "debug a program on a simulated board with gdb",
		GroupID: groupDebug,
		Long: `Debug loads a program on a simulated board, starts gdb-multiarch on it, and runs
it to main. Both cores are threads. What the program prints appears in gdb while
it runs. When gdb ends, everything that was started ends with it.

With -b sim or -b sim:NAME, or with such a board pinned for this project, it uses
that board: the program is flashed, consoles show what it prints, and the board
stays. Without FILE gdb is attached to what the board executes just now.

Besides gdb's own commands there are:

  restart    reset the chip and run to main again
  board      the board, its cores and its memory
  stats      cycles, instructions and simulated time
  send WORD  send WORD and a line feed to the program's console

A card or a folder is built first. A program of this computer is debugged by gdb
alone, without a board.

Files that gdb would load from the project by itself (.gdbinit, scripts beside
the program) are not loaded unless --auto-load is given: they can run commands.`,
		Example: `  stem-hw debug app.elf
  stem-hw debug inf bss 4
  stem-hw debug -b sim
  stem-hw debug app.elf --batch -x checks.gdb
  stem-hw debug app.elf --batch --ex "break fail" --ex continue --ex backtrace`,
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.debugWhat(cmd.Context(), args, &f, &g, &wf)
		},
	}
	f.add(cmd, a)
	wf.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&g.gdb, "gdb", "gdb-multiarch", "the gdb to start, a name or a `PATH`")
	fl.BoolVar(&g.batch, "batch", false, "run the scripts and commands, then end; no terminal is needed")
	fl.StringArrayVarP(&g.scripts, "command", "x", nil, "execute the gdb commands in `FILE`; may be repeated")
	fl.StringArrayVar(&g.commands, "ex", nil, "execute this gdb `COMMAND`; may be repeated")
	fl.BoolVar(&g.noStart, "no-start", false, "stay at reset, do not run to main")
	fl.BoolVar(&g.autoLoad, "auto-load", false, "let gdb load files of the project by itself")
	return cmd
}

func (a *app) debug(ctx context.Context, args []string, f *debugFlags, g *gdbFlags) error {
	if _, err := child.Find(g.gdb, "gdb-multiarch"); err != nil {
		return err
	}
	for _, script := range g.scripts {
		if _, err := os.Stat(script); err != nil {
			return &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusUsage,
				Summary: "a gdb script cannot be read", Err: err, Try: []string{"check the name behind -x"},
			}
		}
	}
	var s *served
	var err error
	if len(args) > 0 {
		s, err = a.serve(ctx, args[0], f, "debug", nil)
	} else {
		g.noStart = true
		s, err = a.attachBoard(ctx, f)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	dir, err := a.newRunDir()
	if err != nil {
		return err
	}
	defer dir.Close()
	socket, err := dir.socket("gdb")
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("socket for gdb: %w", err)
	}
	script := filepath.Join(dir.path, "commands.gdb")
	if err := os.WriteFile(script, gdbCommands, 0o600); err != nil {
		return fmt.Errorf("commands for gdb: %w", err)
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(serving, l) }()
	err = a.runGdb(ctx, gdbArgs(s.program, socket, script, g), g)
	stop()
	<-served //nolint:errcheck // the session is over, however it ended
	if s.lost != nil {
		if lost := s.lost(); lost != nil {
			return lost // gdb could only say that something failed
		}
	}
	return err
}

// gdbArgs is the command line of gdb.
func gdbArgs(p *program, socket, script string, g *gdbFlags) []string {
	args := []string{"-q"}
	if g.batch {
		args = append(args, "-batch")
	}
	// The defaults of gdb-multiarch suit programs of GNU/Linux.
	args = append(args, "-iex", "set osabi none")
	args = append(args, gdbSafety(g.autoLoad)...)
	args = append(args, "-iex", "set confirm off", "-ex", "target remote "+socket, "-x", script)
	if _, ok := p.symbols.Lookup("main"); ok && !g.noStart {
		args = append(args, "-ex", "tbreak main", "-ex", "continue")
	}
	for _, x := range g.scripts {
		args = append(args, "-x", x)
	}
	for _, c := range g.commands {
		args = append(args, "-ex", c)
	}
	if p.image.Format == image.FormatELF {
		args = append(args, "--", p.path)
	}
	return args
}

// runGdb runs gdb to its end, on the terminal if there is one.
func (a *app) runGdb(ctx context.Context, args []string, g *gdbFlags) (err error) {
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	st := a.ui.Streams()
	spec := child.Spec{
		Program: g.gdb, Package: "gdb-multiarch", Args: args,
		Stdin: st.In, Stdout: st.Out, Stderr: st.Err,
	}
	if tty, ok := st.In.(*os.File); ok && st.InTTY && !g.batch {
		spec.Terminal = tty
	}
	if g.batch {
		spec.Stdin = nil
	}
	p, err := sup.Start(ctx, spec)
	if err != nil {
		return err
	}
	err = p.Wait()
	var exit *child.ExitError
	if errors.As(err, &exit) {
		f := &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
			Summary: "gdb ended with an error", Seen: exit.Error(),
			Try: []string{"read what gdb printed above", "stem-hw debug --no-start FILE"},
		}
		if exit.Signal != "" {
			f.Summary, f.Try = "gdb was ended from outside", []string{"the same command again: nothing was left behind"}
		}
		return f
	}
	return err
}
