//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// event is one line of test2json.
type event struct {
	Time       *time.Time `json:",omitempty"`
	Action     string
	Package    string   `json:",omitempty"`
	ImportPath string   `json:",omitempty"`
	Test       string   `json:",omitempty"`
	Elapsed    *float64 `json:",omitempty"`
	Output     string   `json:",omitempty"`
}

// events prints the stream.
type events struct {
	out    io.Writer
	failed bool
}

func (e *events) put(v event) {
	if v.Action == "fail" {
		e.failed = true
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	fmt.Fprintf(e.out, "%s\n", b)
}

// notBuilt tells of a package that does not build.
func (e *events) notBuilt(pkg, output string) {
	e.put(event{Action: "build-output", ImportPath: pkg, Output: output})
	e.put(event{Action: "fail", Package: pkg})
}

// test tells of a test of the rig's own.
func (e *events) test(pkg, name, complaint string) {
	e.put(event{Action: "run", Package: pkg, Test: name})
	if complaint == "" {
		e.put(event{Action: "pass", Package: pkg, Test: name})
		return
	}
	for _, line := range strings.SplitAfter(complaint, "\n") {
		if line != "" {
			e.put(event{Action: "output", Package: pkg, Test: name, Output: strings.TrimSuffix(line, "\n") + "\n"})
		}
	}
	e.put(event{Action: "fail", Package: pkg, Test: name})
}

// suiteEvents turns the output of one test binary into events.
type suiteEvents struct {
	io.WriteCloser
	events *events
	pkg    string
	cmd    *exec.Cmd
	read   chan struct{}
	last   *event // of the package itself, held back
}

func (e *events) suite(pkg string) (*suiteEvents, error) {
	s := &suiteEvents{events: e, pkg: pkg, read: make(chan struct{})}
	s.cmd = exec.Command("go", "tool", "test2json", "-t", "-p", pkg)
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.WriteCloser = in
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.read)
		sc := bufio.NewScanner(out)
		sc.Buffer(make([]byte, 64<<10), 16<<20)
		for sc.Scan() {
			var v event
			if json.Unmarshal(sc.Bytes(), &v) != nil {
				continue
			}
			if v.Test == "" && (v.Action == "pass" || v.Action == "fail") {
				s.last = &v
				continue
			}
			e.put(v)
		}
	}()
	return s, nil
}

// end closes the suite. failure, if there is one, is why it failed besides its
// tests.
func (s *suiteEvents) end(failure string) error {
	s.Close()
	<-s.read
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("test2json: %w", err)
	}
	last := event{Action: "fail", Package: s.pkg}
	if s.last != nil {
		last = *s.last
	}
	if failure != "" {
		last.Action = "fail"
		s.events.put(event{Action: "output", Package: s.pkg, Output: failure + "\n"})
	}
	s.events.put(last)
	return nil
}
