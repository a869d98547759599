package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/sim/native"
)

// runProgram runs what was built: on this computer, or as the verb run does.
func (a *app) runProgram(ctx context.Context, w *what, program string, f *runFlags) error {
	if w.profile == profiles.NativeAMD64 {
		return a.runNative(ctx, program, f)
	}
	return a.run(ctx, program, f)
}

// runWhat is run behind words: a file that is no program of this computer goes
// the way it always went.
func (a *app) runWhat(ctx context.Context, args []string, f *runFlags, wf *whatFlags) error {
	whats, err := a.find(args, false)
	if err != nil {
		return err
	}
	w := whats[0]
	if w.file != "" && !native.Is(w.file) && wf.target == "" && (wf.profile == "" || wf.profile == "auto") {
		return a.run(ctx, w.file, f)
	}
	if err := a.settle(ctx, w, wf, f.board, true); err != nil {
		return err
	}
	a.tellProfile(w)
	program, err := a.build(ctx, w)
	if err != nil {
		return err
	}
	f.board = w.selector
	return a.runProgram(ctx, w, program, f)
}

// runNative runs a program of this computer.
func (a *app) runNative(ctx context.Context, program string, f *runFlags) error {
	if f.trace != "" || f.cycles != 0 {
		return faults.Usage("--trace and --cycles count what a simulation executes; this program runs on this computer")
	}
	t, err := native.New(native.Options{Path: program, Dir: ".", Output: func(stream string, p []byte) {
		if stream == "stderr" {
			a.ui.Say("%s", string(p))
			return
		}
		_, _ = a.ui.Data().Write(p)
	}})
	if err != nil {
		return err
	}
	defer t.Close()
	if a.streams.In != nil {
		go func() {
			_, _ = io.Copy(inputOf{ctx, t}, a.streams.In)
			t.CloseInput()
		}()
	} else {
		defer t.CloseInput()
	}
	out, err := t.Run(ctx, native.RunOptions{Expect: f.expect, Fail: f.fail, Timeout: f.timeout})
	if err != nil {
		return err
	}
	return nativeVerdict(out, f)
}

// inputOf writes to a program that may not have started yet.
type inputOf struct {
	ctx context.Context
	t   *native.Target
}

// Write waits for the program.
func (i inputOf) Write(p []byte) (int, error) {
	if err := i.t.Started(i.ctx); err != nil {
		return 0, err
	}
	return i.t.Console().Write(p)
}

// nativeVerdict turns the end of a program into an exit status.
func nativeVerdict(out native.Outcome, f *runFlags) error {
	fault := &faults.Fault{Code: faults.CodeFirmwareFail, Status: faults.StatusFirmware}
	switch {
	case out.Failed != "":
		fault.Summary, fault.Seen = "the program printed a text that means failure", fmt.Sprintf("%q", out.Failed)
	case out.Signal != "":
		fault.Code, fault.Summary, fault.Seen = faults.CodeTargetCrashed, "the program crashed", out.Signal
		fault.Try = []string{"stem-hw debug --profile native-amd64 …"}
	case out.TimedOut && len(out.Pending) > 0:
		fault.Code, fault.Status = faults.CodeTimeout, faults.StatusTimeout
		fault.Summary, fault.Wanted = "the time is up, and an expected text did not come", fmt.Sprintf("%q", out.Pending[0])
	case out.TimedOut, out.Matched:
		return nil
	case len(out.Pending) > 0:
		fault.Code = faults.CodeTextPending
		fault.Summary, fault.Wanted = "the program ended before it printed what was expected", fmt.Sprintf("%q", out.Pending[0])
	case out.Status != 0:
		fault.Summary = fmt.Sprintf("the program ended with status %d", out.Status)
		if f.exitStatus {
			fault.Status = faults.Status(out.Status)
		}
	default:
		return nil
	}
	return fault
}

// debugWhat is debug behind words.
func (a *app) debugWhat(ctx context.Context, args []string, f *debugFlags, g *gdbFlags, wf *whatFlags) error {
	if len(args) == 0 {
		return a.debug(ctx, nil, f, g)
	}
	whats, err := a.find(args, false)
	if err != nil {
		return err
	}
	w := whats[0]
	if w.file != "" && !native.Is(w.file) && wf.target == "" && (wf.profile == "" || wf.profile == "auto") {
		return a.debug(ctx, []string{w.file}, f, g)
	}
	if err := a.settle(ctx, w, wf, f.board, true); err != nil {
		return err
	}
	a.tellProfile(w)
	program, err := a.build(ctx, w)
	if err != nil {
		return err
	}
	f.board = w.selector
	if w.profile == profiles.NativeAMD64 {
		return a.debugNative(ctx, program, g)
	}
	return a.debug(ctx, []string{program}, f, g)
}

// debugNative starts gdb on a program of this computer.
func (a *app) debugNative(ctx context.Context, program string, g *gdbFlags) error {
	if _, err := child.Find(g.gdb, "gdb"); err != nil {
		return err
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return faults.Internal(err)
	}
	for _, s := range g.scripts {
		if _, err := os.Stat(s); err != nil {
			return &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "a gdb script cannot be read", Err: err,
				Try: []string{"check the name behind -x"},
			}
		}
	}
	args := []string{"-q"}
	if g.batch {
		args = append(args, "-batch")
	}
	args = append(args, gdbSafety(g.autoLoad)...)
	args = append(args, "-iex", "set confirm off", "-iex", "set pagination off", "-iex", "set debuginfod enabled off", "-iex", "set startup-with-shell off")
	if !g.noStart {
		args = append(args, "-ex", "tbreak main", "-ex", "run")
	}
	for _, s := range g.scripts {
		args = append(args, "-x", s)
	}
	for _, c := range g.commands {
		args = append(args, "-ex", c)
	}
	return a.runGdb(ctx, append(args, "--", path), g)
}

// gdbSafety keeps gdb from loading files of a project by itself.
func gdbSafety(autoLoad bool) []string {
	if autoLoad {
		return nil
	}
	return []string{
		"-iex", "set auto-load local-gdbinit off", "-iex", "set auto-load safe-path /usr/share/gdb/auto-load",
		"-iex", "set auto-load python-scripts off", "-iex", "set auto-load gdb-scripts off",
	}
}
