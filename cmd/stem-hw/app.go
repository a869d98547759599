package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
	"github.com/stem-hw/stem-hw/usb"
)

// app is what every verb may use: the way to talk, the environment, and the
// values of the global flags.
type app struct {
	ui      *ui.UI
	streams ui.Streams
	getenv  func(string) string

	// Global flags.
	json, noColor, quiet, nonInteractive bool
	verbose                              int
	logFile                              string

	// finder looks for boards on the USB; made when it is first wanted.
	finder *usb.Finder
	// probe is the debug probe that the verb goes through, nil for another way.
	probe *probeWay
	// wait is the verb's --wait, 0 for verbs without one.
	wait time.Duration

	// parsed is set once flags and arguments were accepted: errors before are
	// mistakes of usage.
	parsed bool
}

// execute runs one command line and returns the exit status.
func execute(args []string, getenv func(string) string, s ui.Streams) faults.Status {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// After the first signal a second one ends the process the hard way.
	context.AfterFunc(ctx, stop)
	return executeIn(ctx, args, getenv, s)
}

// executeIn is execute with a context of the caller's.
func executeIn(ctx context.Context, args []string, getenv func(string) string, s ui.Streams) faults.Status {
	a := &app{streams: s, getenv: getenv}
	// Mistakes of usage are found before the flags are known, and are shown
	// as --json and NO_COLOR ask all the same.
	a.ui, _ = ui.New(s, ui.Options{JSON: a.wantsJSON(args), Color: a.wantsColor(args)})
	root := a.root()
	root.SetArgs(args)
	root.SetContext(ctx)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		err = a.classify(ctx, cmd, err)
	}
	status := a.ui.Fault(err)
	if cerr := a.ui.Close(); cerr != nil && status == faults.StatusOK {
		status = faults.StatusInternal
	}
	return status
}

// classify turns an error of cobra's or of a verb into a fault.
func (a *app) classify(ctx context.Context, cmd *cobra.Command, err error) error {
	if faults.Of(err) != nil {
		return err
	}
	if !a.parsed {
		return usageFault(cmd, err)
	}
	if ctx.Err() != nil {
		return &faults.Fault{
			Code: faults.CodeInterrupted, Status: faults.StatusInterrupted,
			Summary: "interrupted",
		}
	}
	return faults.Internal(err)
}

// start takes the global flags into use. It runs before every verb.
func (a *app) start(cmd *cobra.Command) error {
	if err := a.applyEnvironment(cmd); err != nil {
		return err
	}
	u, err := ui.New(a.streams, ui.Options{
		JSON: a.json, Color: !a.noColor && ui.ColorAllowed(a.getenv),
		Quiet: a.quiet, Verbose: a.verbose,
		NonInteractive: a.nonInteractive, LogFile: a.logFile,
	})
	a.ui = u
	if err != nil {
		return err
	}
	a.parsed = true
	a.wait, _ = cmd.Flags().GetDuration("wait") // 0 if there is none
	return a.applyProject(cmd)
}
