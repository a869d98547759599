package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/card"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/session"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/ui"
)

func (a *app) sessionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		Short:   "a place to work in: tmux, Neovim, gdb, the console",
		GroupID: groupCourses,
		Long: `A session is a tmux with four windows: an editor (Neovim), gdb, the program's
console, and its log. Neovim follows gdb; breakpoints set in one are in the other.
It is the same for a board, a simulated one and this computer, and lives until it
is stopped.`,
		Example: "  stem-hw session start inf bss 4\n  stem-hw session attach\n  stem-hw session rm hazard3-sim-inf-bss-t4",
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.sessionStartCmd(), a.sessionListCmd(), a.sessionStatusCmd(), a.sessionContextCmd(), a.sessionAttachCmd(),
		a.sessionStopCmd(), a.sessionRmCmd(), a.sessionLogsCmd(), a.sessionImageCmd(), a.sessionKeepCmd(), a.sessionPaneCmd(), a.sessionInsideCmd())
	return cmd
}

func (a *app) registry() (*session.Registry, error) {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return nil, err
	}
	return session.NewRegistry(dir), nil
}

// theSession finds the session that the words name, or the only one that runs.
func (a *app) theSession(args []string) (*session.Entry, error) {
	g, err := a.registry()
	if err != nil {
		return nil, err
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	} else if inside := a.getenv("STEM_INSTANCE"); inside != "" {
		name = inside
	}
	return g.Find(name, card.Near)
}

// sessionResult is one session.
type sessionResult struct {
	Instance  string        `json:"instance"`
	State     session.State `json:"state"`
	Profile   string        `json:"profile"`
	Target    string        `json:"target"`
	Simulated bool          `json:"simulated"`
	Board     string        `json:"board,omitempty"`
	Card      string        `json:"card"`
	Program   string        `json:"program"`
	Runtime   string        `json:"runtime,omitempty"`
	Keeper    int           `json:"keeper,omitempty"`
	Container string        `json:"container,omitempty"`
	Created   time.Time     `json:"created"`
}

func (sessionResult) Kind() string { return "session" }

func (r sessionResult) Text(t *ui.Text) {
	t.Row("session", r.Instance)
	t.Row("state", string(r.State))
	t.Row("profile", r.Profile+", target "+r.Target)
	if r.Board != "" {
		t.Row("board", r.Board)
	}
	t.Row("card", r.Card)
	t.Row("program", r.Program)
	if r.Runtime != "" {
		t.Row("sockets", r.Runtime)
	}
}

func resultOf(e *session.Entry) sessionResult {
	return sessionResult{
		Instance: e.Instance, State: e.State, Profile: e.Profile, Target: e.Target, Simulated: e.Simulated, Board: e.Board, Card: e.Card,
		Program: e.Program, Runtime: e.Runtime, Keeper: e.Keeper, Container: e.EditorID, Created: e.Created,
	}
}

func (a *app) sessionStartCmd() *cobra.Command {
	var f whatFlags
	var c chooseFlags
	var cf containerFlags
	var attach bool
	cmd := &cobra.Command{
		Use:   "start [CARD|FOLDER|FILE]",
		Short: "build a card and bring up a session for it",
		Long: `Start builds a card, a folder, or takes a program, and brings up a session for it:
gdb stands in main, Neovim shows where. The session goes on when this command
ends; --attach goes into it.

` + cardWords,
		Example: "  stem-hw session start inf bss 4 --attach\n  stem-hw session start --profile native-amd64 ./app",
		Args:    cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.sessionStart(cmd.Context(), args, &f, &c, &cf)
			if err != nil {
				return err
			}
			if !attach {
				if err := a.ui.Result(resultOf(e)); err != nil {
					return err
				}
				a.ui.Say("go into it with: stem-hw session attach %s", e.Instance)
				return nil
			}
			return a.sessionAttach(cmd.Context(), e)
		},
	}
	f.add(cmd)
	c.add(cmd, a)
	cmd.Flags().BoolVar(&attach, "attach", false, "go into the session")
	cf.add(cmd)
	return cmd
}

// sessionStart builds, writes the record, and starts the keeper.
func (a *app) sessionStart(ctx context.Context, args []string, f *whatFlags, c *chooseFlags, cf *containerFlags) (*session.Entry, error) {
	whats, err := a.find(args, false)
	if err != nil {
		return nil, err
	}
	w := whats[0]
	if err := a.settle(ctx, w, f, c.board, true); err != nil {
		return nil, err
	}
	a.tellProfile(w)
	image, err := cf.image(ctx, a, w.profile)
	if err != nil {
		return nil, err
	}
	if image == "" {
		for _, tool := range [][2]string{{"tmux", "tmux"}, {"nvim", "neovim"}, {"gdb-multiarch", "gdb-multiarch"}} {
			if _, err := child.Find(tool[0], tool[1]); err != nil {
				return nil, err
			}
		}
	}
	g, err := a.registry()
	if err != nil {
		return nil, err
	}
	root, err := card.Root(a.getenv)
	if err != nil {
		return nil, err
	}
	r := &session.Record{
		Instance: session.Name(w.profile, w.name()), Workspace: root, Thread: session.Thread(root), Profile: w.profile, Target: w.target,
		Simulated: a.simulated(w), Board: w.selector, Words: append([]string{}, args...), Created: time.Now().UTC().Truncate(time.Second),
		Image: image,
	}
	if cf.via != "auto" {
		r.Via = cf.via
	}
	if image != "" && r.Board != "" {
		// In the container nicknames are not known.
		b, err := a.probeOf(ctx, r.Board)
		if err != nil {
			return nil, err
		}
		if b.Node != "" {
			r.Board = b.Selector()
		}
	}
	if err := session.CheckName(r.Instance); err != nil {
		return nil, err
	}
	runtime, err := session.Runtime(a.getenv)
	if err != nil {
		return nil, err
	}
	if err := session.CheckLength(runtime, r.Thread, r.Instance); err != nil {
		return nil, err
	}
	dir := g.Dir(r.Thread, r.Instance)
	lock, free, err := session.TakeLock(dir)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, &faults.Fault{
			Code: faults.CodeSessionExists, Status: faults.StatusBusy, Summary: "the session runs already", Seen: r.Instance,
			Try: []string{"stem-hw session attach " + r.Instance, "stem-hw session rm " + r.Instance},
		}
	}
	defer lock.Release()
	program, err := a.build(ctx, w)
	if err != nil {
		return nil, errors.Join(err, removeEmpty(dir))
	}
	if r.Program, err = filepath.Abs(program); err != nil {
		return nil, faults.Internal(err)
	}
	r.Card = filepath.Dir(r.Program)
	if w.project != nil {
		r.Card = w.project.Dir
	}
	r.HasMain = hasMain(r.Program, w.profile)
	if err := r.Write(dir); err != nil {
		return nil, err
	}
	lock.Release()
	if err := a.startKeeper(ctx, dir); err != nil {
		return nil, err
	}
	return g.Find(r.Instance, card.Near)
}

// removeEmpty removes the folder of a session that never began.
func removeEmpty(dir string) error {
	if _, err := session.ReadRecord(dir); err == nil {
		return nil
	}
	return os.RemoveAll(dir)
}

func hasMain(path, profile string) bool {
	if profile == profiles.NativeAMD64 {
		return elfHasMain(path)
	}
	p, err := openProgram(path, sim.MachineAuto)
	if err != nil || p.symbols == nil {
		return false
	}
	_, ok := p.symbols.Lookup("main")
	return ok
}

// keeperTime bounds how long a session may take to come up. It is only for keepers
// that hang: one that ends is noticed at once.
const keeperTime = 10 * time.Minute

// keeperReport is what a keeper says when it is ready, or cannot be.
type keeperReport struct {
	Error string `json:"error,omitempty"`
}

func (a *app) startKeeper(ctx context.Context, dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return faults.Internal(err)
	}
	log, err := os.OpenFile(session.LogPath(dir), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return faults.Internal(err)
	}
	defer log.Close()
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, envPrefix) {
			env = append(env, kv)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, keeperTime)
	defer cancel()
	report, err := child.StartService(ctx, child.Service{
		Program: exe, Name: "stem-hw", Env: env, Log: log, Args: []string{"session", "keep", dir},
	})
	if err != nil {
		return err
	}
	var rep keeperReport
	if uerr := json.Unmarshal(report, &rep); uerr != nil {
		rep.Error = "its keeper ended without a word"
	}
	if rep.Error != "" {
		return &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "the session did not come up", Seen: rep.Error,
			Try: []string{"read " + session.LogPath(dir)},
		}
	}
	return nil
}

// sessionKeepCmd is the keeper itself. People have no use for it.
func (a *app) sessionKeepCmd() *cobra.Command {
	return &cobra.Command{
		Use: "keep DIR", Short: "own a session in this process", Hidden: true, Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			exe, err := os.Executable()
			if err != nil {
				return faults.Internal(err)
			}
			// The session's processes must not hold it open.
			syscall.CloseOnExec(child.ReportFD)
			report := os.NewFile(child.ReportFD, "report")
			return session.Keep(cmd.Context(), session.KeeperOptions{
				Dir: args[0], Self: exe, Getenv: a.getenv, GdbCommands: gdbCommands, Node: a.probeNode,
				Log: func(format string, args ...any) { a.ui.Say(format, args...) },
				Ready: func(err error) {
					var rep keeperReport
					if err != nil {
						rep.Error = err.Error()
					}
					if data, merr := json.Marshal(rep); merr == nil {
						_, _ = report.Write(data)
					}
					_ = report.Close()
				},
			})
		},
	}
}

// sessionPaneCmd runs one window. People have no use for it.
func (a *app) sessionPaneCmd() *cobra.Command {
	return &cobra.Command{
		Use: "pane KIND DIR", Short: "run one window of a session", Hidden: true, Args: exactArgs("KIND", "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := session.ReadPaneSpec(args[1])
			if err != nil {
				return err
			}
			in, ok := a.streams.In.(*os.File)
			out, ok2 := a.streams.Out.(*os.File)
			if !ok || !ok2 {
				return faults.Usage("a window needs a terminal")
			}
			pio := session.PaneIO{In: in, Out: out, Say: func(format string, args ...any) { a.ui.Say(format, args...) }}
			ctx := cmd.Context()
			switch args[0] {
			case "editor":
				err = session.EditorPane(ctx, s, pio)
			case "gdb":
				err = session.GdbPane(ctx, s, pio)
			case "console":
				err = session.ConsolePane(ctx, s, pio)
			case "log":
				err = session.LogPane(ctx, s, pio)
			default:
				return faults.Usage("there is no window %q", args[0])
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		},
	}
}
