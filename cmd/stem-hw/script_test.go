package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets test scripts call this binary as stem-hw, so that they see a
// whole process: streams, signals, exit status.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"stem-hw": main,
	})
}

// TestScripts runs testdata/script/*.txt. A verb adds files of its own.
func TestScripts(t *testing.T) {
	cases, err := filepath.Abs("../../image/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			prog, err := filepath.Abs("testdata/prog")
			if err != nil {
				return err
			}
			e.Setenv("PROG", prog)
			e.Setenv("CASES", cases)
			examples, err := filepath.Abs("../../examples")
			if err != nil {
				return err
			}
			e.Setenv("EXAMPLES", examples)
			if err := os.WriteFile(filepath.Join(e.WorkDir, "arm.bin"), armProgram(), 0o644); err != nil {
				return err
			}
			e.Setenv("STEM_HW_BOARD", "sim")
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			// The path of a socket is short, that of a script's folder is not.
			run, err := os.MkdirTemp("", "hw")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = os.RemoveAll(run) })
			e.Setenv("XDG_RUNTIME_DIR", run)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status,
		},
	})
}

// status runs stem-hw with the arguments behind the first, which is the exit
// status that is expected: status 2 verson. With `< FILE` last, standard input
// is that file. The streams land in the files out and err.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N [ARG...] [< FILE]")
	}
	want := args[0]
	args = args[1:]
	in := os.DevNull
	if n := len(args); n >= 2 && args[n-2] == "<" {
		in, args = ts.MkAbs(args[n-1]), args[:n-2]
	}
	got := runProcess(ts, in, args)
	ts.Logf("exit status %d", got)
	if itoa(got) != want {
		ts.Logf("stdout:\n%s\nstderr:\n%s", ts.ReadFile("out"), ts.ReadFile("err"))
		ts.Fatalf("stem-hw %q: exit status %d, want %s", args, got, want)
	}
}
