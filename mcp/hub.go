package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/session"
)

// HubOptions are what the hub needs.
type HubOptions struct {
	// Runtime is the runtime folder of all sessions; Registry has their records.
	Runtime  string
	Registry *session.Registry
	// Server is what every connection's server gets; the hub fills in level, place
	// and who.
	Server Options
	// Reach says how a session's programs are reached.
	Reach func(r *session.Record) (Inside, Builder, error)
	// Log takes remarks.
	Log func(format string, args ...any)
	// Idle is how long the hub stays without a session and a client.
	Idle time.Duration
}

// Hub owns the sockets of a user's sessions, one for each level.
type Hub struct {
	opt  HubOptions
	dir  string
	lock *os.File
	sel  Selection

	mu    sync.Mutex
	socks map[string]*channel
	live  map[string]*live
	conns int
	// changed is when something was last going on.
	changed time.Time
	wg      sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// channel is one socket.
type channel struct {
	level Level
	// instance is the session's runtime folder; "" is whichever is selected.
	runtime string
	l       net.Listener
	path    string
}

// live is what is kept of a session while it runs.
type live struct {
	inside  Inside
	builder Builder
	watch   *PaneWatch
	debug   *DebugLink
}

// ErrHubRuns says that another hub owns the sockets.
var ErrHubRuns = errors.New("another hub runs")

// HubDir is the folder with the hub's sockets.
func HubDir(runtime string) string { return filepath.Join(runtime, "mcp") }

// HubSocket is the socket on which the hub is asked for others.
func HubSocket(runtime string) string { return filepath.Join(HubDir(runtime), "hub.sock") }

// NewHub makes a hub, which owns the sockets until Close.
func NewHub(opt HubOptions) (*Hub, error) {
	h := &Hub{opt: opt, dir: HubDir(opt.Runtime), sel: NewSelection(opt.Runtime), socks: map[string]*channel{}, live: map[string]*live{}, changed: time.Now()}
	if err := state.MakeFolder(h.dir); err != nil {
		return nil, err
	}
	var err error
	if h.lock, err = os.OpenFile(filepath.Join(h.dir, "lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600); err != nil {
		return nil, faults.Internal(err)
	}
	if err := unix.Flock(int(h.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(ErrHubRuns, h.lock.Close())
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h, nil
}

// Serve serves until ctx ends, or until nothing has gone on for Idle. ready is
// called once the hub can be asked.
func (h *Hub) Serve(ctx context.Context, ready func()) error {
	defer h.close()
	control, err := listen(HubSocket(h.opt.Runtime))
	if err != nil {
		return err
	}
	defer control.Close()
	h.sync()
	for _, l := range []Level{Observe, Assist, Full} {
		if err := h.open(filepath.Join(h.dir, "selected", l.String()+".sock"), l, ""); err != nil {
			return err
		}
	}
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		h.accept(control, h.control)
	}()
	ready()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if h.sync(); h.idle() {
				return nil
			}
		}
	}
}

func (h *Hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns > 0 || len(h.live) > 0 || len(h.socks) > len(levelNames) {
		h.changed = time.Now()
	}
	return h.opt.Idle > 0 && time.Since(h.changed) > h.opt.Idle
}

func (h *Hub) close() {
	h.cancel()
	h.mu.Lock()
	for path, c := range h.socks {
		_ = c.l.Close()
		delete(h.socks, path)
	}
	h.mu.Unlock()
	_ = os.Remove(HubSocket(h.opt.Runtime))
	h.wg.Wait()
	h.end(func(string) bool { return true })
	for _, l := range levelNames {
		_ = os.Remove(filepath.Join(h.dir, "selected", l+".sock"))
	}
	_ = h.lock.Close()
}

func (l *live) end() {
	l.watch.Close()
	l.debug.Close()
}

// listen makes a socket that only this account can open.
func listen(path string) (net.Listener, error) {
	if err := state.MakeFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, faults.Internal(err)
	}
	// Made in a folder of mode 0700, so that nobody connects before the chmod.
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusInternal, Summary: "a socket cannot be made", Seen: path, Err: err,
			Try: []string{"set XDG_RUNTIME_DIR to a short path of your own"},
		}
	}
	return l, nil
}

// open opens a channel, if it is not open.
func (h *Hub) open(path string, level Level, runtime string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.socks[path]; c != nil && c.runtime == runtime {
		return nil
	} else if c != nil {
		_ = c.l.Close()
	}
	l, err := listen(path)
	if err != nil {
		return err
	}
	c := &channel{level: level, runtime: runtime, l: l, path: path}
	h.socks[path] = c
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		h.accept(l, func(ctx context.Context, conn net.Conn, w Who) { h.serve(ctx, conn, w, c) })
	}()
	return nil
}

// SocketDir is the folder with the sockets of one session.
func SocketDir(runtime string, r *session.Record) string {
	return filepath.Join(HubDir(runtime), r.Thread+"-"+session.Key(r.Instance))
}

// SocketPath is the socket of a level of a session.
func SocketPath(runtime string, r *session.Record, l Level) string {
	return filepath.Join(SocketDir(runtime, r), l.String()+".sock")
}

// sync opens the channels of sessions that run, and closes those of others.
func (h *Hub) sync() {
	all, _ := h.opt.Registry.List()
	keep, running := map[string]bool{}, map[string]bool{}
	for i := range all {
		e := &all[i]
		if e.State != session.Running || e.Runtime == "" {
			continue
		}
		running[e.Runtime] = true
		levels := []Level{Observe, Assist}
		if e.EditorID != "" {
			levels = append(levels, Full)
		}
		for _, l := range levels {
			path := SocketPath(h.opt.Runtime, &e.Record, l)
			if err := h.open(path, l, e.Runtime); err != nil {
				h.opt.Log("%s: %v", path, err)
			}
			keep[path] = true
		}
	}
	h.end(func(dir string) bool { return !running[dir] })
	h.mu.Lock()
	defer h.mu.Unlock()
	for path, c := range h.socks {
		if c.runtime != "" && !keep[path] {
			_ = c.l.Close()
			_ = os.Remove(path)
			_ = os.Remove(filepath.Dir(path))
			delete(h.socks, path)
		}
	}
}

// end lets go of sessions. Waiting for it holds nobody up.
func (h *Hub) end(which func(dir string) bool) {
	h.mu.Lock()
	var gone []*live
	for dir, l := range h.live {
		if which(dir) {
			gone = append(gone, l)
			delete(h.live, dir)
		}
	}
	h.mu.Unlock()
	for _, l := range gone {
		l.end()
	}
}

// accept serves connections of processes of this account.
func (h *Hub) accept(l net.Listener, serve func(context.Context, net.Conn, Who)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns++
		h.mu.Unlock()
		h.wg.Add(1)
		go func() {
			defer h.wg.Done()
			defer func() {
				_ = conn.Close()
				h.mu.Lock()
				h.conns--
				h.changed = time.Now()
				h.mu.Unlock()
			}()
			w, err := peer(conn)
			if err != nil || w.UID != os.Getuid() {
				h.opt.Log("a connection of another account was refused: %d %v", w.UID, err)
				return
			}
			stop := context.AfterFunc(h.ctx, func() { _ = conn.Close() })
			defer stop()
			serve(h.ctx, conn, w)
		}()
	}
}

// ask is a question to the hub, told its answer.
type ask struct {
	Op       string `json:"op"`
	Instance string `json:"instance,omitempty"`
	Level    string `json:"level,omitempty"`
}

type told struct {
	Socket  string          `json:"socket,omitempty"`
	Status  *HubStatus      `json:"status,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	Version string          `json:"version"`
}

// HubStatus is what a hub does.
type HubStatus struct {
	PID      int      `json:"pid"`
	Version  string   `json:"version"`
	Sockets  []string `json:"sockets"`
	Clients  int      `json:"clients"`
	Selected string   `json:"selected,omitempty"`
}

// control answers questions for sockets.
func (h *Hub) control(_ context.Context, conn net.Conn, _ Who) {
	r := bufio.NewReader(conn)
	for {
		line, err := readMessageLine(r, 64<<10)
		if err != nil {
			return
		}
		var q ask
		t := told{Version: h.opt.Server.Version}
		if err := json.Unmarshal(line, &q); err != nil {
			return
		}
		h.sync()
		switch q.Op {
		case "open":
			t.Socket, err = h.socket(q)
		case "status":
			t.Status = h.status()
		default:
			err = fmt.Errorf("no such question: %q", q.Op)
		}
		if err != nil {
			t.Error = failureDocument(err)
		}
		if err := json.NewEncoder(conn).Encode(t); err != nil {
			return
		}
	}
}

func failureDocument(err error) json.RawMessage {
	doc, ok := failure(err).StructuredContent.(json.RawMessage)
	if !ok {
		return json.RawMessage(`{}`)
	}
	return doc
}

func (h *Hub) status() *HubStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &HubStatus{PID: os.Getpid(), Version: h.opt.Server.Version, Clients: h.conns - 1, Sockets: []string{}}
	for path := range h.socks {
		s.Sockets = append(s.Sockets, path)
	}
	slices.Sort(s.Sockets)
	s.Selected, _ = h.sel.Get()
	return s
}

// socket is the path for a level of a session, or of the one that is selected.
func (h *Hub) socket(q ask) (string, error) {
	l, err := ParseLevel(q.Level)
	if err != nil {
		return "", err
	}
	if q.Instance == "" {
		return filepath.Join(h.dir, "selected", l.String()+".sock"), nil
	}
	e, err := h.opt.Registry.Find(q.Instance, near)
	if err != nil {
		return "", err
	}
	p := &Place{Record: e.Record, State: e.State}
	if err := p.running(); err != nil {
		return "", err
	}
	if l == Full && e.EditorID == "" {
		return "", refused("no agent gets full where there is no container around it", e.Instance, "stem-hw mcp serve --level assist")
	}
	return SocketPath(h.opt.Runtime, &e.Record, l), nil
}

func near(string, []string) []string { return nil }
