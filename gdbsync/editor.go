package gdbsync

import (
	"context"
	_ "embed"
	"net"
	"os"
	"sync"
	"time"

	"github.com/neovim/go-client/nvim"
)

// lua is what Neovim is given: signs, following, and the commands :Stem….
//
//go:embed stem.lua
var lua string

// Request is what a person asked for in Neovim: a word of a fixed list, and for
// a breakpoint a place.
type Request struct {
	Op   string
	Path string
	Line int
}

// editor keeps one Neovim in step. It only knows the latest state, so that an
// editor that waits for a key holds nobody up.
type editor struct {
	socket   string
	requests chan Request
	note     func(format string, args ...any)

	mu     sync.Mutex
	latest *State
	wake   chan struct{}
}

func newEditor(socket string, note func(string, ...any)) *editor {
	return &editor{socket: socket, note: note, requests: make(chan Request, 16), wake: make(chan struct{}, 1)}
}

// show gives the editor a new state.
func (e *editor) show(s State) {
	e.mu.Lock()
	e.latest = &s
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

const editorPause = 150 * time.Millisecond

// run attaches to Neovim whenever there is one, until ctx ends.
func (e *editor) run(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := os.Stat(e.socket); err == nil {
			if err := e.attach(ctx); err != nil && ctx.Err() == nil {
				e.note("Neovim: %v", err)
			}
		}
		t := time.NewTimer(editorPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

// attach serves one Neovim until it goes away.
func (e *editor) attach(ctx context.Context) error {
	c, err := net.Dial("unix", e.socket)
	if err != nil {
		return nil // not yet, or no more: the socket is looked for again
	}
	v, err := nvim.New(c, c, c, func(string, ...any) {})
	if err != nil {
		_ = c.Close()
		return err
	}
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		_ = v.Close()
		<-served
	}()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if err := v.RegisterHandler("stem-hw", func(op, path string, line int) {
		select {
		case e.requests <- Request{op, path, line}:
		case <-ctx.Done():
		}
	}); err != nil {
		close(served)
		return err
	}
	go func() {
		defer close(served)
		_ = v.Serve()
		cancel()
	}()
	if err := v.ExecLua(lua, nil, v.ChannelID()); err != nil {
		return gone(ctx, err)
	}
	for {
		e.mu.Lock()
		s := e.latest
		e.mu.Unlock()
		if s != nil {
			if err := v.ExecLua("return package.loaded['stem-hw'].update(...)", nil, viewOf(s)); err != nil {
				return gone(ctx, err)
			}
		}
		select {
		case <-e.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// gone is err, or nothing if the editor just went away.
func gone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// view is what Neovim is told.
type view struct {
	Sequence    uint64  `msgpack:"sequence"`
	Stop        uint64  `msgpack:"stop"`
	State       string  `msgpack:"state"`
	Reason      string  `msgpack:"reason"`
	Path        string  `msgpack:"path"`
	Line        int     `msgpack:"line"`
	Function    string  `msgpack:"func"`
	Breakpoints []vmark `msgpack:"breakpoints"`
}

type vmark struct {
	Path    string `msgpack:"path"`
	Line    int    `msgpack:"line"`
	Enabled bool   `msgpack:"enabled"`
}

func viewOf(s *State) view {
	v := view{Sequence: s.Sequence, Stop: s.Stops, State: string(s.State), Reason: s.Reason, Breakpoints: []vmark{}}
	if s.Frame != nil {
		v.Path, v.Line, v.Function = s.Frame.Path, s.Frame.Line, s.Frame.Function
	}
	for _, b := range s.Breakpoints {
		if b.Path != "" && b.Line > 0 {
			v.Breakpoints = append(v.Breakpoints, vmark{b.Path, b.Line, b.Enabled})
		}
		for _, p := range b.Places {
			if p.Path != "" && p.Line > 0 && (p.Path != b.Path || p.Line != b.Line) {
				v.Breakpoints = append(v.Breakpoints, vmark{p.Path, p.Line, b.Enabled && p.Enabled})
			}
		}
	}
	return v
}
