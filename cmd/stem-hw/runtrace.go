package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/symbols"
)

// trace writes one line for each instruction: the core, how many it has
// executed before, the address, the code and the place by its symbol.
type trace struct {
	path string
	f    *os.File
	w    *bufio.Writer
	syms *symbols.Table
	err  error
}

func newTrace(path string, syms *symbols.Table) (*trace, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, traceFault(err)
	}
	return &trace{path: path, f: f, w: bufio.NewWriterSize(f, 1<<18), syms: syms}, nil
}

func traceFault(err error) error {
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusUsage,
		Summary: "the trace cannot be written", Seen: err.Error(), Wanted: "a file that may be written",
		Try: []string{"name another file with --trace"},
	}
}

func (t *trace) instruction(in sim.Instruction) {
	if t.err != nil {
		return
	}
	code := "--------"
	if in.Size > 0 {
		code = fmt.Sprintf("%-8s", fmt.Sprintf("%0*x", 2*in.Size, in.Code))
	}
	_, t.err = fmt.Fprintf(t.w, "%d %10d %08x %s %s\n", in.Core, in.Count, in.PC, code, t.syms.Format(in.PC))
}

func (t *trace) close() error {
	err := t.err
	if ferr := t.w.Flush(); err == nil {
		err = ferr
	}
	if cerr := t.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return traceFault(err)
	}
	return nil
}
