//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
)

// graceful is what a suite gets beyond its own limit, to tell where it hangs.
const graceful = 30 * time.Second

// suite runs one test binary, and asks the kernel how it was.
func (g *guest) suite(ctx context.Context, s suite) error {
	o := g.o
	fmt.Fprintf(os.Stderr, "rig: %s\n", strings.TrimSpace(s.pkg+" "+s.flavour))
	out, err := o.events.suite(s.pkg)
	if err != nil {
		return err
	}
	args := []string{"/io/" + s.binary, "-test.v=test2json", "-test.run=" + o.run, "-test.timeout=" + o.limit.String(), "-test.paniconexit0"}
	const others = "^TestRigSystemd"
	switch {
	case s.flavour == systemd && o.run == "^TestRig":
		args[2] = "-test.run=" + others
	case s.flavour == "" && o.skip != "":
		args = append(args, "-test.skip="+others+"|"+o.skip)
	case s.flavour == "":
		args = append(args, "-test.skip="+others)
	}
	done := make(chan error, 1)
	var bye wire.Goodbye
	go func() {
		var err error
		bye, err = g.exec(wire.Exec{
			Args: args, Dir: "/src/" + s.dir, Limit: o.limit + graceful,
			Env: []string{"STEM_HW_RIG=1", "STEM_HW_RIG_FLAVOUR=" + s.flavour, "TERM=dumb"},
		}, out)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		if eerr := out.end("the machine is gone: " + err.Error()); eerr != nil {
			return eerr
		}
		return err
	}
	failure := ""
	if bye.Code != 0 || bye.Error != "" {
		failure = strings.TrimSpace(fmt.Sprintf("exit status %d %s", bye.Code, bye.Error))
	}
	g.controls.Wait() // its boards are gone
	complaint, err := g.kernel()
	if err != nil {
		return err
	}
	o.events.test(s.pkg, "Kernel", complaint)
	if complaint != "" && failure == "" {
		failure = "the kernel complained"
	}
	return out.end(failure)
}

// kernel returns what the kernel has to complain about since it was asked last.
func (g *guest) kernel() (complaint string, err error) {
	var log bytes.Buffer
	bye, err := g.exec(wire.Exec{Args: []string{"sh", "-c", kernelCheck}, Limit: 2 * time.Minute}, &log)
	if err != nil {
		return "", err
	}
	if bye.Code != 0 || bye.Error != "" {
		return fmt.Sprintf("the check failed: %d %s\n%s", bye.Code, bye.Error, log.String()), nil
	}
	text, lines, _ := strings.Cut(log.String(), kernelMark)
	all := strings.Split(strings.TrimSpace(lines), "\n")
	fresh := all[min(g.seen, len(all)):]
	g.seen = len(all)
	return strings.TrimSpace(strings.TrimSpace(text) + "\n" + complaints(fresh)), nil
}
