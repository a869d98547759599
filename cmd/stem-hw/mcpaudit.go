package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/mcp/audit"
	"github.com/stem-hw/stem-hw/ui"
)

// auditResult is a list of records.
type auditResult struct {
	Records []audit.Record `json:"records"`
	Damaged int            `json:"damaged,omitempty"`
}

func (auditResult) Kind() string { return "mcp-audit-list" }

func (r auditResult) Text(t *ui.Text) {
	for _, x := range r.Records {
		who := x.Account
		if x.Key != "" {
			who += " " + x.Key
		}
		what := x.Phase
		if x.Result != "" {
			what += " " + x.Result
		}
		t.Row(x.Time.Local().Format("2006-01-02 15:04:05"), who, x.Level, x.Instance, x.Tool, what, string(x.Arguments), x.Detail)
	}
}

func (a *app) mcpAuditCmd() *cobra.Command {
	var f audit.Filter
	var level, since string
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "show what agents did, and what they were refused",
		Long: `Audit shows the record of what agents did: before and after each call that is more
than a look, and each refusal. It is in the state folder, and only ever appended to;
the oldest files go when there are many.`,
		Example: "  stem-hw mcp audit --last 20\n  stem-hw mcp audit --phase refused --since 24h --json",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			dir, err := state.Folder(a.getenv)
			if err != nil {
				return err
			}
			f.Level = level
			if since != "" {
				if d, err := time.ParseDuration(since); err == nil {
					f.Since = time.Now().Add(-d)
				} else if f.Since, err = time.Parse(time.RFC3339, since); err != nil {
					u := faults.Usage("--since is not usable")
					u.Seen, u.Wanted = fmt.Sprintf("%q", since), "24h, or 2026-12-01T08:00:00Z"
					return u
				}
			}
			all, damaged, err := audit.New(dir).Read(f)
			if err != nil {
				return faults.Internal(err)
			}
			if damaged > 0 {
				a.ui.Warn("%d lines of the audit are damaged", damaged)
			}
			if len(all) == 0 {
				a.ui.Say("no records")
			}
			return a.ui.Result(auditResult{all, damaged})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Instance, "instance", "", "only of this `SESSION`")
	fl.StringVar(&f.Tool, "tool", "", "only of this `TOOL`")
	choiceFlag(cmd, &level, "level", "", "only of this `LEVEL`", mcp.Levels()...)
	choiceFlag(cmd, &f.Phase, "phase", "", "only this `PHASE`: before, after, refused", audit.Before, audit.After, audit.Refused)
	fl.StringVar(&f.Client, "client", "", "only of this `CLIENT`")
	fl.StringVar(&f.Key, "key", "", "only of the key with this `FINGERPRINT`")
	fl.StringVar(&since, "since", "", "only since this `TIME`: 24h, or 2026-12-01T08:00:00Z")
	fl.IntVar(&f.Last, "last", 0, "only the last `NUMBER`")
	return cmd
}
