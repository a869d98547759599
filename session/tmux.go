package session

import (
	"context"
	"strings"

	"github.com/stem-hw/stem-hw/child"
)

// tmuxConf is the whole configuration of a session's tmux: no other file is read,
// neither the user's nor one that lies in the project.
const tmuxConf = `set -g default-terminal "tmux-256color"
set -s escape-time 10
set -g mouse on
set -g history-limit 20000
set -g remain-on-exit on
set -g allow-rename off
set -g set-titles off
set -g focus-events on
set -g status-left ""
set -g status-right "#{session_name}"
set -g status-right-length 80
set -g base-index 1
`

// Window is one window of a session.
type Window struct {
	// Kind is editor, gdb, console or log.
	Kind string
	Argv []string
}

// tmuxServer is the command that serves a session's tmux in the foreground.
func tmuxServer(f Folder) child.Spec {
	return child.Spec{Program: "tmux", Package: "tmux", Args: serverArgs(f)}
}

func serverArgs(f Folder) []string { return []string{"-S", f.Tmux(), "-f", f.conf(), "-D"} }

// newWindow are the arguments that make a window. Several words are executed as
// they are, without a shell.
func newWindow(f Folder, r *Record, w Window, first bool, env []string) []string {
	args := []string{"-S", f.Tmux()}
	if first {
		args = append(args, "new-session", "-d", "-s", "stem", "-x", "200", "-y", "50")
	} else {
		args = append(args, "new-window", "-d", "-t", "stem:")
	}
	args = append(args, "-n", w.Kind, "-c", r.Card)
	for _, e := range env {
		args = append(args, "-e", e)
	}
	return append(append(args, "--"), w.Argv...)
}

// Environment is what everything in a session gets.
func Environment(r *Record) []string {
	f := r.folder()
	return []string{
		"STEM_INSTANCE=" + r.Instance, "STEM_PROFILE=" + r.Profile, "STEM_TARGET=" + r.Target,
		"STEM_MCP=" + f.path("m.sock"), "STEM_AGENT=" + f.path("a.sock"), "STEM_GDB_SYNC=" + f.State(), "STEM_NVIM=" + f.Editor(),
	}
}

// cleanEnv is an environment without what belongs to another session, and
// without options for this command.
func cleanEnv(env []string) (out []string) {
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		switch {
		case k == "TMUX" || k == "TMUX_PANE" || k == "NVIM" || k == "NVIM_LISTEN_ADDRESS":
		case strings.HasPrefix(k, "STEM_HW_"):
		default:
			out = append(out, kv)
		}
	}
	return out
}

// runTmux runs one command of tmux.
func runTmux(ctx context.Context, sup *child.Supervisor, args, env []string) error {
	_, err := sup.Run(ctx, child.Spec{Program: "tmux", Package: "tmux", Args: args, Env: env}, 64<<10)
	return err
}
