package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/wiring"
	"github.com/stem-hw/stem-hw/symbols"
)

// result is what became of one file.
type result struct {
	e       *expectation
	why     string // empty if all expectations held
	end     string // how it ended, in a few words
	notices []string
	cycles  uint64
	took    time.Duration
}

// maxOutput bounds what is kept of a program's output.
const maxOutput = 4 << 20

// run runs one file of dir. patience bounds the time on the wall.
func run(ctx context.Context, dir string, e *expectation, patience time.Duration) (r result) {
	r.e = e
	begin := time.Now()
	defer func() { r.took = time.Since(begin) }()
	path := filepath.Join(dir, e.file)
	opt := image.Options{HasBase: e.machine == sim.MachineHazard3TB}
	img, err := image.OpenWith(path, opt)
	if err != nil {
		r.why = err.Error()
		return r
	}
	var syms *symbols.Table
	if len(img.ELF) > 0 {
		syms, _ = symbols.Load(img.ELF)
	}
	var out bytes.Buffer
	o := sim.Options{
		Machine: e.machine, Arch: img.Arch, Symbols: syms, Semihosting: &semihost.Options{CommandLine: e.file},
		Output: func(_ string, p []byte) {
			if out.Len() < maxOutput {
				out.Write(p)
			}
		},
		Notice: func(n machine.Notice) { r.notices = append(r.notices, n.Text) },
	}
	if e.machine == sim.MachineHazard3TB && strings.Contains(filepath.Base(e.file), "multicore") {
		o.Harts = 2
	}
	parts, err := e.parts(dir)
	if err != nil {
		r.why = err.Error()
		return r
	}
	if len(parts) > 0 {
		o.Attach = func(m machine.Machine) error {
			chip, ok := m.(*rp2350.Chip)
			if !ok {
				return fmt.Errorf("%s has no pins", e.machine)
			}
			_, err := wiring.Plug(chip, parts, nil)
			return err
		}
	}
	made, err := sim.New(o)
	if err != nil {
		r.why = err.Error()
		return r
	}
	defer made.Close()
	t := sim.Base(made)
	if err := t.Load(ctx, img); err != nil {
		r.why = err.Error()
		return r
	}
	opts := sim.RunOptions{AnyOrder: true, Cycles: e.limit, Timeout: patience}
	if e.exit == nil && !e.runs {
		opts.Expect = e.texts // nothing else is wanted: the run may end with them
	}
	outcome, err := t.Run(ctx, opts)
	if err != nil {
		r.why = err.Error()
		return r
	}
	r.cycles = t.Stats().Cycles
	r.end = describe(outcome, syms)
	r.why = e.judge(outcome, out.Bytes(), dir)
	if r.why == "" && e.signature != "" {
		r.why = signature(ctx, t, syms, filepath.Join(dir, e.signature))
	}
	if r.why != "" && out.Len() > 0 {
		r.why += "; printed last: " + tail(out.Bytes())
	}
	return r
}

// parts are what is connected to the board.
func (e *expectation) parts(dir string) ([]wiring.Part, error) {
	parts, err := wiring.ParseWords(wiring.Words{Wire: e.wires}, nil)
	if err != nil || e.wiring == "" {
		return parts, err
	}
	name := filepath.Join(dir, e.wiring)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	more, err := wiring.Parse(name, text, func(f string) ([]byte, error) {
		return os.ReadFile(filepath.Join(filepath.Dir(name), f))
	})
	return append(parts, more...), err
}

// judge compares an outcome with the expectation and says what is wrong.
func (e *expectation) judge(o sim.Outcome, out []byte, dir string) string {
	switch {
	case o.End == sim.EndInterrupted:
		return "interrupted"
	case len(o.Pending) > 0:
		return fmt.Sprintf("the text %q did not come", o.Pending[0])
	case e.exit == nil && !e.runs:
		return ""
	case o.End == sim.EndTimeout:
		return "not over in the time on the wall"
	}
	printed := strings.ReplaceAll(string(out), "\r", "")
	for _, text := range e.texts {
		if !strings.Contains(printed, text) {
			return fmt.Sprintf("the text %q did not come", text)
		}
	}
	if e.exit != nil {
		switch {
		case o.End != sim.EndExit:
			return "did not exit"
		case o.Stop.Code != *e.exit:
			return fmt.Sprintf("exit status %d, want %d", o.Stop.Code, *e.exit)
		}
	}
	if e.runs && (o.End == sim.EndCrash || o.End == sim.EndExit && o.Stop.Code != 0) {
		return "did not run to the limit"
	}
	if e.output != "" {
		want, err := os.ReadFile(filepath.Join(dir, e.output))
		if err != nil {
			return err.Error()
		}
		return differ(trim(out), trim(want))
	}
	return ""
}

func trim(p []byte) string {
	return strings.TrimSpace(strings.ReplaceAll(string(p), "\r", ""))
}

// differ names the first line in which got is not want.
func differ(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		at := func(s []string) string {
			if i < len(s) {
				return fmt.Sprintf("%q", s[i])
			}
			return "nothing"
		}
		if at(g) != at(w) {
			return fmt.Sprintf("line %d of the output is %s, want %s", i+1, at(g), at(w))
		}
	}
	return "the output differs"
}

// signature compares memory with the words of a file.
func signature(ctx context.Context, t *sim.Target, syms *symbols.Table, path string) string {
	lo, ok := syms.Lookup("begin_signature")
	hi, ok2 := syms.Lookup("end_signature")
	if !ok || !ok2 || hi.Addr < lo.Addr || hi.Addr-lo.Addr > 1<<20 {
		return "the program names no signature"
	}
	p := make([]byte, hi.Addr-lo.Addr)
	if err := t.ReadMemory(ctx, 0, lo.Addr, p); err != nil {
		return err.Error()
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	want := strings.Fields(string(data))
	for i := 0; i < len(want) || 4*i < len(p); i++ {
		got, w := "nothing", "nothing"
		if 4*i+4 <= len(p) {
			got = fmt.Sprintf("%08x", binary.LittleEndian.Uint32(p[4*i:]))
		}
		if i < len(want) {
			w = strings.ToLower(want[i])
		}
		if got != w {
			return fmt.Sprintf("word %d of the signature is %s, want %s", i, got, w)
		}
	}
	return ""
}

// describe says in a few words how a run ended.
func describe(o sim.Outcome, syms *symbols.Table) string {
	switch o.End {
	case sim.EndExit:
		return fmt.Sprintf("%s %d", o.Stop.How, o.Stop.Code)
	case sim.EndCrash:
		s := "crash"
		if c := o.Stop.Crash; c != nil {
			s += ": " + c.Cause + " at " + fmt.Sprintf("0x%08x", c.PC)
			if name := syms.Format(c.PC); name != "" {
				s += " " + name
			}
		}
		return s
	}
	return string(o.End)
}

// tail is the end of the output on one line.
func tail(out []byte) string {
	const keep = 60
	s := trim(out)
	if len(s) > keep {
		s = s[len(s)-keep:]
	}
	return fmt.Sprintf("%q", s)
}
