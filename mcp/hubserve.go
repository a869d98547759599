package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/user"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/session"
)

// Preface is what our own relay says first on a connection. It can only take away,
// and tell of a key where the kernel says that it is not a container that talks.
type Preface struct {
	StemHW string `json:"stem_hw"`
	// Level lowers the channel's.
	Level string `json:"level,omitempty"`
	// Allow are the sessions that the connection may mean; none are all.
	Allow []string `json:"allow,omitempty"`
	// Key is the fingerprint of an SSH key, Peer where it came from.
	Key  string `json:"key,omitempty"`
	Peer string `json:"peer,omitempty"`
}

// prefaceMark begins a preface.
const prefaceMark = `{"stem_hw":"mcp/1"`

// peer is who is at the other end, as the kernel says.
func peer(conn net.Conn) (Who, error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return Who{UID: -1}, errors.New("no Unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return Who{UID: -1}, err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return Who{UID: -1}, err
	}
	if cerr != nil {
		return Who{UID: -1}, cerr
	}
	w := Who{UID: int(cred.Uid), PID: int(cred.Pid), Account: strconv.Itoa(int(cred.Uid))}
	if u, err := user.LookupId(w.Account); err == nil {
		w.Account = u.Username
	}
	return w, nil
}

// outsideContainers says whether a process sees the same files as this one: it is
// in no container.
func outsideContainers(pid int) bool {
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return false
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/mnt")
	return err == nil && ours == theirs
}

// prefaceTime bounds how long a connection may say nothing.
const prefaceTime = 10 * time.Minute

// serve serves one client on a channel.
func (h *Hub) serve(ctx context.Context, conn net.Conn, w Who, c *channel) {
	r := bufio.NewReaderSize(conn, 64<<10)
	opt := h.opt.Server
	opt.Level, opt.Who = c.level, w
	opt.Place = func(ctx context.Context) (*Place, error) { return h.place(c, opt.Allowed) }
	opt.Allowed = func(instance string) bool { return c.runtime == "" || h.names(c.runtime, instance) }
	_ = conn.SetReadDeadline(time.Now().Add(prefaceTime))
	head, err := r.Peek(len(prefaceMark))
	if err == nil && bytes.Equal(head, []byte(prefaceMark)) {
		line, err := readMessageLine(r, 64<<10)
		var p Preface
		if err != nil || json.Unmarshal(line, &p) != nil || !h.apply(p, w, &opt) {
			return
		}
	} else if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	s := NewServer(opt)
	if err := s.Serve(ctx, newLineConn(conn, r, s.Malformed)); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		h.opt.Log("client: %v", err)
	}
}

// apply takes a preface into account. It only ever takes something away.
func (h *Hub) apply(p Preface, w Who, opt *Options) bool {
	if p.Level != "" {
		l, err := ParseLevel(p.Level)
		if err != nil || l > opt.Level {
			return false
		}
		opt.Level = l
	}
	if len(p.Allow) > 0 {
		inner := opt.Allowed
		opt.Allowed = func(instance string) bool {
			for _, a := range p.Allow {
				if a == instance {
					return inner(instance)
				}
			}
			return false
		}
		place := opt.Place
		allowed := opt.Allowed
		opt.Place = func(ctx context.Context) (*Place, error) {
			p, err := place(ctx)
			if err == nil && !allowed(p.Record.Instance) {
				return nil, refused("this channel may not use the session", p.Record.Instance)
			}
			return p, err
		}
	}
	if outsideContainers(w.PID) {
		opt.Who.Key, opt.Who.Peer = p.Key, p.Peer
	}
	return true
}

// names says whether a runtime folder is that of a session.
func (h *Hub) names(runtime, instance string) bool {
	all, _ := h.opt.Registry.List()
	for i := range all {
		if all[i].Runtime == runtime {
			return all[i].Instance == instance
		}
	}
	return false
}

// place is the session a channel means now.
func (h *Hub) place(c *channel, allowed func(string) bool) (*Place, error) {
	dir := c.runtime
	if dir == "" {
		var err error
		if dir, err = h.sel.Get(); err != nil {
			return nil, faults.Internal(err)
		}
	}
	all, _ := h.opt.Registry.List()
	var only *session.Entry
	running := 0
	for i := range all {
		e := &all[i]
		if e.Runtime != "" && e.Runtime == dir {
			return h.placeOf(e)
		}
		if e.State == session.Running && allowed(e.Instance) {
			only, running = e, running+1
		}
	}
	if dir == "" && running == 1 {
		return h.placeOf(only)
	}
	f := &faults.Fault{
		Code: faults.CodeNoSession, Status: faults.StatusNotFound, Summary: "no session is selected",
		Try: []string{"ask the person: stem-hw mcp select SESSION"},
	}
	switch {
	case c.runtime != "":
		f.Summary = "the session has ended"
	case dir != "":
		f.Summary = "the session that was selected has ended, or was started again"
	case running == 0:
		f.Summary, f.Try = "no session runs", []string{"ask the person: stem-hw session start"}
	}
	return nil, f
}

func (h *Hub) placeOf(e *session.Entry) (*Place, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.live[e.Runtime]
	if l == nil {
		inside, builder, err := h.opt.Reach(&e.Record)
		if err != nil {
			return nil, err
		}
		l = &live{inside: inside, builder: builder, watch: NewPaneWatch(inside, e.Folder().Tmux()), debug: &DebugLink{}}
		h.live[e.Runtime] = l
	}
	return &Place{Record: e.Record, State: e.State, Dir: e.Dir, Inside: l.inside, Builder: l.builder, Watch: l.watch, Debug: l.debug}, nil
}
