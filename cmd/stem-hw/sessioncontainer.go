package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/container"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/session"
	"github.com/stem-hw/stem-hw/ui"
)

// containerFlags say where a session runs.
type containerFlags struct {
	without, must bool
	via           string
}

func (f *containerFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.without, "no-container", false, "run on this computer, whatever there is of podman")
	fl.BoolVar(&f.must, "container", false, "run in containers, or not at all")
	choiceFlag(cmd, &f.via, "via", "auto", "the `WAY` of the debug server to the chip: auto, probe, openocd", "auto", viaProbe, "openocd")
}

// image is the image of a session's containers; empty is a session on this
// computer, and why is said.
func (f *containerFlags) image(ctx context.Context, a *app, profile string) (string, error) {
	if f.without && f.must {
		return "", faults.Usage("--container and --no-container exclude each other")
	}
	if f.without {
		return "", nil
	}
	name := container.Image(profile)
	err := a.imageThere(ctx, name)
	if err == nil {
		return name, nil
	}
	if f.must {
		return "", err
	}
	why := err.Error()
	if fault := faults.Of(err); fault != nil {
		why = fault.Summary
		if fault.Err != nil {
			why += " (" + fault.Err.Error() + ")"
		}
	}
	a.ui.Say("on this computer, not in containers: %s", why)
	return "", nil
}

// imageThere says what keeps an image from being used.
func (a *app) imageThere(ctx context.Context, name string) (err error) {
	if !container.Built {
		_, err := container.Connect(ctx, "")
		return err
	}
	none := &faults.Fault{
		Code: faults.CodeMissingTool, Status: faults.StatusMissingTool, Summary: "there is no image for this profile's containers yet", Seen: name,
		Try: []string{"stem-hw session image", "stem-hw session start --no-container"},
	}
	if uri := container.Socket(a.getenv); container.Answers(uri) {
		e, err := container.Connect(ctx, uri)
		if err != nil {
			return err
		}
		if ok, err := e.HasImage(ctx, name); err != nil || !ok {
			return errors.Join(err, none)
		}
		return nil
	}
	if _, err := child.Find("podman", "podman"); err != nil {
		return err
	}
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	if _, err := sup.Run(ctx, child.Spec{Program: "podman", Package: "podman", Args: []string{"image", "exists", name}}, 4096); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return none
	}
	return nil
}

// probeNode is the present node of the probe that a selector means.
func (a *app) probeNode(ctx context.Context, selector string) (string, error) {
	b, err := a.probeOf(ctx, selector)
	return b.Node, err
}

// probeOf is the probe that a selector means; a simulated board has none.
func (a *app) probeOf(ctx context.Context, selector string) (none board.Board, err error) {
	s, err := board.Parse(selector)
	if err != nil {
		return none, err
	}
	if s.Kind == board.KindSim || s.Kind == board.KindNative {
		return none, nil
	}
	all, err := a.usbBoards(ctx)
	if err != nil {
		return none, err
	}
	var boards []board.Board
	for _, p := range all {
		boards = append(boards, p.Board)
	}
	b, err := board.Match(s, boards, board.Ask{Command: "stem-hw session start -b %s"})
	if err != nil {
		return none, err
	}
	if b.Role != board.RoleProbe {
		return none, faults.Usage("a session on a board needs its debug probe: %s is none", selector)
	}
	return b, nil
}

// reapPodman removes what a session has in podman, with a service of its own
// where there is none.
func (a *app) reapPodman(ctx context.Context, r *session.Record, dir string) (err error) {
	if !r.Contained() {
		return nil
	}
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	uri, err := container.Serve(ctx, sup, a.getenv, dir)
	if err != nil {
		return err
	}
	e, err := container.Connect(ctx, uri)
	if err != nil {
		return err
	}
	return e.Reap(ctx, r.Label())
}

// attachArgv is the command that goes into a session: its tmux is reached where it
// runs, in a container after a look at its labels.
func attachArgv(ctx context.Context, e *session.Entry) (program string, args []string, err error) {
	tmux := []string{"-S", e.Folder().Tmux(), "attach-session", "-t", "stem"}
	if !e.Contained() {
		return "tmux", tmux, nil
	}
	engine, err := container.Connect(ctx, e.Podman)
	if err != nil {
		return "", nil, err
	}
	running, err := engine.Check(ctx, e.EditorID, e.Label())
	if err == nil && !running {
		err = &faults.Fault{
			Code: faults.CodeNoSession, Status: faults.StatusNotFound, Summary: "the session's editor container does not run", Seen: e.Instance,
			Try: []string{"stem-hw session rm " + e.Instance},
		}
	}
	if err != nil {
		return "", nil, err
	}
	args = []string{"--url", e.Podman, "exec", "--interactive", "--tty", "--env", "TERM=xterm-256color", "--detach-keys=", e.EditorID, "tmux"}
	return "podman", append(args, tmux...), nil
}

// sessionInsideCmd is the first process of an editor's container. People have no
// use for it.
func (a *app) sessionInsideCmd() *cobra.Command {
	return &cobra.Command{
		Use: "inside DIR", Short: "become a container's tmux", Hidden: true, Args: exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return session.Inside(args[0]) },
	}
}

type imageBuildResult struct {
	Images []string `json:"images"`
}

func (imageBuildResult) Kind() string { return "session-image" }

func (r imageBuildResult) Text(t *ui.Text) {
	for _, i := range r.Images {
		t.Linef("%s", i)
	}
}

func (a *app) sessionImageCmd() *cobra.Command {
	var base string
	var bare bool
	cmd := &cobra.Command{
		Use:   "image [PROFILE]",
		Short: "build the images of sessions' containers with podman",
		Long: `Image builds what the containers of sessions are made of: Debian 13 with tmux,
Neovim, gdb and compilers. Without PROFILE it builds all. It is built here, from
Debian's packages; nothing is taken from a registry but Debian's own image, and
with --base not even that.`,
		Example: "  stem-hw session image\n  stem-hw session image hazard3-sim --base localhost/trixie --no-packages",
		Args:    atMostArgs("PROFILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			names := profiles.Names()
			if len(args) == 1 {
				if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+args[0]+" ") {
					f := faults.Usage("there is no profile %q", args[0])
					f.Wanted = strings.Join(names, ", ")
					return f
				}
				names = args
			}
			ctx := cmd.Context()
			sup, err := child.New()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, sup.Close()) }()
			dir, err := os.MkdirTemp("", "stem-hw")
			if err != nil {
				return faults.Internal(err)
			}
			defer os.RemoveAll(dir)
			uri, err := container.Serve(ctx, sup, a.getenv, dir)
			if err != nil {
				return err
			}
			e, err := container.Connect(ctx, uri)
			if err != nil {
				return err
			}
			var r imageBuildResult
			for _, p := range names {
				log := &lineSayer{a: a}
				err := e.Build(ctx, container.BuildOptions{Profile: p, Base: base, Bare: bare}, log)
				log.flush()
				if err != nil {
					return &faults.Fault{
						Code: faults.CodeBuildFailed, Status: faults.StatusImage, Summary: "the image of " + p + " could not be built", Err: err,
						Try: []string{"read what podman printed", "--base for a Debian 13 that is here already"},
					}
				}
				r.Images = append(r.Images, container.Image(p))
			}
			return a.ui.Result(r)
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "the `IMAGE` to build on, in place of Debian's")
	cmd.Flags().BoolVar(&bare, "no-packages", false, "everything is in the base already: install nothing, use no network")
	return cmd
}
