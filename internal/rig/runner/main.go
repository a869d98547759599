//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	// The death of this thread would be the death of QEMU (see boot).
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rig:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	run, skip string
	limit     time.Duration
	memory    int
	packages  []string
}

func parse(args []string) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("runner", flag.ContinueOnError)
	fs.StringVar(&o.run, "run", "^TestRig", "run only tests that match `REGEXP`")
	fs.StringVar(&o.skip, "skip", "", "do not run tests that match `REGEXP`")
	fs.DurationVar(&o.limit, "timeout", 25*time.Minute, "`TIME` that one suite may take")
	fs.IntVar(&o.memory, "memory", 3072, "the machine's memory in `MiB`")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if o.packages = fs.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	return o, nil
}

// run returns whether everything passed.
func run(ctx context.Context, args []string) (ok bool, err error) {
	o, err := parse(args)
	if err != nil {
		return false, err
	}
	top, err := os.Getwd()
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(top, "go.mod")); err != nil {
		return false, fmt.Errorf("this is to be run where go.mod is: %w", err)
	}
	work := filepath.Join(top, "build", "rig")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return false, err
	}
	io, err := os.MkdirTemp(work, "io.")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(io)
	if err := os.Chmod(io, 0o755); err != nil { //nolint:gosec // the guest's other accounts run the programs in it
		return false, err
	}
	e := &events{out: os.Stdout}
	b := &builder{ctx: ctx, top: top, io: io, events: e}
	suites, err := b.build(o)
	if err != nil {
		return false, err
	}
	if len(suites) == 0 && !e.failed {
		return false, errors.New("no package has a test called TestRig…")
	}
	image, err := machine(ctx, top)
	if err != nil {
		return false, err
	}
	unlock, err := turn(ctx, filepath.Join(filepath.Dir(image), "turn"))
	if err != nil {
		return false, err
	}
	defer unlock()
	for _, flavour := range []string{"", systemd} {
		some := of(suites, flavour)
		if len(some) == 0 {
			continue
		}
		opt := &bootOptions{options: o, top: top, io: io, work: work, image: image, flavour: flavour, events: e}
		err := boot(ctx, opt, some)
		if errors.Is(err, errNotUp) && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "rig: %v\nrig: once more\n", err)
			err = boot(ctx, opt, some)
		}
		if err != nil {
			return false, err
		}
	}
	return !e.failed, nil
}

// turn waits until no other machine runs on this host. Those who wait get their
// turn in order: the kernel wakes them so.
func turn(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		fmt.Fprintln(os.Stderr, "rig: another virtual machine runs; waiting for it")
		got := make(chan error, 1)
		go func() {
			for {
				err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
				if !errors.Is(err, unix.EINTR) {
					got <- err
					return
				}
			}
		}()
		select {
		case err = <-got:
		case <-ctx.Done():
			return nil, ctx.Err() // the process ends, and with it the waiting
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
