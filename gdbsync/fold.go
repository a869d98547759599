package gdbsync

import (
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/gdbsync/mi"
)

// fold takes one record of gdb's into the state, and says whether that changed
// anything. paths brings source paths to where the editor is.
func (s *State) fold(r mi.Record, paths PathMap) bool {
	switch r.Type {
	case mi.Exec:
		return s.foldExec(r, paths)
	case mi.Notify:
		return s.foldNotify(r, paths)
	case mi.Result:
		if r.Class != "done" {
			return false
		}
		return s.foldResult(r, paths)
	}
	return false
}

func (s *State) foldExec(r mi.Record, paths PathMap) bool {
	switch r.Class {
	case "running":
		if s.State == Running {
			return false
		}
		s.State, s.Reason, s.Signal, s.ExitCode, s.Frame = Running, "", "", nil, nil
	case "stopped":
		s.Reason, s.Signal, s.ExitCode = r.Results.Str("reason"), r.Results.Str("signal-name"), nil
		s.Thread, s.Core = r.Results.Str("thread-id"), r.Results.Str("core")
		s.Frame = frameOf(r.Results.Get("frame"), paths)
		s.State = Stopped
		s.Stops++
		if strings.HasPrefix(s.Reason, "exited") {
			s.State, s.Frame, s.Threads = Exited, nil, []Thread{}
			code := exitCode(r.Results.Str("exit-code"))
			if s.Reason != "exited-signalled" {
				s.ExitCode = &code
			}
		}
	default:
		return false
	}
	return true
}

// exitCode reads an exit status, which gdb writes in octal.
func exitCode(text string) int {
	n, err := strconv.ParseInt(text, 8, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

func (s *State) foldNotify(r mi.Record, paths PathMap) bool {
	switch r.Class {
	case "breakpoint-created", "breakpoint-modified":
		return s.put(breakpointOf(r.Results, paths))
	case "breakpoint-deleted":
		return s.drop(r.Results.Str("id"))
	case "thread-created":
		id := r.Results.Str("id")
		for _, t := range s.Threads {
			if t.ID == id {
				return false
			}
		}
		s.Threads = append(s.Threads, Thread{ID: id})
	case "thread-exited":
		for i, t := range s.Threads {
			if t.ID == r.Results.Str("id") {
				s.Threads = append(append([]Thread{}, s.Threads[:i]...), s.Threads[i+1:]...)
				return true
			}
		}
		return false
	case "thread-selected":
		// A person looks at another frame or thread (up, thread 2).
		if s.State != Stopped {
			return false
		}
		s.Thread = r.Results.Str("id")
		if f := frameOf(r.Results.Get("frame"), paths); f != nil {
			s.Frame = f
		}
	case "thread-group-exited":
		if s.State == Exited {
			return false
		}
		s.State, s.Reason, s.Signal, s.ExitCode, s.Frame, s.Threads = NoProgram, "ended", "", nil, nil, []Thread{}
		if r.Results.Has("exit-code") {
			code := exitCode(r.Results.Str("exit-code"))
			s.State, s.Reason, s.ExitCode = Exited, "exited", &code
		}
	default:
		return false
	}
	return true
}

// foldResult takes the answers to commands of ours that carry state.
func (s *State) foldResult(r mi.Record, paths PathMap) bool {
	changed := false
	if r.Results.Has("bkpt") {
		changed = s.put(breakpointOf(r.Results, paths))
	}
	if r.Results.Has("BreakpointTable") {
		var all []Breakpoint
		for _, f := range r.Results.Get("BreakpointTable").Get("body").Fields {
			if f.Value.Kind == mi.Tuple && f.Name == "bkpt" {
				all = append(all, breakpointOf(mi.Results{f}, paths))
			}
		}
		s.Breakpoints, changed = append([]Breakpoint{}, all...), true
	}
	if r.Results.Has("threads") {
		s.Threads, changed = threadsOf(r.Results.Get("threads"), paths), true
	}
	return changed
}

func (s *State) put(b Breakpoint) bool {
	if b.Number == "" || strings.Contains(b.Number, ".") {
		return false
	}
	for i := range s.Breakpoints {
		if s.Breakpoints[i].Number == b.Number {
			s.Breakpoints[i] = b
			return true
		}
	}
	s.Breakpoints = append(s.Breakpoints, b)
	return true
}

func (s *State) drop(number string) bool {
	for i := range s.Breakpoints {
		if s.Breakpoints[i].Number == number {
			s.Breakpoints = append(append([]Breakpoint{}, s.Breakpoints[:i]...), s.Breakpoints[i+1:]...)
			return true
		}
	}
	return false
}

func frameOf(v mi.Value, paths PathMap) *Frame {
	if v.Kind != mi.Tuple {
		return nil
	}
	return &Frame{
		Level: v.Int("level"), Path: paths.Here(v.Str("fullname")), File: v.Str("file"), Line: v.Int("line"),
		Function: v.Str("func"), Address: v.Str("addr"),
	}
}

// breakpointOf reads bkpt={...}; its further places are in its list of
// locations, or follow it without a name.
func breakpointOf(r mi.Results, paths PathMap) Breakpoint {
	v := r.Get("bkpt")
	b := Breakpoint{
		Number: v.Str("number"), Type: v.Str("type"), Enabled: v.Str("enabled") != "n", Temporary: v.Str("disp") == "del" || v.Str("disp") == "dstp",
		Path: paths.Here(v.Str("fullname")), File: v.Str("file"), Line: v.Int("line"), Function: v.Str("func"), Address: v.Str("addr"),
		Expression: v.Str("what"), Condition: v.Str("cond"), Hits: v.Int("times"), Location: v.Str("original-location"),
	}
	if v.Str("pending") != "" {
		b.Location = v.Str("pending")
	}
	if b.Address == "<MULTIPLE>" || b.Address == "<PENDING>" {
		b.Address = ""
	}
	places := v.Get("locations").Fields
	for _, f := range r {
		if f.Name == "" {
			places = append(places, f)
		}
	}
	for _, f := range places {
		if f.Value.Kind != mi.Tuple {
			continue
		}
		b.Places = append(b.Places, Place{
			Path: paths.Here(f.Value.Str("fullname")), Line: f.Value.Int("line"), Address: f.Value.Str("addr"), Enabled: f.Value.Str("enabled") == "y",
		})
	}
	return b
}

func threadsOf(v mi.Value, paths PathMap) []Thread {
	out := []Thread{}
	for _, f := range v.Fields {
		t := f.Value
		if t.Kind != mi.Tuple {
			continue
		}
		out = append(out, Thread{
			ID: t.Str("id"), Name: t.Str("name"), Target: t.Str("target-id"), Details: t.Str("details"), State: t.Str("state"), Core: t.Str("core"),
			Frame: frameOf(t.Get("frame"), paths),
		})
	}
	return out
}
