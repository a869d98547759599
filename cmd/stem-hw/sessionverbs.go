package main

import (
	"context"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/session"
	"github.com/stem-hw/stem-hw/ui"
)

// elfHasMain says whether a program of this computer has a main.
func elfHasMain(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return false
	}
	for _, s := range all {
		if s.Name == "main" {
			return true
		}
	}
	return false
}

type sessionListResult struct {
	Sessions []sessionResult `json:"sessions"`
}

func (sessionListResult) Kind() string { return "session-list" }

func (r sessionListResult) Text(t *ui.Text) {
	for _, s := range r.Sessions {
		t.Linef("%-8s %s  %s", s.State, s.Instance, s.Card)
	}
}

func (a *app) sessionListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the sessions", Example: "  stem-hw session list --json", Args: atMostArgs(),
		RunE: func(*cobra.Command, []string) error {
			g, err := a.registry()
			if err != nil {
				return err
			}
			all, broken := g.List()
			for _, b := range broken {
				a.ui.Warn("%v", b)
			}
			r := sessionListResult{Sessions: []sessionResult{}}
			for i := range all {
				r.Sessions = append(r.Sessions, resultOf(&all[i]))
			}
			if len(all) == 0 {
				a.ui.Say("no sessions")
			}
			return a.ui.Result(r)
		},
	}
}

// sessionStatus is a session and where its program stands.
type sessionStatus struct {
	sessionResult
	Debug *gdbsync.State `json:"debug,omitempty"`
}

func (sessionStatus) Kind() string { return "session-status" }

func (r sessionStatus) Text(t *ui.Text) {
	r.sessionResult.Text(t)
	if d := r.Debug; d != nil {
		where := string(d.State)
		if d.Frame != nil {
			where += " in " + d.Frame.Function
			if d.Frame.Line > 0 {
				where += ", " + filepath.Base(d.Frame.Path) + ":" + strconv.Itoa(d.Frame.Line)
			}
		}
		t.Row("program", where)
	}
}

func (a *app) sessionStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status [SESSION]", Short: "show a session and where its program stands", Example: "  stem-hw session status --json", Args: atMostArgs("SESSION"),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := a.theSession(args)
			if err != nil {
				return err
			}
			r := sessionStatus{sessionResult: resultOf(e)}
			if e.State == session.Running && e.Runtime != "" {
				// What the inside says of itself; nothing depends on it.
				r.Debug, _ = session.ReadState(e.Folder())
			}
			return a.ui.Result(r)
		},
	}
}

// sessionContext is what somebody who works in a session needs to know.
type sessionContext struct {
	Instance    string            `json:"instance"`
	Profile     string            `json:"profile"`
	Target      string            `json:"target"`
	Simulated   bool              `json:"simulated"`
	State       session.State     `json:"state"`
	Paths       map[string]string `json:"paths"`
	Commands    map[string]string `json:"commands"`
	Limits      []string          `json:"limits"`
	Environment []string          `json:"environment"`
}

func (sessionContext) Kind() string { return "session-context" }

func (r sessionContext) Text(t *ui.Text) {
	t.Row("session", r.Instance+" ("+string(r.State)+")")
	for _, k := range []string{"card", "program", "gdb_sync", "log"} {
		t.Row(k, r.Paths[k])
	}
	for _, k := range []string{"build", "test", "run", "debug", "deploy"} {
		if c := r.Commands[k]; c != "" {
			t.Row(k, c)
		}
	}
	for _, l := range r.Limits {
		t.Linef("  %s", l)
	}
}

// limitsOf are what a profile cannot do, in words.
func limitsOf(e *session.Entry) []string {
	p, err := profiles.Load(e.Profile)
	if err != nil {
		return nil
	}
	return p.Chip.Limits
}

func (a *app) sessionContextCmd() *cobra.Command {
	return &cobra.Command{
		Use: "context [SESSION]", Short: "paths, commands and limits of a session", Example: "  stem-hw session context --json", Args: atMostArgs("SESSION"),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := a.theSession(args)
			if err != nil {
				return err
			}
			words := strings.Join(e.Words, " ")
			if words == "" {
				words = e.Card
			}
			where := " --profile " + e.Profile + " --target " + e.Target
			if e.Board != "" {
				where += " -b " + e.Board
			}
			c := sessionContext{
				Instance: e.Instance, Profile: e.Profile, Target: e.Target, Simulated: e.Simulated, State: e.State,
				Paths: map[string]string{
					"card": e.Card, "program": e.Program, "workspace": e.Workspace,
					"log": session.ProgramLog(e.Card, e.Instance),
				},
				Commands: map[string]string{
					"build": "stem-hw build " + words + where, "test": "stem-hw test " + words + where,
					"run": "stem-hw run " + words + where, "debug": "stem-hw debug " + words + where, "attach": "stem-hw session attach " + e.Instance,
				},
				Limits: limitsOf(e), Environment: []string{},
			}
			if e.Profile == "rp2350" {
				c.Commands["deploy"] = "stem-hw deploy " + words + " -b " + e.Board
			}
			if e.Runtime != "" {
				f := e.Folder()
				for k, v := range map[string]string{"runtime": f.Dir, "tmux": f.Tmux(), "nvim": f.Editor(), "gdb_sync": f.State(), "container": f.Container()} {
					c.Paths[k] = v
				}
				c.Environment = session.Environment(&e.Record)
			}
			return a.ui.Result(c)
		},
	}
}

func (a *app) sessionAttachCmd() *cobra.Command {
	return &cobra.Command{
		Use: "attach [SESSION]", Short: "go into a session", Example: "  stem-hw session attach", Args: atMostArgs("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.theSession(args)
			if err != nil {
				return err
			}
			return a.sessionAttach(cmd.Context(), e)
		},
	}
}

func (a *app) sessionAttach(ctx context.Context, e *session.Entry) (err error) {
	if e.State != session.Running {
		return &faults.Fault{
			Code: faults.CodeNoSession, Status: faults.StatusNotFound, Summary: "the session does not run", Seen: e.Instance + ": " + string(e.State),
			Try: []string{"stem-hw session start " + strings.Join(e.Words, " ")},
		}
	}
	tty, ok := a.streams.In.(*os.File)
	if !ok || !a.streams.InTTY || !a.streams.OutTTY {
		return faults.Usage("attach needs a terminal")
	}
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TMUX") {
			env = append(env, kv)
		}
	}
	program, argv, err := attachArgv(ctx, e)
	if err != nil {
		return err
	}
	p, err := sup.Start(ctx, child.Spec{
		Program: program, Package: program, Args: argv, Env: env,
		Stdin: tty, Stdout: a.streams.Out, Stderr: a.streams.Err, Terminal: tty,
	})
	if err != nil {
		return err
	}
	return p.Wait()
}

// sessionEndResult says what was ended.
type sessionEndResult struct {
	Stopped []string `json:"stopped,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

func (sessionEndResult) Kind() string { return "session-end" }

func (r sessionEndResult) Text(t *ui.Text) {
	for _, s := range r.Stopped {
		t.Linef("%s is stopped", s)
	}
	for _, s := range r.Removed {
		t.Linef("%s is removed", s)
	}
}

func (a *app) sessionStopCmd() *cobra.Command {
	return &cobra.Command{
		Use: "stop [SESSION]", Short: "end a session; start brings it up again", Example: "  stem-hw session stop hazard3-sim-inf-bss-t4", Args: atMostArgs("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.theSession(args)
			if err != nil {
				return err
			}
			if err := session.Stop(cmd.Context(), e); err != nil {
				return err
			}
			return a.ui.Result(sessionEndResult{Stopped: []string{e.Instance}})
		},
	}
}

func (a *app) sessionRmCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "rm [SESSION]", Short: "end a session and remove all of it", Args: atMostArgs("SESSION"),
		Long: `Rm ends a session and removes its processes, its runtime folder, its log and its
record. It does so whatever state the session is in.`,
		Example: "  stem-hw session rm hazard3-sim-inf-bss-t4\n  stem-hw session rm --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			var list []session.Entry
			if all {
				if len(args) > 0 {
					return faults.Usage("--all and a name exclude each other")
				}
				g, err := a.registry()
				if err != nil {
					return err
				}
				var broken []error
				if list, broken = g.List(); len(broken) > 0 {
					return errors.Join(broken...)
				}
			} else {
				e, err := a.theSession(args)
				if err != nil {
					return err
				}
				list = []session.Entry{*e}
			}
			var r sessionEndResult
			for i := range list {
				if err := session.Remove(cmd.Context(), &list[i], a.getenv, func(ctx context.Context, r *session.Record) error {
					return a.reapPodman(ctx, r, list[i].Dir)
				}); err != nil {
					return err
				}
				r.Removed = append(r.Removed, list[i].Instance)
			}
			return a.ui.Result(r)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every session")
	return cmd
}

func (a *app) sessionLogsCmd() *cobra.Command {
	var keeper bool
	cmd := &cobra.Command{
		Use: "logs [SESSION]", Short: "print what the program printed", Example: "  stem-hw session logs\n  stem-hw session logs --keeper", Args: atMostArgs("SESSION"),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := a.theSession(args)
			if err != nil {
				return err
			}
			path := session.LogPath(e.Dir)
			if !keeper {
				path = session.ProgramLog(e.Card, e.Instance)
			}
			f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
			if errors.Is(err, os.ErrNotExist) {
				a.ui.Say("nothing was printed yet")
				return nil
			}
			if err != nil {
				return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the log cannot be read", Seen: path, Err: err, Try: []string{"ls -l " + path}}
			}
			defer f.Close()
			text, err := io.ReadAll(io.LimitReader(f, 32<<20))
			if err != nil {
				return faults.Internal(err)
			}
			_, err = io.WriteString(a.ui.Data(), ui.EscapeLines(strings.ReplaceAll(string(text), "\r\n", "\n")))
			return err
		},
	}
	cmd.Flags().BoolVar(&keeper, "keeper", false, "what the session's keeper has to say")
	return cmd
}
