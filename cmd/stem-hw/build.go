package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/card"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/ui"
)

// buildResult says what was built.
type buildResult struct {
	Name      string `json:"name"`
	Profile   string `json:"profile"`
	Target    string `json:"target"`
	Dir       string `json:"dir"`
	Program   string `json:"program"`
	Simulated bool   `json:"simulated"`
}

func (buildResult) Kind() string { return "build" }

func (r buildResult) Text(t *ui.Text) { t.Linef("%s", r.Program) }

const cardWords = `A card is named by its series, its name and perhaps a task; a folder or a file by
its path. Without words it is the working folder.`

func (a *app) buildCmd() *cobra.Command {
	var f whatFlags
	var c chooseFlags
	cmd := &cobra.Command{
		Use:     "build [CARD|FOLDER]",
		Short:   "build a card or a folder for a target",
		GroupID: groupCourses,
		Long: `Build builds a card, or a folder with a Makefile or a CMakeLists.txt, and prints
the path of the program that came out.

` + cardWords + `

make gets TARGET, BUILD, CROSS_COMPILE and, for a card, TASK and OUT; cmake gets
PICO_BOARD and PICO_PLATFORM. A stem.toml may name another command: it runs only
after a person has trusted that file (stem-hw card trust).`,
		Example: `  stem-hw build inf bss 4
  stem-hw build --target rp2350-arm inf list
  stem-hw build .`,
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			whats, err := a.find(args, true)
			if err != nil {
				return err
			}
			for _, w := range whats {
				if w.file != "" {
					return faults.Usage("%s is a file: there is nothing to build", w.file)
				}
				if err := a.settle(cmd.Context(), w, &f, c.board, true); err != nil {
					return err
				}
				program, err := a.build(cmd.Context(), w)
				if err != nil {
					return err
				}
				if err := a.ui.Event(buildResult{
					Name: w.name(), Profile: w.profile, Target: w.target, Dir: w.project.Dir, Program: program, Simulated: a.simulated(w),
				}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.add(cmd)
	c.add(cmd, a)
	return cmd
}

// simulated says whether what runs, runs on no board.
func (a *app) simulated(w *what) bool {
	return w.profile != profiles.RP2350 || strings.HasPrefix(w.selector, "sim")
}

// trust is the user's trust in projects.
func (a *app) trust() (*card.Trust, error) {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return nil, err
	}
	return card.NewTrust(dir), nil
}

// build runs the commands that build a project, and finds the program.
func (a *app) build(ctx context.Context, w *what) (string, error) {
	if w.file != "" {
		return w.file, nil
	}
	steps, err := w.project.BuildSteps(w.target, w.profile, w.compiler)
	if err != nil {
		return "", err
	}
	for _, s := range steps {
		if err := a.step(ctx, w.project, s, "build"); err != nil {
			return "", err
		}
	}
	return w.program()
}

// step runs one command of a project; one of its own only if it is trusted.
func (a *app) step(ctx context.Context, p *card.Project, s card.Step, verb string) (err error) {
	if s.Own {
		t, err := a.trust()
		if err != nil {
			return err
		}
		if err := t.Check(p); err != nil {
			return err
		}
	}
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	a.ui.Verbose(1, "%s: %s", s.Dir, strings.Join(s.Argv, " "))
	out := &lineSayer{a: a}
	pkg := map[string]string{"make": "make", "cmake": "cmake"}[s.Argv[0]]
	proc, err := sup.Start(ctx, child.Spec{
		Program: s.Argv[0], Package: pkg, Args: s.Argv[1:], Dir: s.Dir, Env: append(os.Environ(), s.Env...), Stdout: out, Stderr: out,
	})
	if err != nil {
		return err
	}
	err = proc.Wait()
	out.flush()
	var exit *child.ExitError
	if errors.As(err, &exit) {
		f := &faults.Fault{
			Code: faults.CodeBuildFailed, Status: faults.StatusImage, Summary: "the " + verb + " of " + p.Name() + " failed",
			Seen: exit.Error(), Try: []string{"read what it printed", "in " + s.Dir + ": " + strings.Join(s.Argv, " ")},
		}
		if verb == "test" {
			f.Code, f.Status = faults.CodeFirmwareFail, faults.StatusFirmware
		}
		if a.quiet {
			f.Details = out.tail
		}
		return f
	}
	return err
}

// lineSayer says what a command prints, line by line, and keeps the last lines.
type lineSayer struct {
	a    *app
	mu   sync.Mutex
	part []byte
	tail []string
}

const keptLines = 15

// Write takes output.
func (l *lineSayer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		i := bytes.IndexByte(l.part, '\n')
		if i < 0 {
			break
		}
		l.line(string(l.part[:i]))
		l.part = l.part[i+1:]
	}
	return len(p), nil
}

func (l *lineSayer) line(s string) {
	l.a.ui.Say("%s", strings.TrimRight(s, "\r"))
	if l.tail = append(l.tail, s); len(l.tail) > keptLines {
		l.tail = l.tail[1:]
	}
}

func (l *lineSayer) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.line(string(l.part))
		l.part = nil
	}
}

// cardTestResult is how the test of a card ended.
type cardTestResult struct {
	Name      string  `json:"name"`
	Profile   string  `json:"profile"`
	Target    string  `json:"target"`
	Passed    bool    `json:"passed"`
	Why       string  `json:"why,omitempty"`
	Seconds   float64 `json:"seconds"`
	Simulated bool    `json:"simulated"`
}

func (cardTestResult) Kind() string { return "test" }

func (r cardTestResult) Text(t *ui.Text) {
	verdict := "ok"
	if !r.Passed {
		verdict = "FAILED"
	}
	line := fmt.Sprintf("%-6s  %s  %s", verdict, r.Name, r.Target)
	if r.Why != "" {
		line += ": " + r.Why
	}
	t.Linef("%s", line)
}

func (a *app) testCmd() *cobra.Command {
	var f whatFlags
	var c chooseFlags
	cmd := &cobra.Command{
		Use:     "test [CARD|FOLDER|FILE]",
		Short:   "build a card and check what it prints",
		GroupID: groupCourses,
		Long: `Test builds a card, runs it, and checks what it prints against what its stem.toml
expects. A card that is named without a task is tested in all its tasks.

` + cardWords + `

Exit status: 0 every test passed, 20 one failed.`,
		Example: `  stem-hw test inf bss
  stem-hw test inf bss 4 --profile native-amd64`,
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.test(cmd.Context(), args, &f, &c)
		},
	}
	f.add(cmd)
	c.add(cmd, a)
	return cmd
}

func (a *app) test(ctx context.Context, args []string, f *whatFlags, c *chooseFlags) error {
	whats, err := a.find(args, true)
	if err != nil {
		return err
	}
	failed := 0
	for i, w := range whats {
		if err := a.settle(ctx, w, f, c.board, true); err != nil {
			return err
		}
		if i == 0 {
			a.tellProfile(w)
		}
		start := time.Now()
		err := a.testOne(ctx, w, c)
		if fault := faults.Of(err); err != nil && (fault == nil || fault.Status != faults.StatusFirmware && fault.Status != faults.StatusTimeout && fault.Code != faults.CodeBuildFailed) {
			return err
		}
		r := cardTestResult{Name: w.name(), Profile: w.profile, Target: w.target, Passed: err == nil, Seconds: time.Since(start).Seconds(), Simulated: a.simulated(w)}
		if err != nil {
			failed++
			r.Why = err.Error()
		}
		if err := a.ui.Event(r); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &faults.Fault{
			Code: faults.CodeFirmwareFail, Status: faults.StatusFirmware, Summary: fmt.Sprintf("%d of %d tests failed", failed, len(whats)),
			Try: []string{"stem-hw debug " + strings.Join(args, " ")},
		}
	}
	return nil
}

// tellProfile says what auto chose.
func (a *app) tellProfile(w *what) {
	if w.why != "" && w.profile != profiles.RP2350 {
		a.ui.Say("profile %s, target %s: %s", w.profile, w.target, w.why)
	}
}

func (a *app) testOne(ctx context.Context, w *what, c *chooseFlags) error {
	program, err := a.build(ctx, w)
	if err != nil {
		return err
	}
	var t card.Test
	if w.project != nil {
		t = w.project.Test
		if s, ok := w.project.TestStep(w.target, w.profile); ok {
			s.Env = append(s.Env, "STEM_PROGRAM="+program)
			return a.step(ctx, w.project, s, "test")
		}
	}
	rf := &runFlags{chooseFlags: *c, machine: "auto", harts: 1, chip: defaultChip, expect: t.Expect, fail: t.Fail, timeout: t.Timeout.Duration, speed: "max"}
	if rf.timeout == 0 {
		rf.timeout = testTime
	}
	rf.board = w.selector
	in := a.streams.In
	a.streams.In = nil
	if t.Input != "" {
		a.streams.In = strings.NewReader(t.Input)
	}
	defer func() { a.streams.In = in }()
	return a.runProgram(ctx, w, program, rf)
}

// testTime is how long a test may take that does not say so itself.
const testTime = time.Minute

func (a *app) deployCmd() *cobra.Command {
	var f whatFlags
	var ff flashFlags
	cmd := &cobra.Command{
		Use:     "deploy [CARD|FOLDER|FILE]",
		Short:   "build, flash, verify and start on the pinned board",
		GroupID: groupCourses,
		Long: `Deploy builds a card and flashes it on the board that is pinned for this project or
named with -b, verifies it and starts it. It never falls back: without a board
the exit status is 3.

` + cardWords,
		Example: "  stem-hw deploy inf bss 4\n  stem-hw deploy -b sim inf list",
		Args:    cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			whats, err := a.find(args, false)
			if err != nil {
				return err
			}
			w := whats[0]
			if f.profile == profiles.Hazard3Sim || f.profile == profiles.NativeAMD64 || f.target == card.NativeAMD64 {
				return a.noBoard()
			}
			selector := ""
			if len(ff.boards) > 0 {
				selector = ff.boards[0]
			}
			if err := a.settle(cmd.Context(), w, &f, selector, false); err != nil {
				return err
			}
			if w.profile != profiles.RP2350 {
				return a.noBoard()
			}
			program, err := a.build(cmd.Context(), w)
			if err != nil {
				return err
			}
			return a.flash(cmd.Context(), program, &ff)
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringArrayVarP(&ff.boards, "board", "b", nil, "the `BOARD`: a nickname, the beginning of a serial number, sim or sim:NAME; may be repeated")
	fl.DurationVar(&ff.wait, "wait", 0, "wait up to this `TIME` for a board that is in use or not there")
	ff.viaFlags.add(cmd, "restart a program that runs into BOOTSEL mode (deploy does so by itself)", viaBootsel, viaDrive)
	_ = cmd.RegisterFlagCompletionFunc("board", a.completeBoards)
	return cmd
}
