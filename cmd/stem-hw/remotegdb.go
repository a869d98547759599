package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// remoteGdb brings gdb's connections to the process that runs a board.
type remoteGdb struct {
	a    *app
	c    chosen
	opt  simboard.GdbOptions
	verb string
}

// serveBoard puts a program into a lasting board and stands ready to bring gdb
// to it. Consoles that are attached to the board see what the program prints.
func (a *app) serveBoard(ctx context.Context, p *program, c chosen, f *debugFlags, verb string) (*served, error) {
	if _, err := a.wireLog(f.log); err != nil {
		return nil, err
	}
	record, err := programOf(p.image)
	if err != nil {
		return nil, err
	}
	dir := f.semihosting
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
	}
	if _, err := checkFlashable(p.image, false); err != nil {
		return nil, err
	}
	plan := flashing.NewPlan(p.image)
	tell, end := a.progress()
	defer end()
	err = a.waiting(ctx, f.wait, func() error {
		cl, err := a.connect(ctx, c, verb, 0)
		if err != nil {
			return err
		}
		defer cl.Close()
		r, err := putProgram(ctx, cl, p.image, plan, flashing.Options{Verify: true, Progress: tell},
			simboard.Adoption{Program: record, Arch: p.image.Arch, Semihosting: dir})
		if err == nil {
			a.ui.Verbose(1, "%s: %d of %d sectors written", c.Selector(), r.Changed, r.Sectors)
			err = cl.Release(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	g := &remoteGdb{a: a, c: c, verb: verb, opt: simboard.GdbOptions{RTOS: f.rtos, Files: dir, Log: len(f.log) > 0}}
	if p.image.Format == image.FormatELF {
		if g.opt.ELFPath, err = filepath.Abs(p.path); err != nil {
			return nil, err
		}
	}
	if g.opt.Log {
		a.ui.Note("the packets are logged to %s", c.place.LogPath())
	}
	return &served{program: p, remote: g}, nil
}

// attachBoard stands ready to bring gdb to whatever a lasting board executes.
func (a *app) attachBoard(ctx context.Context, f *debugFlags) (*served, error) {
	if a.probe != nil {
		return a.serveProbe(ctx, "", f, "debug", nil)
	}
	c, err := a.choose(ctx, f.board, needNamed, "stem-hw debug -b %s")
	if err != nil {
		return nil, err
	}
	if f.semihosting != "" {
		return nil, faults.Usage("--semihosting-dir needs a FILE: it counts from the program's start")
	}
	cl, err := a.connect(ctx, c, "debug", f.wait)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	i, err := cl.Describe(ctx)
	if err != nil {
		return nil, err
	}
	g := &remoteGdb{a: a, c: c, verb: "debug", opt: simboard.GdbOptions{RTOS: f.rtos, Log: len(f.log) > 0}}
	s := &served{remote: g}
	if i.Program != nil {
		if sum, err := fileSum(i.Program.Path); err == nil && sum == i.Program.SHA256 {
			if s.program, err = openProgram(i.Program.Path, sim.MachineRP2350); err != nil {
				return nil, err
			}
			g.opt.ELFPath = i.Program.Path
		} else {
			a.ui.Note("the file that was flashed is gone or changed, so there are no symbols: %s", i.Program.Path)
		}
	}
	if s.program == nil {
		s.program = &program{image: &image.Image{Format: image.FormatBIN}}
	}
	return s, nil
}

// Serve brings every connection to the board until ctx ends.
func (g *remoteGdb) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer l.Close()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return ctx.Err()
			}
			return err
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer c.Close()
			if err := g.bring(ctx, c); err != nil && ctx.Err() == nil {
				g.a.ui.Warn("gdb cannot be brought to the board: %v", err)
			}
		}()
	}
}

// bring copies between gdb and the board until one of them ends.
func (g *remoteGdb) bring(ctx context.Context, c net.Conn) error {
	cl, err := simboard.Dial(ctx, g.c.place, buildVersion().Version, g.verb)
	if err != nil {
		return err
	}
	defer cl.Close()
	board, err := cl.Gdb(ctx, g.opt)
	if err != nil {
		return err
	}
	done := make(chan struct{}, 2)
	cross := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go cross(board, c)
	go cross(c, board)
	select {
	case <-done:
	case <-ctx.Done():
	}
	// One side is over: the other one is too.
	_ = board.Close()
	_ = c.Close()
	return nil
}
