package mcp

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/gdbsync"
)

var debugActs = []*tool{
	define("debug_halt", Assist, act, "Stop the program.", debugHalt).idempotent(),
	define("debug_continue", Assist, act, "Let the program go on; wait for a stop up to timeout_ms.", runs("exec-continue")),
	define("debug_step", Assist, act, "Execute one source line, into calls.", runs("exec-step")),
	define("debug_next", Assist, act, "Execute one source line, over calls.", runs("exec-next")),
	define("debug_finish", Assist, act, "Run until the current function returns.", runs("exec-finish")),
	define("debug_until", Assist, act, "Run to a place.", debugUntil),
	define("debug_break_set", Assist, act, "Set a breakpoint at FILE:LINE, FUNCTION or *0xADDRESS, perhaps with a condition that compares.", breakSet),
	define("debug_break_clear", Assist, act, "Delete a breakpoint.", breakClear).idempotent(),
	define("debug_select_frame", Assist, act, "Look at another frame, in the person's gdb and editor, too.", selectFrame).idempotent(),
	define("debug_eval", Assist, act, "The value of an expression: names, registers, numbers, . -> [] * & and operators. Nothing is called or assigned; registers of peripherals are not read.", debugEval).idempotent(),
	define("target_reset", Assist, destroy, "Start the program again from its beginning: what it had in RAM is lost.", targetReset).idempotent().starts(),
}

type runArgs struct {
	TimeoutMS int `json:"timeout_ms,omitempty" jsonschema:"how long to wait for the program to stop, up to 45000; 2000 if not given"`
}

const runWait = 2 * time.Second

// runs makes a tool that lets the program run with an operation.
func runs(operation string) func(context.Context, *call, runArgs) (any, error) {
	return func(ctx context.Context, c *call, in runArgs) (any, error) {
		limit, err := waitTime(in.TimeoutMS, runWait)
		if err != nil {
			return nil, err
		}
		before, err := c.place.halted()
		if err != nil {
			return nil, err
		}
		if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: operation}); err != nil {
			return nil, err
		}
		return c.stop(ctx, before.Stops, limit)
	}
}

// stop waits for the next stop, and returns where the program is then.
func (c *call) stop(ctx context.Context, stops uint64, limit time.Duration) (*gdbsync.State, error) {
	var s *gdbsync.State
	_, err := c.await(ctx, limit, "the program runs", func() (bool, error) {
		var err error
		s, err = c.place.sync()
		return err == nil && s.Stops > stops && s.State != gdbsync.Running || err == nil && ended(s.State), err
	})
	return s, err
}

func ended(p gdbsync.Phase) bool {
	return p == gdbsync.Exited || p == gdbsync.GdbEnded || p == gdbsync.Disconnected || p == gdbsync.NoProgram
}

func debugHalt(ctx context.Context, c *call, _ none) (any, error) {
	s, err := c.place.sync()
	if err != nil || s.State != gdbsync.Running {
		return s, err
	}
	if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "exec-interrupt"}); err != nil {
		return nil, err
	}
	return c.stop(ctx, s.Stops, defaultWait)
}

type untilArgs struct {
	Location  string `json:"location" jsonschema:"FILE:LINE, FUNCTION or *0xADDRESS"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"how long to wait for the program to stop, up to 45000; 2000 if not given"`
}

func debugUntil(ctx context.Context, c *call, in untilArgs) (any, error) {
	where, err := parseLocation(in.Location)
	if err != nil {
		return nil, err
	}
	limit, err := waitTime(in.TimeoutMS, runWait)
	if err != nil {
		return nil, err
	}
	before, err := c.place.halted()
	if err != nil {
		return nil, err
	}
	if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "break-insert", Params: append([]string{"-t"}, where...)}); err != nil {
		return nil, err
	}
	if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "exec-continue"}); err != nil {
		return nil, err
	}
	return c.stop(ctx, before.Stops, limit)
}

type breakArgs struct {
	Location  string `json:"location" jsonschema:"FILE:LINE, FUNCTION or *0xADDRESS"`
	Condition string `json:"condition,omitempty" jsonschema:"comparisons joined by && and ||, such as i == 5 && p->n > 0"`
	Temporary bool   `json:"temporary,omitempty" jsonschema:"delete it when it is hit"`
}

// plainLanguage are gdb's languages whose operators are never functions of the program.
var plainLanguage = regexp.MustCompile(`language is "(auto; currently )?(c|asm|minimal)"`)

func breakSet(ctx context.Context, c *call, in breakArgs) (any, error) {
	where, err := parseLocation(in.Location)
	if err != nil {
		return nil, err
	}
	var params []string
	if in.Temporary {
		params = append(params, "-t")
	}
	if in.Condition != "" {
		cond, err := parseCondition(in.Condition)
		if err != nil {
			return nil, err
		}
		// A condition is evaluated later, without a guard: in C++ a comparison can
		// be a function.
		r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "interpreter-exec", Params: []string{"console", "show language"}})
		if err != nil {
			return nil, err
		}
		if !plainLanguage.MatchString(r.Console) {
			return nil, refused("conditions are for programs in C and assembler: elsewhere a comparison can call a function", Clean(strings.TrimSpace(r.Console)))
		}
		params = append(params, "-c", cond)
	}
	s, err := c.place.sync()
	if err != nil {
		return nil, err
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "break-insert", Params: append(params, where...), Pause: true})
	if err != nil {
		return nil, err
	}
	number := r.Results.Get("bkpt").Str("number")
	// The file says so once gdb's answer was taken into account.
	_, err = c.await(ctx, defaultWait, "setting a breakpoint", func() (bool, error) {
		var err error
		s, err = c.place.sync()
		return err == nil && breakpoint(s, number) != nil, err
	})
	if err != nil {
		return nil, err
	}
	return document("mcp-breakpoint", map[string]any{"sequence": s.Sequence, "breakpoint": breakpoint(s, number)})
}

func breakpoint(s *gdbsync.State, number string) *gdbsync.Breakpoint {
	for i := range s.Breakpoints {
		if s.Breakpoints[i].Number == number {
			return &s.Breakpoints[i]
		}
	}
	return nil
}

type clearArgs struct {
	Number int `json:"number" jsonschema:"the breakpoint's number"`
}

func breakClear(ctx context.Context, c *call, in clearArgs) (any, error) {
	if in.Number < 1 {
		return nil, badArgument("number", "a breakpoint's number")
	}
	s, err := c.place.sync()
	if err != nil {
		return nil, err
	}
	number := strconv.Itoa(in.Number)
	if breakpoint(s, number) != nil {
		if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "break-delete", Params: []string{number}, Pause: true}); err != nil {
			return nil, err
		}
		if _, err = c.await(ctx, defaultWait, "deleting a breakpoint", func() (bool, error) {
			var err error
			s, err = c.place.sync()
			return err == nil && breakpoint(s, number) == nil, err
		}); err != nil {
			return nil, err
		}
	}
	return document("mcp-breakpoints", map[string]any{"sequence": s.Sequence, "breakpoints": s.Breakpoints})
}

func selectFrame(ctx context.Context, c *call, in frameArgs) (any, error) {
	if in.Frame < 0 || in.Frame > 10000 {
		return nil, badArgument("frame", "a level from 0")
	}
	if _, err := c.place.halted(); err != nil {
		return nil, err
	}
	if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "interpreter-exec", Params: []string{"console", "frame " + strconv.Itoa(in.Frame)}, Guard: c.place.guard()}); err != nil {
		return nil, err
	}
	var s *gdbsync.State
	_, err := c.await(ctx, defaultWait, "selecting a frame", func() (bool, error) {
		var err error
		s, err = c.place.sync()
		return err == nil && (s.Frame == nil || s.Frame.Level == in.Frame), err
	})
	return s, err
}

type evalArgs struct {
	Expression string `json:"expression" jsonschema:"for example list->next->value, buffer[2], *p@4, $sp"`
}

func debugEval(ctx context.Context, c *call, in evalArgs) (any, error) {
	expr, err := parseExpr(in.Expression)
	if err != nil {
		return nil, err
	}
	s, err := c.place.halted()
	if err != nil {
		return nil, err
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "data-evaluate-expression", Params: []string{expr}, Guard: c.place.guard()})
	if err != nil {
		return nil, err
	}
	value, cut := clipHead(Clean(r.Results.Str("value")), 8<<10)
	return document("mcp-value", map[string]any{
		"sequence": s.Sequence, "expression": in.Expression, "value": value, "untrusted": true, "truncated": cut,
	})
}

func targetReset(ctx context.Context, c *call, in runArgs) (any, error) {
	limit, err := waitTime(in.TimeoutMS, runWait)
	if err != nil {
		return nil, err
	}
	s, err := c.place.sync()
	if err != nil {
		return nil, err
	}
	if s.State == gdbsync.Running {
		if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "exec-interrupt"}); err != nil {
			return nil, err
		}
		if s, err = c.stop(ctx, s.Stops, defaultWait); err != nil {
			return nil, err
		}
	}
	if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "restart"}); err != nil {
		return nil, err
	}
	return c.stop(ctx, s.Stops, limit)
}
