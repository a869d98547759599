package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("citool", flag.ContinueOnError)
	fs.SetOutput(stderr)
	report := fs.String("report", os.Getenv("STEM_HW_CI_REPORT"), "append a row of counts to `FILE`")
	verbose := fs.Bool("v", false, "name every test that passed")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	rest := fs.Args()
	if len(rest) < 3 || rest[1] != "--" {
		fmt.Fprintln(stderr, "usage: citool [-report FILE] [-v] SUITE -- COMMAND...")
		return 2
	}
	name, command := rest[0], rest[2:]

	start := time.Now()
	s := newSuite(func(format string, a ...any) { fmt.Fprintf(stdout, format, a...) })
	s.verbose = *verbose
	err := s.exec(command, stderr)
	took := time.Since(start)

	if rows := s.skipTable(); len(rows) > 0 {
		fmt.Fprintf(stdout, "\n%s: skipped, with the reason:\n", name)
		for _, r := range rows {
			fmt.Fprintf(stdout, "  %s\n", r)
		}
	}
	status := 0
	if err != nil {
		fmt.Fprintf(stdout, "%s: %v\n", name, err)
		status = 1
	}
	if len(s.failures) > 0 {
		fmt.Fprintf(stdout, "\n%s: failed:\n", name)
		for _, f := range s.failures {
			fmt.Fprintf(stdout, "  %s\n", f)
		}
		status = 1
	}
	if s.passed+s.failed == 0 {
		fmt.Fprintf(stdout, "%s: no test was run\n", name)
		status = 1
	}
	fmt.Fprintf(stdout, "%s took %.1f minutes\n", name, took.Minutes())
	fmt.Fprintf(stdout, "%s: %d passed, %d failed, %d skipped\n", name, s.passed, s.failed, len(s.skips))
	if *report != "" {
		if err := appendRow(*report, name, s, took); err != nil {
			fmt.Fprintf(stderr, "citool: %v\n", err)
			return 1
		}
	}
	return status
}

// exec runs the command and reads its events.
func (s *suite) exec(command []string, stderr io.Writer) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := s.read(out)
	if err := cmd.Wait(); err != nil {
		return err
	}
	return readErr
}

func appendRow(path, name string, s *suite, took time.Duration) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%d\t%d\t%d\t%.0f\n", name, s.passed, s.failed, len(s.skips), took.Seconds())
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
