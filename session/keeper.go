package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/profiles"
)

// KeeperOptions say what a keeper needs besides the record.
type KeeperOptions struct {
	// Dir is the session's folder in the registry.
	Dir string
	// Self is the path of stem-hw.
	Self   string
	Getenv func(string) string
	// Log takes remarks.
	Log func(format string, args ...any)
	// Ready is called once the session can be used, or cannot.
	Ready func(err error)
	// GdbCommands are the definitions that every gdb of a board gets.
	GdbCommands []byte
	// Node finds the present node of a session's probe; "" is none. It is asked
	// again and again, since the node changes whenever the probe is plugged in.
	Node func(ctx context.Context, selector string) (string, error)
}

// readyTime is how long the prompt of gdb is waited for. A debug server that
// cannot start is tried again and again: the session is there without it.
const readyTime = 60 * time.Second

// Keep owns a session until ctx ends or its tmux does.
func Keep(ctx context.Context, opt KeeperOptions) (err error) {
	told := false
	ready := func(err error) {
		if !told {
			told = true
			opt.Ready(err)
		}
	}
	defer func() { ready(err) }()
	lock, ok, err := TakeLock(opt.Dir)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the session runs already")
	}
	defer lock.Release()
	r, err := ReadRecord(opt.Dir)
	if err != nil {
		return err
	}
	runtime, err := Runtime(opt.Getenv)
	if err != nil {
		return err
	}
	f, err := newInstance(runtime, r.Thread, r.Instance)
	if err != nil {
		return err
	}
	r.Keeper, r.Pod, r.EditorID, r.DebugID, r.Device, r.Podman = os.Getpid(), "", "", "", "", ""
	if err := r.Write(opt.Dir); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := adopt(ctx); err != nil {
		opt.Log("orphans: %v", err)
	}
	k := &keeper{opt: opt, r: r, f: f}
	if k.sup, err = child.New(); err != nil {
		return err
	}
	err = k.start(ctx)
	if err == nil {
		err = k.awaitPrompt(ctx)
	}
	ready(err)
	if err == nil {
		select {
		case <-ctx.Done():
		case <-k.ended:
			opt.Log("tmux ended")
		}
	}
	cancel()
	clean, done := detached(ctx)
	perr := k.reapPod(clean)
	cerr := k.sup.Close()
	reapWindows(clean, f)
	done()
	ferr := f.Remove()
	k.change(func(r *Record) {
		r.Runtime = ""
		if perr == nil {
			r.Keeper, r.Pod, r.EditorID, r.DebugID, r.Device, r.Podman = 0, "", "", "", "", ""
		}
	})
	return errors.Join(err, perr, cerr, ferr, k.written)
}

// keeper is a running session.
type keeper struct {
	opt KeeperOptions
	f   Folder
	sup *child.Supervisor
	pod *pod // nil on this computer

	// ended is closed when tmux has ended; why says what it printed.
	ended <-chan struct{}
	why   func() string

	mu      sync.Mutex
	r       *Record
	written error
}

// change changes the record and writes it.
func (k *keeper) change(f func(*Record)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k.r)
	k.written = k.r.Write(k.opt.Dir)
}

func (k *keeper) start(ctx context.Context) error {
	if k.r.Contained() {
		if err := k.makePod(ctx); err != nil {
			return err
		}
		k.f.Dir = filepath.Join(k.f.Instance, k.r.EditorID[:12])
	} else {
		id, err := newID()
		if err != nil {
			return err
		}
		k.f.Dir = filepath.Join(k.f.Instance, id)
	}
	if err := makeSafe(k.f.Dir); err != nil {
		return err
	}
	k.change(func(r *Record) { r.Runtime = k.f.Dir })
	if k.written != nil {
		return k.written
	}
	f, r := k.f, k.r
	remote := r.Profile != profiles.NativeAMD64
	spec := &PaneSpec{
		Instance: r.Instance, Profile: r.Profile, Target: r.Target, Card: r.Card, Program: r.Program, Remote: remote, HasMain: r.HasMain,
		Folder: f, OpenFirst: firstSource(r.Card),
	}
	if r.Board != "" && k.pod == nil {
		spec.Console = []string{k.opt.Self, "console", "-b", r.Board}
	}
	for path, text := range map[string][]byte{f.commands(): k.opt.GdbCommands, f.conf(): []byte(tmuxConf)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	if err := spec.Write(); err != nil {
		return err
	}
	if err := k.describe(); err != nil {
		return err
	}
	if remote {
		switch {
		case k.pod != nil && r.Board != "":
			if err := k.bringConsole(ctx); err != nil {
				return err
			}
		case r.Board == "":
			go k.keepLog(ctx)
		}
		if k.pod != nil && !strings.HasPrefix(r.Board, "sim") {
			go k.serveContained(ctx)
		} else {
			go k.serve(ctx)
		}
	}
	run, self, err := k.serveTmux(ctx)
	if err != nil {
		return err
	}
	if err := k.waitSocket(ctx); err != nil {
		return err
	}
	windows := []string{"editor", "gdb", "console", "log"}
	if !remote {
		// gdb is told the console's terminal.
		windows = []string{"editor", "console", "gdb", "log"}
	}
	for i, kind := range windows {
		w := Window{Kind: kind, Argv: []string{self, "session", "pane", kind, f.Dir}}
		if err := run(newWindow(f, r, w, i == 0, Environment(r))); err != nil {
			return err
		}
		if !remote && kind == "console" {
			_ = waitFor(ctx, 5*time.Second, func() bool { _, err := os.Stat(f.tty()); return err == nil })
		}
	}
	return nil
}

// serveTmux starts tmux, here or in the editor's container, and returns what runs
// one command of it, and where stem-hw is for its windows.
func (k *keeper) serveTmux(ctx context.Context) (run func(args []string) error, self string, err error) {
	if k.pod != nil {
		return k.pod.serveTmux(ctx, k)
	}
	server := tmuxServer(k.f)
	server.Env = append(cleanEnv(os.Environ()), "TERM=xterm-256color")
	p, err := k.sup.Start(ctx, server)
	if err != nil {
		return nil, "", err
	}
	k.ended, k.why = p.Done(), p.Output
	return func(args []string) error { return runTmux(ctx, k.sup, args, server.Env) }, k.opt.Self, nil
}

// describe writes container.json: what runs where, for whoever looks.
func (k *keeper) describe() error {
	data, err := json.MarshalIndent(map[string]any{
		"schema": "stem-hw/session-container/1", "instance": k.r.Instance, "container": k.r.EditorID != "", "id": filepath.Base(k.f.Dir),
		"editor_container": k.r.EditorID, "debug_container": k.r.DebugID, "pod": k.r.Pod,
	}, "", "  ")
	if err != nil {
		return err
	}
	return state.Replace(k.f.Container(), append(data, '\n'))
}

// serve keeps a debug server for the board, and starts another one when it ends.
func (k *keeper) serve(ctx context.Context) {
	args := []string{"gdbserver", k.r.Program, "--socket", k.f.Server()}
	if k.r.Board != "" {
		args = append(args, "-b", k.r.Board)
		if k.r.Via != "" {
			args = append(args, "--via", k.r.Via)
		}
	} else {
		args = append(args, "--console", k.f.Console())
	}
	for ctx.Err() == nil {
		_ = os.Remove(k.f.Server())
		_ = os.Remove(k.f.Console())
		p, err := k.sup.Start(ctx, child.Spec{Program: k.opt.Self, Args: args, Dir: k.r.Card, Env: serverEnv(cleanEnv(os.Environ()))})
		if err != nil {
			k.opt.Log("debug server: %v", err)
			return
		}
		err = p.Wait()
		if ctx.Err() != nil {
			return
		}
		k.opt.Log("debug server ended: %v", err)
		pause(ctx)
	}
}

// serverEnv keeps a server from taking another board than the session's.
func serverEnv(env []string) []string { return append(env, "STEM_HW_BOARD=") }

// maxLog bounds the program log; then it begins anew.
const maxLog = 16 << 20

// keepLog writes what the program prints into the log.
func (k *keeper) keepLog(ctx context.Context) {
	log, err := openLog(k.r.Card, k.r.Instance)
	if err != nil {
		k.opt.Log("%v", err)
		return
	}
	defer log.Close()
	for ctx.Err() == nil {
		if c, err := dialInside(k.f, "c.sock"); err == nil {
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			if st, err := log.Stat(); err == nil && st.Size() > maxLog {
				_ = log.Truncate(0)
			}
			_, _ = io.Copy(log, c)
			stop()
			_ = c.Close()
		}
		pause(ctx)
	}
}

// awaitPrompt waits until gdb can be used.
func (k *keeper) awaitPrompt(ctx context.Context) error {
	ok := waitFor(ctx, readyTime, func() bool {
		select {
		case <-k.ended:
			return true
		default:
		}
		s, err := ReadState(k.f)
		if err != nil || s.State == gdbsync.Starting {
			return false
		}
		return !k.r.HasMain || s.State == gdbsync.Stopped || s.State == gdbsync.GdbEnded
	})
	select {
	case <-k.ended:
		return fmt.Errorf("tmux ended at once: %s", k.why())
	default:
	}
	if ok {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	k.opt.Log("gdb is not connected yet")
	return nil
}

func waitFor(ctx context.Context, limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ctx.Err() == nil && time.Now().Before(end); {
		if ok() {
			return true
		}
		t := time.NewTimer(5 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
	return false
}

// waitSocket waits until tmux listens.
func (k *keeper) waitSocket(ctx context.Context) error {
	ended := func() bool {
		select {
		case <-k.ended:
			return true
		default:
			return false
		}
	}
	ok := waitFor(ctx, readyTime, func() bool {
		_, err := os.Lstat(k.f.Tmux())
		return err == nil || ended()
	})
	switch {
	case ended():
		return fmt.Errorf("tmux ended at once: %s", k.why())
	case !ok:
		return errors.New("tmux does not listen")
	}
	return nil
}

// firstSource is the file to open first: main, else the first source.
func firstSource(dir string) string {
	for _, pattern := range []string{"main.c", "main.S", "*.c", "*.cpp", "*.S", "src/*.c"} {
		if m, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern)); err == nil && len(m) > 0 {
			return m[0]
		}
	}
	return ""
}

// escapeGlob quotes what a pattern would take for a wildcard.
func escapeGlob(dir string) string {
	out := make([]byte, 0, len(dir))
	for i := range len(dir) {
		switch dir[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, dir[i])
	}
	return string(out)
}
