package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/neovim/go-client/nvim"
	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/card"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/session"
	"github.com/stem-hw/stem-hw/ui"
)

// mcpSession is a session as agents may use it.
type mcpSession struct {
	Instance  string        `json:"instance"`
	State     session.State `json:"state"`
	Profile   string        `json:"profile"`
	Container string        `json:"container,omitempty"`
	Levels    []string      `json:"levels"`
	Selected  bool          `json:"selected"`
}

type mcpListResult struct {
	Sessions []mcpSession `json:"sessions"`
}

func (mcpListResult) Kind() string { return "mcp-list" }

func (r mcpListResult) Text(t *ui.Text) {
	for _, s := range r.Sessions {
		mark := " "
		if s.Selected {
			mark = "*"
		}
		levels := strings.Join(s.Levels, ", ")
		if levels == "" {
			levels = string(s.State)
		}
		t.Row(mark, s.Instance, levels)
	}
}

// mcpSessions are the sessions, and which one is selected.
func (a *app) mcpSessions(allow []string) ([]mcpSession, error) {
	runtime, err := session.Runtime(a.getenv)
	if err != nil {
		return nil, err
	}
	g, err := a.registry()
	if err != nil {
		return nil, err
	}
	selected, err := mcp.NewSelection(runtime).Get()
	if err != nil {
		return nil, faults.Internal(err)
	}
	all, _ := g.List()
	out := []mcpSession{}
	for i := range all {
		e := &all[i]
		if len(allow) > 0 && !containsWord(allow, e.Instance) {
			continue
		}
		s := mcpSession{Instance: e.Instance, State: e.State, Profile: e.Profile, Container: e.EditorID, Levels: []string{}, Selected: selected != "" && e.Runtime == selected}
		if e.State == session.Running {
			s.Levels = []string{mcp.Observe.String(), mcp.Assist.String()}
			if e.EditorID != "" {
				s.Levels = mcp.Levels()
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func containsWord(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

func (a *app) mcpListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the sessions and the levels agents may have there", Example: "  stem-hw mcp list --json", Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			all, err := a.mcpSessions(nil)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				a.ui.Say("no sessions")
			}
			return a.ui.Result(mcpListResult{all})
		},
	}
}

// mcpStatus is what serves agents now.
type mcpStatus struct {
	Running bool `json:"running"`
	mcp.HubStatus
	Session string `json:"session,omitempty"`
}

func (mcpStatus) Kind() string { return "mcp-status" }

func (r mcpStatus) Text(t *ui.Text) {
	if !r.Running {
		t.Linef("nothing serves agents now; the first client starts it")
	} else {
		t.Row("process", fmt.Sprint(r.PID))
		t.Row("clients", fmt.Sprint(r.Clients))
		for _, s := range r.Sockets {
			t.Row("socket", s)
		}
	}
	if r.Session != "" {
		t.Row("selected", r.Session)
	} else if r.Selected != "" {
		t.Row("selected", r.Selected+" (ended)")
	}
}

func (a *app) mcpStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "show what serves agents, and which session is selected", Example: "  stem-hw mcp status", Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, runtime, err := a.hubStatus(cmd.Context())
			if err != nil {
				return err
			}
			r := mcpStatus{Running: h != nil, HubStatus: mcp.HubStatus{Sockets: []string{}}}
			if h != nil {
				r.HubStatus = *h
			}
			if r.Selected, err = mcp.NewSelection(runtime).Get(); err != nil {
				return faults.Internal(err)
			}
			all, err := a.mcpSessions(nil)
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.Selected {
					r.Session = s.Instance
				}
			}
			return a.ui.Result(r)
		},
	}
}

type mcpSelectResult struct {
	Selected  string `json:"selected"`
	Container string `json:"container,omitempty"`
	Runtime   string `json:"runtime"`
}

func (mcpSelectResult) Kind() string { return "mcp-select" }

func (r mcpSelectResult) Text(t *ui.Text) {
	if r.Selected == "" {
		t.Linef("no session is selected")
		return
	}
	t.Linef("%s", r.Selected)
}

func (a *app) mcpSelectCmd() *cobra.Command {
	var none bool
	cmd := &cobra.Command{
		Use:   "select SESSION|CONTAINER",
		Short: "choose the session that clients without one of their own mean",
		Long: `Select takes a session's name or the full id of its container. The session must run,
its container must be the one of its record and labelled so, and its tmux and its
Neovim must answer. Then clients that run already use it with their next call.`,
		Example: "  stem-hw mcp select hazard3-sim-inf-bss-t4\n  stem-hw mcp select --none",
		Args:    atMostArgs("SESSION"), ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			runtime, err := session.Runtime(a.getenv)
			if err != nil {
				return err
			}
			sel := mcp.NewSelection(runtime)
			if none {
				if len(args) > 0 {
					return faults.Usage("--none and a session exclude each other")
				}
				if err := sel.Clear(); err != nil {
					return err
				}
				return a.ui.Result(mcpSelectResult{})
			}
			if err := exactArgs("SESSION")(cmd, args); err != nil {
				return err
			}
			e, err := a.selectable(args[0])
			if err != nil {
				return err
			}
			if err := a.answers(cmd.Context(), e); err != nil {
				return err
			}
			if err := sel.Set(e.Runtime); err != nil {
				return err
			}
			return a.ui.Result(mcpSelectResult{e.Instance, e.EditorID, e.Runtime})
		},
	}
	cmd.Flags().BoolVar(&none, "none", false, "select no session")
	return cmd
}

// selectable finds a session by its name or its container's full id.
func (a *app) selectable(name string) (*session.Entry, error) {
	g, err := a.registry()
	if err != nil {
		return nil, err
	}
	all, _ := g.List()
	for i := range all {
		if len(name) == 64 && (all[i].EditorID == name || all[i].DebugID == name) {
			return &all[i], nil
		}
	}
	return g.Find(name, card.Near)
}

// answers checks that a session's container and both its servers are there.
func (a *app) answers(ctx context.Context, e *session.Entry) error {
	f := &faults.Fault{Code: faults.CodeNoSession, Status: faults.StatusNotFound, Summary: "the session cannot be selected", Try: []string{"stem-hw session status " + e.Instance}}
	if e.State != session.Running || e.Runtime == "" {
		f.Seen = e.Instance + ": " + string(e.State)
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer sup.Close()
	inside, err := a.reach(&e.Record, sup)
	if err != nil {
		return err
	}
	if _, err := inside.Run(ctx, []string{"tmux", "-S", e.Folder().Tmux(), "has-session", "-t", "stem"}, 4096); err != nil {
		f.Seen, f.Err = "tmux does not answer", err
		return f
	}
	conn, err := inside.Dial(ctx, e.Folder().Editor())
	if err != nil {
		f.Seen, f.Err = "Neovim does not answer", err
		return f
	}
	if err := neovimAnswers(ctx, conn); err != nil {
		f.Seen, f.Err = "Neovim does not answer", err
		return f
	}
	return nil
}

// neovimAnswers asks for something that is answered even while a key is waited for.
func neovimAnswers(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	v, err := nvim.New(conn, conn, conn, func(string, ...any) {})
	if err != nil {
		_ = conn.Close()
		return err
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = v.Serve()
	}()
	_, err = v.Mode()
	_ = v.Close()
	<-served
	return err
}

// reach is how a session's programs are reached. Those in containers are not:
// whoever may only act inside the container must not act beside it instead.
func (a *app) reach(r *session.Record, sup *child.Supervisor) (mcp.Inside, error) {
	if r.Contained() || r.EditorID != "" {
		return nil, &faults.Fault{
			Code: faults.CodeMissingTool, Status: faults.StatusMissingTool, Summary: "agents do not reach a session in containers",
			Seen: r.Instance, Wanted: "a session on the host", Try: []string{"stem-hw session start --no-container"},
		}
	}
	return mcp.NewHere(sup), nil
}
