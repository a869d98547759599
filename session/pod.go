package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/container"
)

// binary is where stem-hw is in a container: this very one, mounted read-only.
const binary = "/usr/local/bin/stem-hw"

// pod is what a session has in podman.
type pod struct {
	engine *container.Engine
	label  string
}

// makePod makes the pod and the editor's container, which does not run yet: its id
// names the runtime folder.
func (k *keeper) makePod(ctx context.Context) error {
	uri, err := container.Serve(ctx, k.sup, k.opt.Getenv, k.opt.Dir)
	if err != nil {
		return err
	}
	engine, err := container.Connect(ctx, uri)
	if err != nil {
		return err
	}
	k.pod = &pod{engine: engine, label: k.r.Label()}
	// What an earlier keeper left, if it was killed.
	if err := engine.Reap(ctx, k.pod.label); err != nil {
		return err
	}
	k.change(func(r *Record) { r.Podman = uri })
	id, err := engine.CreatePod(ctx, "stem-"+k.pod.label, k.pod.label)
	if err != nil {
		return err
	}
	k.change(func(r *Record) { r.Pod = id })
	editor, err := engine.Create(ctx, k.containerSpec(container.RoleEditor, []string{binary, "session", "inside", k.f.Instance}, ""))
	if err != nil {
		return err
	}
	k.change(func(r *Record) { r.EditorID = editor })
	return k.written
}

// reapPod removes all that the session has in podman.
func (k *keeper) reapPod(ctx context.Context) error {
	if k.pod == nil {
		return nil
	}
	return k.pod.engine.Reap(ctx, k.pod.label)
}

// steering are files of a card that say how stem-hw works with it: in a container
// they can be read.
var steering = []string{"stem.toml", "stem-hw.toml", "stem-hw.local.toml"}

// containerSpec is a container of the session: its folder and the card are
// mounted where they are here, so that every path means the same.
func (k *keeper) containerSpec(role string, command []string, device string) container.Spec {
	r := k.r
	s := container.Spec{
		Pod: r.Pod, Session: k.pod.label, Role: role, Image: r.Image, Command: command, Dir: "/tmp", User: container.User(), Device: device,
		Env: []string{"HOME=/tmp", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		Binds: []container.Bind{
			{Source: k.opt.Self, Target: binary, ReadOnly: true},
			{Source: k.f.Instance, Target: k.f.Instance},
			{Source: k.f.steer(), Target: k.f.steer(), ReadOnly: true},
		},
	}
	home, _ := os.UserHomeDir() // unknown: then no card is one
	s.Binds = append(s.Binds, cardBinds(r.Card, r.Program, home)...)
	if len(s.Binds) > 3 && s.Binds[3].Target == r.Card {
		s.Dir = r.Card
	}
	return s
}

// cardBinds mounts a card. A program that lies in a home, or above one, brings
// nothing but itself.
func cardBinds(card, program, home string) (out []container.Bind) {
	if wide(card, home) {
		return []container.Bind{{Source: program, Target: program, ReadOnly: true}}
	}
	out = []container.Bind{{Source: card, Target: card}}
	for _, name := range steering {
		p := filepath.Join(card, name)
		if st, err := os.Lstat(p); err == nil && st.Mode().IsRegular() {
			out = append(out, container.Bind{Source: p, Target: p, ReadOnly: true})
		}
	}
	if !strings.HasPrefix(program, card+"/") {
		out = append(out, container.Bind{Source: program, Target: program, ReadOnly: true})
	}
	return out
}

// wide says whether a folder is too much for a container.
func wide(dir, home string) bool {
	switch dir {
	case "/", "/tmp", "/var/tmp", "/home", "/root", "/usr", "/etc", "/var", "/run", "/opt", "/srv", "/dev", "/proc", "/sys":
		return true
	}
	return home != "" && (dir == home || strings.HasPrefix(home, dir+"/"))
}

// serveTmux starts the editor's container, whose first process is tmux.
func (p *pod) serveTmux(ctx context.Context, k *keeper) (run func(args []string) error, self string, err error) {
	id := k.r.EditorID
	if err := p.engine.Start(ctx, id); err != nil {
		return nil, "", err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			running, err := p.engine.Check(ctx, id, p.label)
			if ctx.Err() != nil || err == nil && !running {
				return
			}
			rest(ctx, 500*time.Millisecond)
		}
	}()
	k.ended = ended
	k.why = func() string {
		clean, done := detached(ctx)
		defer done()
		return strings.Join(p.engine.Logs(clean, id), "; ")
	}
	return func(args []string) error {
		r, err := p.engine.Exec(ctx, id, p.label, append([]string{"tmux"}, args...), []string{"TERM=xterm-256color"})
		if err == nil && r.Status != 0 {
			err = fmt.Errorf("tmux: %s%s", r.Stderr, r.Stdout)
		}
		return err
	}, binary, nil
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// serveContained keeps a debug container. It gets the probe's present node, and is
// made anew, it alone, when the probe comes back on another one or the server in
// it ended.
func (k *keeper) serveContained(ctx context.Context) {
	last := ""
	say := func(err error) {
		if text := err.Error(); text != last && ctx.Err() == nil {
			last = text
			k.opt.Log("debug container: %v", err)
		}
	}
	for ctx.Err() == nil {
		if err := k.debugOnce(ctx); err != nil {
			say(err)
		} else {
			last = ""
		}
		rest(ctx, 300*time.Millisecond)
	}
}

// debugOnce makes a debug container and stays with it to its end.
func (k *keeper) debugOnce(ctx context.Context) error {
	node, err := k.node(ctx)
	if err != nil {
		return err
	}
	args := []string{binary, "gdbserver", k.r.Program, "--socket", k.f.Server()}
	switch {
	case k.r.Board == "":
		args = append(args, "--console", k.f.Console())
	default:
		args = append(args, "-b", k.r.Board)
		if k.r.Via != "" {
			args = append(args, "--via", k.r.Via)
		}
	}
	k.mu.Lock()
	s := k.containerSpec(container.RoleDebug, args, node)
	k.mu.Unlock()
	id, err := k.pod.engine.Create(ctx, s)
	if err != nil {
		return err
	}
	k.change(func(r *Record) { r.DebugID, r.Device = id, node })
	_ = k.describe()
	defer func() {
		clean, done := detached(ctx)
		defer done()
		if err := k.pod.engine.Remove(clean, id, k.pod.label); err != nil && ctx.Err() == nil {
			k.opt.Log("debug container: %v", err)
		}
	}()
	if err := k.pod.engine.Start(ctx, id); err != nil {
		return err
	}
	for ctx.Err() == nil {
		running, err := k.pod.engine.Check(ctx, id, k.pod.label)
		if err != nil {
			return err
		}
		if !running {
			return fmt.Errorf("the debug server ended: %s", strings.Join(k.pod.engine.Logs(ctx, id), "; "))
		}
		if now, err := k.node(ctx); err == nil && now != node {
			k.opt.Log("the probe is now %s", now)
			return nil
		}
		rest(ctx, 300*time.Millisecond)
	}
	return nil
}

// node is the present node of the session's probe; a session without a board has
// none.
func (k *keeper) node(ctx context.Context) (string, error) {
	if k.r.Board == "" {
		return "", nil
	}
	if k.opt.Node == nil {
		return "", errors.New("nobody knows where the probe is")
	}
	return k.opt.Node(ctx, k.r.Board)
}

// bringConsole serves the board's console, which stays on this computer, on the
// session's socket.
func (k *keeper) bringConsole(ctx context.Context) error {
	h, err := newHub(k.f.Console())
	if err != nil {
		return err
	}
	log, err := openLog(k.r.Card, k.r.Instance)
	if err != nil {
		k.opt.Log("%v", err)
	}
	context.AfterFunc(ctx, h.close)
	go func() {
		if log != nil {
			defer log.Close()
			h.also = log
		}
		for ctx.Err() == nil {
			p, err := k.sup.Start(ctx, child.Spec{
				Program: k.opt.Self, Args: []string{"console", "-b", k.r.Board}, Env: serverEnv(cleanEnv(os.Environ())), Stdin: h.typed(), Stdout: h,
			})
			if err != nil {
				k.opt.Log("console: %v", err)
				return
			}
			_ = p.Wait()
			rest(ctx, time.Second)
		}
	}()
	return nil
}
