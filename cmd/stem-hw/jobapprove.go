package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/job"
	"github.com/stem-hw/stem-hw/mcp/audit"
	"github.com/stem-hw/stem-hw/session"
	"github.com/stem-hw/stem-hw/ui"
)

func (a *app) jobApproveCmd() *cobra.Command {
	var noWait bool
	cmd := &cobra.Command{
		Use:   "approve JOB",
		Short: "approve a request, as a person at a terminal",
		Long: `Approve shows what would be written where, and asks for the board's serial number to
be typed. Then a worker of this computer writes it, and this command waits for the end.

It takes a person at a terminal of their own: in a window of a session, below an agent
or without a terminal it is refused, and that is in the audit.`,
		Example: "  stem-hw job approve k3vq",
		Args:    exactArgs("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withJobs(cmd.Context(), func(s *job.Store) error {
				return a.approve(cmd.Context(), s, args[0], noWait)
			})
		},
	}
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until it is written")
	return cmd
}

func (a *app) approve(ctx context.Context, s *job.Store, id string, noWait bool) error {
	j, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := a.person(ctx); err != nil {
		if aerr := a.auditJob(j, audit.Refused, err); aerr != nil {
			return aerr
		}
		return err
	}
	if j.State != job.AwaitingApproval {
		return &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "the request does not wait for an approval", Seen: string(j.State), Try: []string{"stem-hw job list --live"}}
	}
	a.ui.Say("%s", strings.TrimRight(ui.RenderText(jobResult{*j}), "\n"))
	typed, err := a.ui.Ask(fmt.Sprintf("To approve, type the serial number of the board (%s); anything else leaves it:", j.Serial))
	if err != nil {
		return err
	}
	if !strings.EqualFold(typed, j.Serial) || j.Serial == "" {
		return &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "not approved", Seen: fmt.Sprintf("%q", typed), Wanted: j.Serial}
	}
	who := account() + a.terminalName()
	if err := a.auditJob(j, audit.Before, nil); err != nil {
		return err
	}
	if j, err = s.Approve(ctx, j.ID, who, j.SHA256); err != nil {
		return err
	}
	if err := a.auditJob(j, audit.After, nil); err != nil {
		return err
	}
	if err := a.startWorker(ctx); err != nil {
		return err
	}
	if noWait {
		return a.ui.Result(jobResult{*j})
	}
	for seen := j.State; j.State.Live(); {
		if err := pauseFor(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		if j, err = s.Get(ctx, j.ID); err != nil {
			return err
		}
		if j.State != seen {
			seen = j.State
			a.ui.Say("%s", strings.ReplaceAll(string(seen), "_", " "))
		}
	}
	if err := a.ui.Result(jobResult{*j}); err != nil {
		return err
	}
	return jobFault(j)
}

// terminalName is the terminal the person sits at.
func (a *app) terminalName() string {
	if name, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(name, "/dev/") {
		return ", " + strings.TrimPrefix(name, "/dev/")
	}
	return ""
}

// person is a fault unless a person at a terminal of their own asks: not in a
// window of a session, and not below what serves agents. A process of a session
// cannot leave it: the keeper adopts whose parent ended.
func (a *app) person(ctx context.Context) error {
	no := func(seen string) error {
		return &faults.Fault{
			Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "an approval takes a person at a terminal of their own", Seen: seen,
			Try: []string{"open another terminal and run it there"},
		}
	}
	g, err := a.registry()
	if err != nil {
		return err
	}
	if session.Above(os.Getpid(), g.Keepers()) || a.getenv("STEM_INSTANCE") != "" {
		return no("this runs inside a session")
	}
	if h, _, err := a.hubStatus(ctx); err == nil && h != nil && session.Above(os.Getpid(), map[int]bool{h.PID: true}) {
		return no("this runs below what serves agents")
	}
	if a.getenv("SSH_ORIGINAL_COMMAND") != "" && !a.streams.InTTY {
		return no("a command over SSH")
	}
	if !a.streams.InTTY || !a.streams.ErrTTY || !a.ui.Interactive() {
		return no("standard input and standard error are no terminal")
	}
	return nil
}

// auditJob records an approval, or that it was refused.
func (a *app) auditJob(j *job.Job, phase string, why error) error {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return err
	}
	args, err := json.Marshal(map[string]string{"job": j.ID, "sha256": j.SHA256, "board": j.Board, "serial": j.Serial})
	if err != nil {
		return faults.Internal(err)
	}
	r := audit.Record{
		Call: j.ID, Phase: phase, Account: account(), UID: os.Getuid(), PID: os.Getpid(), Level: "person", Instance: j.Instance, Tool: "job approve", Arguments: args,
	}
	if why != nil {
		r.Result, r.Detail = string(faults.CodeRefused), audit.Text(why.Error())
	} else if phase == audit.After {
		r.Result = "ok"
	}
	return audit.New(dir).Append(r)
}

func pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startWorker starts a worker, which ends at once if another one works.
func (a *app) startWorker(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return faults.Internal(err)
	}
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, envPrefix) {
			env = append(env, kv)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, hubTime)
	defer cancel()
	_, err = child.StartService(ctx, child.Service{Program: exe, Name: "stem-hw", Env: env, Args: []string{"job", "work"}})
	return err
}
