package mcp

import (
	"context"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/gdbsync/mi"
)

var debugTools = []*tool{
	define("debug_state", Observe, look, "Where the program stands: state, reason, frame, breakpoints, threads.", func(_ context.Context, c *call, _ none) (any, error) {
		return c.place.sync()
	}),
	define("debug_breakpoints", Observe, look, "The breakpoints and watchpoints.", func(_ context.Context, c *call, _ none) (any, error) {
		s, err := c.place.sync()
		if err != nil {
			return nil, err
		}
		return document("mcp-breakpoints", map[string]any{"sequence": s.Sequence, "breakpoints": s.Breakpoints})
	}),
	define("debug_backtrace", Observe, look, "The calls that led to where the program stands.", debugBacktrace),
	define("debug_locals", Observe, look, "Arguments and local variables of a frame.", debugLocals),
	define("debug_registers", Observe, look, "The general registers.", debugRegisters),
}

// frame is one call.
type frame struct {
	Level    int    `json:"level"`
	Function string `json:"function,omitempty"`
	Path     string `json:"path,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Address  string `json:"address"`
}

const maxFrames = 64

func debugBacktrace(ctx context.Context, c *call, _ none) (any, error) {
	s, err := c.place.halted()
	if err != nil {
		return nil, err
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "stack-list-frames", Params: []string{"0", strconv.Itoa(maxFrames)}, Guard: c.place.guard()})
	if err != nil {
		return nil, err
	}
	frames := []frame{}
	for _, f := range r.Results.Get("stack").Fields {
		v := f.Value
		if v.Kind == mi.Tuple && len(frames) < maxFrames {
			frames = append(frames, frame{v.Int("level"), Clean(v.Str("func")), Clean(v.Str("fullname")), Clean(v.Str("file")), v.Int("line"), Clean(v.Str("addr"))})
		}
	}
	return document("mcp-backtrace", map[string]any{"sequence": s.Sequence, "thread": s.Thread, "frames": frames})
}

type frameArgs struct {
	Frame int `json:"frame,omitempty" jsonschema:"the frame's level; 0 is the innermost"`
}

type variable struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Value    string `json:"value,omitempty"`
	Argument bool   `json:"argument,omitempty"`
}

// maxValue bounds one value.
const maxValue = 400

func debugLocals(ctx context.Context, c *call, in frameArgs) (any, error) {
	if in.Frame < 0 || in.Frame > 10000 {
		return nil, badArgument("frame", "a level from 0")
	}
	s, err := c.place.halted()
	if err != nil {
		return nil, err
	}
	thread := s.Thread
	if _, err := strconv.ParseUint(thread, 10, 32); err != nil {
		thread = "1"
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{
		Operation: "stack-list-variables", Params: []string{"--thread", thread, "--frame", strconv.Itoa(in.Frame), "--simple-values"}, Guard: c.place.guard(),
	})
	if err != nil {
		return nil, err
	}
	out := []variable{}
	for _, f := range r.Results.Get("variables").Fields {
		v := f.Value
		value, _ := clipHead(Clean(v.Str("value")), maxValue)
		out = append(out, variable{Clean(v.Str("name")), Clean(v.Str("type")), value, v.Str("arg") == "1"})
		if len(out) == 200 {
			break
		}
	}
	return document("mcp-locals", map[string]any{"sequence": s.Sequence, "frame": in.Frame, "untrusted": true, "variables": out})
}

// general are the names of registers that every program uses: those of RISC-V,
// Arm and x86-64. Reading others can have side effects.
var general = strings.Fields(`zero ra sp gp tp t0 t1 t2 fp s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 pc
 r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 lr xpsr msp psp
 rax rbx rcx rdx rsi rdi rbp rsp r13 r14 r15 rip eflags`)

type register struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func debugRegisters(ctx context.Context, c *call, _ none) (any, error) {
	s, err := c.place.halted()
	if err != nil {
		return nil, err
	}
	numbers, names, err := c.place.registers(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "data-list-register-values", Params: append([]string{"x"}, numbers...), Guard: c.place.guard()})
	if err != nil {
		return nil, err
	}
	out := []register{}
	for _, f := range r.Results.Get("register-values").Fields {
		if name := names[f.Value.Str("number")]; name != "" {
			out = append(out, register{name, Clean(f.Value.Str("value"))})
		}
	}
	return document("mcp-registers", map[string]any{"sequence": s.Sequence, "registers": out})
}

// registers are the numbers of the general registers, and their names.
func (p *Place) registers(ctx context.Context) (numbers []string, names map[string]string, err error) {
	r, err := p.gdb(ctx, gdbsync.Call{Operation: "data-list-register-names"})
	if err != nil {
		return nil, nil, err
	}
	names = map[string]string{}
	for i, f := range r.Results.Get("register-names").Fields {
		for _, g := range general {
			if f.Value.Text == g {
				n := strconv.Itoa(i)
				numbers, names[n] = append(numbers, n), g
			}
		}
	}
	return numbers, names, nil
}
