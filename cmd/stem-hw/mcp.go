package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/job"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/mcp/audit"
	"github.com/stem-hw/stem-hw/session"
)

func (a *app) mcpCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "tools for agents, at the level their channel allows",
		GroupID: groupAgents,
		Long: `An agent works in the session a person works in, through tools of the Model Context
Protocol. What it may do is a property of the channel it came through:

  observe  looks: windows, editor, gdb, memory, console, boards, requests
  assist   helps: halts and steps, breakpoints, notes, asks for a board to be flashed
  full     takes over, in a session with a container alone

Agents reach sessions on this computer, and are refused those in containers: nobody
gets full so far, and no tool edits, builds or tests.

Flashing and erasing a board waits for a person: stem-hw job.`,
		Example: "  stem-hw mcp config claude --write\n  stem-hw mcp select hazard3-sim-inf-bss-t4\n  stem-hw mcp audit",
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.mcpServeCmd(), a.mcpSelectCmd(), a.mcpListCmd(), a.mcpStatusCmd(), a.mcpConfigCmd(), a.mcpKeysCmd(), a.mcpWrapperCmd(),
		a.mcpAuditCmd(), a.mcpHubCmd())
	return cmd
}

// levelFlag is --level.
func levelFlag(cmd *cobra.Command, p *string, def string) {
	choiceFlag(cmd, p, "level", def, "the `LEVEL`: "+strings.Join(mcp.Levels(), ", "), mcp.Levels()...)
}

func (a *app) mcpServeCmd() *cobra.Command {
	var level, instance, socket string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "join standard input and output to the tools of a level",
		Long: `Serve is what an MCP client starts. It joins standard input and output to the socket
of a level: of the session that --instance or $STEM_INSTANCE names, else of the one
that is selected (stem-hw mcp select), which may change while the client runs.

Where $STEM_MCP is a socket, as in a container, it is that one, and --level can only
lower what it allows.`,
		Example: "  stem-hw mcp serve --level observe\n  stem-hw mcp serve --level assist --instance hazard3-sim-inf-bss-t4",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if instance == "" {
				instance = a.getenv("STEM_INSTANCE")
			}
			return a.mcpServe(cmd.Context(), level, instance, socket, mcp.Preface{Level: level})
		},
	}
	levelFlag(cmd, &level, mcp.Observe.String())
	cmd.Flags().StringVar(&instance, "instance", "", "the `SESSION`; the one that is selected if not given")
	cmd.Flags().StringVar(&socket, "socket", "", "the `PATH` of a level's socket, in place of asking for one")
	_ = cmd.RegisterFlagCompletionFunc("instance", a.completeSessions)
	return cmd
}

// completeSessions offers the names of sessions.
func (a *app) completeSessions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	g, err := a.registry()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := g.List()
	var names []string
	for i := range all {
		names = append(names, all[i].Instance)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) mcpServe(ctx context.Context, level, instance, socket string, p mcp.Preface) error {
	if given := a.getenv("STEM_MCP"); socket == "" && given != "" {
		if st, err := os.Stat(given); err == nil && st.Mode()&os.ModeSocket != 0 {
			socket = given
		}
	}
	if socket == "" {
		if instance != "" {
			if err := session.CheckName(instance); err != nil {
				return err
			}
		}
		var err error
		if socket, err = a.askHub(ctx, instance, level); err != nil {
			return err
		}
	}
	in, out := a.streams.In, a.ui.Data()
	if f, ok := in.(*os.File); ok {
		// A signal must end the wait for input.
		stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Now()) })
		defer stop()
	}
	return mcp.Relay(ctx, socket, p, in, out)
}

// askHub asks the hub for a socket, and starts one if none runs.
func (a *app) askHub(ctx context.Context, instance, level string) (string, error) {
	runtime, err := session.Runtime(a.getenv)
	if err != nil {
		return "", err
	}
	end := time.Now().Add(hubTime)
	for started := false; ; {
		socket, err := mcp.AskHub(ctx, runtime, instance, level)
		if err == nil || faults.Of(err) != nil {
			return socket, err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if time.Now().After(end) {
			return "", &faults.Fault{
				Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the process that serves agents does not answer", Err: err, Try: []string{"stem-hw mcp status"},
			}
		}
		if !started {
			started = true
			if err := a.startHub(ctx); err != nil {
				return "", err
			}
			continue
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// hubTime bounds how long a hub may take to come up.
const hubTime = 30 * time.Second

// startHub starts a hub; that another one was quicker is no error.
func (a *app) startHub(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return faults.Internal(err)
	}
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return err
	}
	if err := state.MakeFolder(dir); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "mcp.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return faults.Internal(err)
	}
	defer log.Close()
	if st, err := log.Stat(); err == nil && st.Size() > 4<<20 {
		_ = log.Truncate(0)
	}
	var env []string
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		// It serves all sessions, and belongs to none.
		if !strings.HasPrefix(k, "STEM_") && !strings.HasPrefix(k, "TMUX") && k != "NVIM" || k == "STEM_WORKSPACE" {
			env = append(env, kv)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, hubTime)
	defer cancel()
	report, err := child.StartService(ctx, child.Service{Program: exe, Name: "stem-hw", Env: env, Log: log, Args: []string{"mcp", "hub"}})
	if err != nil {
		return err
	}
	var rep keeperReport
	if json.Unmarshal(report, &rep) == nil && rep.Error != "" {
		return &faults.Fault{Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the process that serves agents did not come up", Seen: rep.Error, Try: []string{"read " + log.Name()}}
	}
	return nil
}

// mcpHubCmd is the process that owns the sockets. People have no use for it.
func (a *app) mcpHubCmd() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use: "hub", Short: "own the sockets of all sessions", Hidden: true, Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			syscall.CloseOnExec(child.ReportFD)
			report := os.NewFile(child.ReportFD, "report")
			say := func(err error) {
				var rep keeperReport
				if err != nil && !errors.Is(err, mcp.ErrHubRuns) {
					rep.Error = err.Error()
				}
				if data, merr := json.Marshal(rep); merr == nil {
					_, _ = report.Write(data)
				}
				_ = report.Close()
			}
			err := a.mcpHub(cmd.Context(), idle, func() { say(nil) })
			if err != nil {
				say(err)
			}
			if errors.Is(err, mcp.ErrHubRuns) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", time.Minute, "end after this `TIME` without a session and a client")
	return cmd
}

func (a *app) mcpHub(ctx context.Context, idle time.Duration, ready func()) (err error) {
	runtime, err := session.Runtime(a.getenv)
	if err != nil {
		return err
	}
	g, err := a.registry()
	if err != nil {
		return err
	}
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return err
	}
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	jobs, err := job.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jobs.Close()) }()
	h, err := mcp.NewHub(mcp.HubOptions{
		Runtime: runtime, Registry: g, Idle: idle,
		Log: func(format string, args ...any) { a.ui.Say(format, args...) },
		Reach: func(r *session.Record) (mcp.Inside, mcp.Builder, error) {
			inside, err := a.reach(r, sup)
			return inside, nil, err
		},
		Server: mcp.Options{
			Version: buildVersion().Version, Verb: a.verbDocument, Prepare: a.prepareJob, Audit: audit.New(dir), Jobs: jobs, Getenv: a.getenv, StateDir: dir,
		},
	})
	if err != nil {
		return err
	}
	return h.Serve(ctx, ready)
}

// hubStatus asks the hub, if one runs.
func (a *app) hubStatus(ctx context.Context) (*mcp.HubStatus, string, error) {
	runtime, err := session.Runtime(a.getenv)
	if err != nil {
		return nil, "", err
	}
	s, err := mcp.StatusOfHub(ctx, runtime)
	var op *net.OpError
	if errors.As(err, &op) || errors.Is(err, io.EOF) {
		return nil, runtime, nil
	}
	return s, runtime, err
}
