package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/job"
	"github.com/stem-hw/stem-hw/ui"
)

func (a *app) jobCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "job",
		Short:   "requests that wait for a person: flashing and erasing boards",
		GroupID: groupAgents,
		Long: `What an agent asks to be written to a board waits here until a person approves or
rejects it. What was approved is what is written: that image, that board, that chip.
Requests and approvals expire after 15 minutes.`,
		Example: "  stem-hw job list\n  stem-hw job approve k3vq",
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.jobListCmd(), a.jobShowCmd(), a.jobApproveCmd(), a.jobRejectCmd(), a.jobCancelCmd(), a.jobWorkCmd())
	return cmd
}

// withJobs opens the queue for one verb.
func (a *app) withJobs(ctx context.Context, f func(*job.Store) error) error {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return err
	}
	s, err := job.Open(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

type jobListResult struct {
	Jobs []job.Job `json:"jobs"`
}

func (jobListResult) Kind() string { return "job-list" }

func (r jobListResult) Text(t *ui.Text) {
	if len(r.Jobs) == 0 {
		return
	}
	t.Head("JOB", "STATE", "WHAT", "BOARD", "SESSION", "ASKED BY")
	for _, j := range r.Jobs {
		t.Row(j.ID, string(j.State), jobWhat(&j), j.Board, j.Instance, jobBy(&j))
	}
}

func jobWhat(j *job.Job) string {
	if j.Kind == "erase" {
		return "erase " + strings.TrimPrefix(strings.Join(j.Options, " "), "-- ")
	}
	return "flash " + j.Image
}

func jobBy(j *job.Job) string {
	by := j.Requester.Account
	if j.Requester.Client != "" {
		by += ", " + j.Requester.Client
	}
	return by
}

// jobResult is one request.
type jobResult struct{ job.Job }

func (jobResult) Kind() string { return "job" }

func (r jobResult) Text(t *ui.Text) {
	t.Row("job", r.ID)
	t.Row("state", string(r.State))
	t.Row("what", jobWhat(&r.Job))
	if r.SHA256 != "" {
		t.Row("image", fmt.Sprintf("SHA-256 %s, %d bytes", r.SHA256, r.Size))
	}
	t.Row("board", r.Board+", serial "+r.Serial)
	if r.Chip != "" {
		t.Row("chip", r.Chip)
	}
	if text := changesText(r.Changes); text != "" {
		t.Row("changes", text)
	}
	if r.Instance != "" {
		t.Row("session", r.Instance)
	}
	t.Row("asked by", strings.Trim(jobBy(&r.Job)+", level "+r.Requester.Level, ", "))
	if r.Requester.Key != "" {
		t.Row("key", r.Requester.Key)
	}
	if r.Reason != "" {
		t.Row("reason", r.Reason+" (in the agent's words)")
	}
	if r.Approver != "" {
		t.Row("approved by", r.Approver)
	}
	if r.Error != "" {
		t.Row("error", r.Error)
	}
	if r.State.Live() {
		t.Row("expires", r.Expires.Local().Format("15:04:05"))
	}
	for _, e := range r.Events {
		t.Row("", e.Time.Local().Format("15:04:05")+" "+string(e.State)+", "+e.Who, e.Detail)
	}
}

func (a *app) jobListCmd() *cobra.Command {
	var f job.Filter
	var st string
	var names []string
	for _, s := range job.States() {
		names = append(names, string(s))
	}
	cmd := &cobra.Command{
		Use: "list", Short: "list requests, newest first", Example: "  stem-hw job list --live", Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withJobs(cmd.Context(), func(s *job.Store) error {
				f.State = job.State(st)
				all, err := s.List(cmd.Context(), f)
				if err != nil {
					return err
				}
				if len(all) == 0 {
					a.ui.Say("no jobs")
				}
				return a.ui.Result(jobListResult{all})
			})
		},
	}
	cmd.Flags().StringVar(&f.Instance, "instance", "", "only of this `SESSION`")
	cmd.Flags().BoolVar(&f.Live, "live", false, "only those that are not over")
	choiceFlag(cmd, &st, "state", "", "only in this `STATE`: "+strings.Join(names, ", "), slices.Concat(names, []string{""})...)
	return cmd
}

// completeJobs offers the ids of live requests.
func (a *app) completeJobs(cmd *cobra.Command, _ []string, _ string) (ids []string, d cobra.ShellCompDirective) {
	_ = a.withJobs(cmd.Context(), func(s *job.Store) error {
		all, err := s.List(cmd.Context(), job.Filter{Live: true})
		for i := range all {
			ids = append(ids, all[i].ID+"\t"+jobWhat(&all[i]))
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) jobShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show JOB", Short: "show a request: image, board, chip, who asked, what would change", Example: "  stem-hw job show k3vq",
		Args: exactArgs("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withJobs(cmd.Context(), func(s *job.Store) error {
				j, err := s.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return a.ui.Result(jobResult{*j})
			})
		},
	}
}

func (a *app) jobRejectCmd() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "reject JOB", Short: "reject a request", Example: "  stem-hw job reject k3vq --reason 'not this board'", Args: exactArgs("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withJobs(cmd.Context(), func(s *job.Store) error {
				j, err := s.Reject(cmd.Context(), args[0], account(), why)
				if err != nil {
					return err
				}
				return a.ui.Result(jobResult{*j})
			})
		},
	}
	cmd.Flags().StringVar(&why, "reason", "", "why, for whoever asked: `TEXT`")
	return cmd
}

func (a *app) jobCancelCmd() *cobra.Command {
	return &cobra.Command{
		Use: "cancel JOB", Short: "take a request back that has not begun", Example: "  stem-hw job cancel k3vq", Args: exactArgs("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withJobs(cmd.Context(), func(s *job.Store) error {
				j, err := s.Cancel(cmd.Context(), args[0], account())
				if err != nil {
					return err
				}
				return a.ui.Result(jobResult{*j})
			})
		},
	}
}

// changesText says in a line what a request would change.
func changesText(doc []byte) string {
	c, err := readChanges(doc)
	if err != nil {
		return ""
	}
	return c.text()
}

// jobFault is a request that did not come to a good end.
func jobFault(j *job.Job) error {
	switch j.State {
	case job.FlashFailed:
		return &faults.Fault{Code: faults.CodeWriteFailed, Status: faults.StatusWrite, Summary: "the board was not written as approved", Seen: j.Error, Try: []string{"stem-hw job show " + j.ID}}
	case job.Expired, job.Rejected, job.Cancelled:
		return &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "the request is over", Seen: string(j.State), Try: []string{"stem-hw job show " + j.ID}}
	}
	return nil
}
