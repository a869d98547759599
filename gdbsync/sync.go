package gdbsync

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
)

// Options say what is debugged, and where the other parts are.
type Options struct {
	// Gdb is the program to start, a name or a path.
	Gdb string
	// Program is the file with the symbols; empty is none.
	Program string
	// Args go before everything of ours on gdb's command line, as -iex commands
	// and scripts do; Start are gdb commands for the first start alone, executed
	// once gdb is connected ("tbreak main").
	Args, Start []string
	// Remote is the server's Unix socket, and Link where ours is to be; without
	// Remote gdb runs the program itself.
	Remote, Link string
	// Restart is the gdb command that starts the program again.
	Restart string
	// Instance and Target are written into the state.
	Instance, Target string
	// StateFile is gdb-sync.json; empty writes none.
	StateFile string
	// Editor is Neovim's socket; empty is none.
	Editor string
	// Calls is where the socket for operations that programs ask for is to be;
	// empty is none. Whoever can open it can do with gdb what the person can.
	Calls string
	// Paths brings source paths to where the editor is.
	Paths PathMap
	// Sources are folders where source files are looked for whose path the program
	// only knows in part.
	Sources []string
	// Dir is gdb's working folder, Env its environment; empty is ours.
	Dir string
	Env []string
	// In and Out are the person's terminal, or what stands for it.
	In, Out *os.File `json:"-"`
	// Say tells the person something.
	Say func(format string, args ...any) `json:"-"`
	// Wire, if not nil, gets every line of the machine interface.
	Wire io.Writer `json:"-"`
	// Changed, if not nil, is called with every state, in order.
	Changed func(State) `json:"-"`
}

// Sync runs gdb and keeps everything in step.
type Sync struct {
	opt   Options
	sup   *child.Supervisor
	state State
	ed    *editor
	link  *link
	calls chan *pendingCall
	saved []Breakpoint // what the next gdb gets
	// writeErr is the last failure to write the state, told once.
	writeErr string
}

// Run runs gdb in a person's terminal until ctx ends, or until the person has
// quit gdb and does not want another one.
func Run(ctx context.Context, opt Options) (err error) {
	if opt.Say == nil {
		opt.Say = func(string, ...any) {}
	}
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() {
		if cerr := sup.Close(); err == nil {
			err = cerr
		}
	}()
	s := &Sync{opt: opt, sup: sup, calls: make(chan *pendingCall), state: State{
		Schema: Schema, Version: Version, Instance: opt.Instance, Target: opt.Target, State: Starting,
		Breakpoints: []Breakpoint{}, Threads: []Thread{},
	}}
	if opt.StateFile != "" {
		// A gdb that was started again counts on: a reader never sees a sequence
		// number twice.
		if old, err := Read(opt.StateFile); err == nil {
			s.state.Sequence, s.state.Stops = old.Sequence, old.Stops
		}
	}
	if opt.Remote != "" {
		if s.link, err = newLink(opt.Link, opt.Remote); err != nil {
			return &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusInternal,
				Summary: "no socket between gdb and its server", Seen: opt.Link, Err: err,
				Try: []string{"set XDG_RUNTIME_DIR to a short path of your own"},
			}
		}
		defer s.link.Close()
	}
	if opt.Calls != "" {
		stop, err := s.serveCalls(ctx)
		if err != nil {
			return &faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusInternal, Summary: "no socket for gdb's operations", Seen: opt.Calls, Err: err,
				Try: []string{"set XDG_RUNTIME_DIR to a short path of your own"},
			}
		}
		defer stop()
	}
	ctx, cancel := context.WithCancel(ctx)
	edDone := make(chan struct{})
	if opt.Editor != "" {
		s.ed = newEditor(opt.Editor, opt.Say)
		go func() {
			defer close(edDone)
			s.ed.run(ctx)
		}()
	} else {
		close(edDone)
	}
	defer func() {
		cancel()
		<-edDone
	}()
	return s.runAll(ctx)
}

// crashWindow and crashLimit bound how often a gdb that crashes is started again
// by itself.
const (
	crashWindow = time.Minute
	crashLimit  = 5
)

// runAll runs one gdb after the other.
func (s *Sync) runAll(ctx context.Context) error {
	var crashes []time.Time
	for first := true; ; first = false {
		s.publish(func(st *State) bool {
			st.State, st.Reason, st.Frame, st.Threads = Starting, "", nil, []Thread{}
			st.Signal, st.ExitCode = "", nil
			return true
		})
		modes := saveTerminal(s.opt.In)
		err := s.one(ctx, first)
		modes.restore()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f := faults.Of(err); f != nil {
			return err
		}
		s.saved = s.state.clone().Breakpoints
		reason := "quit"
		if err != nil {
			reason = err.Error()
		}
		s.publish(func(st *State) bool {
			st.State, st.Reason, st.Frame, st.Threads = GdbEnded, reason, nil, []Thread{}
			return true
		})
		if err != nil {
			now := time.Now()
			for len(crashes) > 0 && now.Sub(crashes[0]) > crashWindow {
				crashes = crashes[1:]
			}
			if crashes = append(crashes, now); len(crashes) <= crashLimit {
				s.opt.Say("%v; starting gdb again", err)
				continue
			}
			s.opt.Say("%v; that was %d times in a minute", err, len(crashes))
			crashes = nil
		}
		s.opt.Say("gdb ended. Enter starts it again, q ends this")
		again, err := AskAgain(ctx, s.opt.In)
		if err != nil || !again {
			return err
		}
	}
}

// publish changes the state, numbers it, writes it, and tells the editor.
func (s *Sync) publish(change func(*State) bool) {
	if !change(&s.state) {
		return
	}
	s.announce(true)
}

// announce is publish for a state that has changed; quiet keeps the editor where
// it is.
func (s *Sync) announce(tellEditor bool) {
	s.state.Sequence++
	s.state.Updated = time.Now().UTC()
	if s.opt.StateFile != "" {
		why := ""
		if err := s.state.Write(s.opt.StateFile); err != nil {
			why = err.Error()
		}
		if why != s.writeErr && why != "" {
			s.opt.Say("warning: %s", why)
		}
		s.writeErr = why
	}
	c := s.state.clone()
	if s.ed != nil && tellEditor {
		s.ed.show(c)
	}
	if s.opt.Changed != nil {
		s.opt.Changed(c)
	}
}

// gdbArgs is gdb's command line: our interface first, so that it sees everything.
func (s *Sync) gdbArgs(pty string, first bool) []string {
	// With mi-async gdb listens to our interface while the program runs.
	args := []string{"-q", "-iex", "set pagination off", "-iex", "set mi-async on", "-iex", "new-ui mi3 " + pty}
	args = append(args, s.opt.Args...)
	for _, m := range s.opt.Paths {
		args = append(args, "-iex", fmt.Sprintf("set substitute-path %q %q", m.Built, m.Here))
	}
	for _, dir := range s.opt.Sources {
		args = append(args, "-iex", fmt.Sprintf("directory %q", dir))
	}
	if s.link != nil {
		args = append(args, "-ex", "target remote "+s.opt.Link)
	}
	if first {
		for _, c := range s.opt.Start {
			args = append(args, "-ex", c)
		}
	}
	if s.opt.Program != "" {
		args = append(args, "--", s.opt.Program)
	}
	return args
}
