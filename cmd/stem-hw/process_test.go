package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func itoa(n int) string { return strconv.Itoa(n) }

// runProcess runs this binary as stem-hw and returns its exit status. Streams
// go to the files out and err in the script's folder.
func runProcess(ts *testscript.TestScript, in string, args []string) int {
	stdin, err := os.Open(in)
	ts.Check(err)
	defer stdin.Close()
	out, err := os.Create(ts.MkAbs("out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs("err"))
	ts.Check(err)
	defer errs.Close()

	path, err := exec.LookPath(lookIn(ts.Getenv("PATH"), "stem-hw"))
	ts.Check(err)
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, errs
	cmd.Env = []string{}
	for _, k := range []string{"PATH", "HOME", "TMPDIR", "STEM_HW_BOARD", "STEM_WORKSPACE", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "NO_COLOR", "GOCOVERDIR"} {
		if v := ts.Getenv(k); v != "" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	for _, k := range extraEnv {
		if v := ts.Getenv(k); v != "" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	return cmd.ProcessState.ExitCode()
}

// extraEnv are variables that scripts may set.
var extraEnv = []string{"STEM_HW_JSON", "STEM_HW_TIMEOUT", "STEM_HW_LOG_FILE", "STEM_HW_VERBOSE", "STEM_HW_MACHINE", "STEM_HW_SIM_IDLE"}

// lookIn finds name in a PATH list.
func lookIn(path, name string) string {
	for _, dir := range strings.Split(path, string(os.PathListSeparator)) {
		if _, err := os.Stat(dir + "/" + name); err == nil {
			return dir + "/" + name
		}
	}
	return name
}
