package gdbsync

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stem-hw/stem-hw/gdbsync/mi"
)

func record(t *testing.T, line string) mi.Record {
	t.Helper()
	r, err := mi.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFold replays what a real gdb said while a person typed, and compares what
// matters after each line.
func TestFold(t *testing.T) {
	paths := PathMap{{"/build", "/home/me/card"}}
	s := State{Breakpoints: []Breakpoint{}, Threads: []Thread{}}
	for _, step := range []struct {
		line string
		same bool // nothing changed
		want func() bool
		what string
	}{
		{line: `=thread-group-added,id="i1"`, same: true},
		{line: `~"Reading symbols..."`, same: true},
		{line: `=breakpoint-created,bkpt={number="1",type="breakpoint",disp="keep",enabled="y",addr="0x1000",func="main",file="t.c",fullname="/build/t.c",line="3",times="0",original-location="main"}`,
			want: func() bool {
				return len(s.Breakpoints) == 1 && s.Breakpoints[0].Path == "/home/me/card/t.c" && s.Breakpoints[0].Line == 3 && s.Breakpoints[0].Enabled
			}, what: "a breakpoint"},
		{line: `=thread-created,id="1",group-id="i1"`, want: func() bool { return len(s.Threads) == 1 }, what: "a thread"},
		{line: `=thread-created,id="1",group-id="i1"`, same: true},
		{line: `*running,thread-id="all"`, want: func() bool { return s.State == Running && s.Frame == nil }, what: "running"},
		{line: `*running,thread-id="2"`, same: true},
		{line: `*stopped,reason="breakpoint-hit",disp="keep",bkptno="1",frame={addr="0x1000",func="main",args=[],file="t.c",fullname="/build/t.c",line="3",arch="riscv:rv32"},thread-id="1",stopped-threads="all",core="0"`,
			want: func() bool {
				return s.State == Stopped && s.Reason == "breakpoint-hit" && s.Stops == 1 && s.Thread == "1" && s.Core == "0" &&
					*s.Frame == Frame{Path: "/home/me/card/t.c", File: "t.c", Line: 3, Function: "main", Address: "0x1000"}
			}, what: "a stop"},
		{line: `3^done,threads=[{id="1",target-id="Thread 1",details="Name: blink, running",name="hart 0",frame={level="0",addr="0x1000",func="main",file="t.c",fullname="/build/t.c",line="3"},state="stopped",core="0"},{id="2",target-id="Thread 2",state="stopped"}],current-thread-id="1"`,
			want: func() bool {
				return len(s.Threads) == 2 && s.Threads[0].Name == "hart 0" && s.Threads[0].Details == "Name: blink, running" && s.Threads[1].Frame == nil
			}, what: "threads"},
		{line: `=thread-selected,id="1",frame={level="1",addr="0x2000",func="up",file="u.c",fullname="/build/u.c",line="9"}`,
			want: func() bool { return s.Frame.Line == 9 && s.Frame.Level == 1 && s.State == Stopped }, what: "up"},
		{line: `=breakpoint-modified,bkpt={number="1",type="breakpoint",disp="keep",enabled="n",addr="<MULTIPLE>",times="2",cond="n == 3",locations=[{number="1.1",enabled="y",addr="0x1",fullname="/build/a.c",line="4"},{number="1.2",enabled="n",addr="0x2",fullname="/build/b.c",line="5"}]}`,
			want: func() bool {
				b := s.Breakpoints[0]
				return !b.Enabled && b.Address == "" && b.Condition == "n == 3" && b.Hits == 2 && len(b.Places) == 2 && b.Places[1] == Place{"/home/me/card/b.c", 5, "0x2", false}
			}, what: "places"},
		{line: `9^done,bkpt={number="2",type="breakpoint",disp="del",enabled="y",addr="0x9",line="7"},{number="2.1",enabled="y",addr="0x9"}`,
			want: func() bool {
				return len(s.Breakpoints) == 2 && s.Breakpoints[1].Temporary && len(s.Breakpoints[1].Places) == 1
			}, what: "our own breakpoint"},
		{line: `9^error,msg="x",bkpt={number="7"}`, same: true},
		{line: `=breakpoint-deleted,id="1"`, want: func() bool { return len(s.Breakpoints) == 1 && s.Breakpoints[0].Number == "2" }, what: "one less"},
		{line: `=breakpoint-deleted,id="1"`, same: true},
		{line: `*stopped,reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault",frame={addr="0x5",func="??",args=[]},thread-id="2"`,
			want: func() bool { return s.Signal == "SIGSEGV" && s.Frame.Path == "" && s.Thread == "2" }, what: "a signal, no source"},
		{line: `=thread-exited,id="2",group-id="i1"`, want: func() bool { return len(s.Threads) == 1 }, what: "a thread less"},
		{line: `=thread-group-exited,id="i1",exit-code="017"`, want: func() bool { return s.State == Exited && *s.ExitCode == 15 }, what: "exit in octal"},
		{line: `*stopped,reason="exited",exit-code="017"`, want: func() bool { return s.State == Exited && *s.ExitCode == 15 && s.Frame == nil }, what: "exited"},
		{line: `*stopped,reason="exited-signalled",signal-name="SIGKILL"`, want: func() bool { return s.State == Exited && s.ExitCode == nil && s.Signal == "SIGKILL" }, what: "killed"},
		{line: `=thread-selected,id="1"`, same: true},
		{line: `5^done,BreakpointTable={nr_rows="1",hdr=[{width="7"}],body=[bkpt={number="4",type="hw watchpoint",disp="keep",enabled="y",what="s",times="0"}]}`,
			want: func() bool { return len(s.Breakpoints) == 1 && s.Breakpoints[0].Expression == "s" }, what: "a table"},
		{line: `+download,{section=".text"}`, same: true},
	} {
		changed := s.fold(record(t, step.line), paths)
		if changed == step.same {
			t.Errorf("%s: changed is %v", step.line, changed)
		}
		if step.want != nil && !step.want() {
			t.Errorf("%s: %s\n%+v", step.what, step.line, s)
		}
	}
}

func TestStateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gdb-sync.json")
	s := State{Schema: Schema, Version: Version, Sequence: 7, State: Stopped, Breakpoints: []Breakpoint{}, Threads: []Thread{}, Frame: &Frame{Path: "/ü.c", Line: 1}}
	// What a writer that was killed has left is no hindrance.
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".gdb-sync.json.new"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(*got, s) {
		t.Errorf("%+v, %v", got, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	var raw map[string]any
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &raw) != nil || raw["breakpoints"] == nil || raw["threads"] == nil {
		t.Errorf("%s", data)
	}
	if err := s.Write(filepath.Join(t.TempDir(), "no", "folder")); err == nil {
		t.Error("written where there is no folder")
	}
	for _, bad := range []string{"", "{}", `{"schema":"x"}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestPathMap(t *testing.T) {
	m := PathMap{{"/build", "/home/me/card"}, {"/build/sdk", "/usr/share/sdk"}, {".", "/src"}}
	for _, tt := range []struct{ built, here string }{
		{"/build/a.c", "/home/me/card/a.c"},
		{"/build", "/home/me/card"},
		{"/build/sdk/x/y.h", "/usr/share/sdk/x/y.h"},
		{"/builder/a.c", "/builder/a.c"},
		{"", ""},
	} {
		if got := m.Here(tt.built); got != tt.here {
			t.Errorf("%s is %s here, want %s", tt.built, got, tt.here)
		}
		if got := m.Built(tt.here); got != tt.built {
			t.Errorf("%s was built as %s, want %s", tt.here, got, tt.built)
		}
	}
	if got := m.Here("/build/x/../a.c"); got != "/home/me/card/a.c" {
		t.Error(got)
	}
	for _, bad := range []string{"", "x", "=/a", "/a=b", "/a=/b\n"} {
		if _, err := ParseMapping(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if m, err := ParseMapping("/a/=/b"); err != nil || m != (Mapping{"/a", "/b"}) {
		t.Errorf("%v, %v", m, err)
	}
}

func TestViewHasEveryPlace(t *testing.T) {
	s := State{Frame: &Frame{Path: "/a", Line: 3}, Breakpoints: []Breakpoint{
		{Path: "/a", Line: 1, Enabled: true, Places: []Place{{Path: "/a", Line: 1}, {Path: "/b", Line: 2, Enabled: true}}},
		{Expression: "x"},
	}}
	v := viewOf(&s)
	if want := []vmark{{"/a", 1, true}, {"/b", 2, true}}; !reflect.DeepEqual(v.Breakpoints, want) || v.Path != "/a" || v.Line != 3 {
		t.Errorf("%+v", v)
	}
}
