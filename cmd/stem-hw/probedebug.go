package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/semihost"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/symbols"
)

// probeLayers sorts what --log asks for: the probe's packets are the business of
// openProbe.
func (a *app) probeLayers(layers []string) (rest []string) {
	return slices.DeleteFunc(slices.Clone(layers), func(l string) bool { return l == "dap" || l == viaOpenOCD })
}

// serveProbe loads a program on the chip behind a probe, or without one attaches
// to what it does, and puts a gdb server before it.
func (a *app) serveProbe(ctx context.Context, path string, f *debugFlags, verb string, killed func()) (s *served, err error) {
	log, err := a.wireLog(a.probeLayers(f.log))
	if err != nil {
		return nil, err
	}
	p := &program{image: &image.Image{Format: image.FormatBIN}, machine: "rp2350"}
	if path != "" {
		if p, err = a.probeProgramFile(path); err != nil {
			return nil, err
		}
	}
	s = &served{program: p}
	opt := gdbserver.Options{
		RTOS: f.rtos, Protect: simboard.Protected, Log: log, Killed: killed,
		Notify: func(text string) { a.ui.Verbose(1, "%s", text) },
	}
	if f.semihosting != "" {
		if s.files, err = semihost.OpenDir(f.semihosting); err != nil {
			return nil, err
		}
		opt.Files = simboard.GdbFiles(s.files)
	}
	t, done, err := a.openProbe(ctx, a.probe, verb, probe.Options{
		Semihosting: &semihost.Options{Dir: f.semihosting, CommandLine: path, Start: time.Now()},
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.target, s.done, s.lost = t, done, t.Lost
	t.StartRTT(0, 0)
	if path != "" {
		err = t.Load(ctx, p.image)
	} else {
		err = t.Halt(ctx)
	}
	if err == nil {
		opt.Target, opt.Lost = t, t.Lost
		if p.image.Format == image.FormatELF {
			opt.ELF = p.image.ELF
			opt.ELFPath, err = filepath.Abs(path)
		}
	}
	if err == nil {
		s.server, err = gdbserver.New(opt)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// probeProgramFile reads a program for a real chip: it has to be one that would
// start there.
func (a *app) probeProgramFile(path string) (*program, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := checkFlashable(im, false); err != nil {
		return nil, err
	}
	if err := checkRollback(im, false); err != nil {
		f := *faults.Of(err)
		f.Wanted, f.Try = "an image without", f.Try[:1]
		return nil, &f
	}
	p := &program{path: path, image: im, machine: "rp2350"}
	if len(im.ELF) > 0 {
		p.symbols, _ = symbols.Load(im.ELF)
	}
	return p, nil
}
