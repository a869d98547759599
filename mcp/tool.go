package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

// kind is what a tool does to the world.
type kind uint8

const (
	// look reads and changes nothing.
	look kind = iota
	// act changes something that can be changed back.
	act
	// destroy loses something.
	destroy
)

// tool is one tool of a level.
type tool struct {
	name  string
	level Level
	kind  kind
	// again says that doing it twice is doing it once.
	again bool
	// inside says that it exists only in a session with a container.
	inside bool
	// run says that it starts the program: one of this computer only in a container.
	run bool
	// text tells a model what it is for.
	text string
	add  func(t *tool, srv *Server)
}

// define makes a tool of a function. In is a flat struct: its fields are the
// arguments.
func define[In any](name string, level Level, k kind, text string, f func(ctx context.Context, c *call, in In) (any, error)) *tool {
	return &tool{
		name: name, level: level, kind: k, again: k == look, text: text,
		add: func(t *tool, srv *Server) {
			sdk.AddTool(srv.mcp, t.declaration(), func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
				ctx, cancel := srv.callContext(ctx)
				defer cancel()
				c := &call{srv: srv, req: req}
				var out any
				p, err := srv.opt.Place(ctx)
				if err == nil && !t.exists(srv.opt.Level, p) {
					// The selection changed in between.
					err = refused("the session that is selected now has no such tool", t.name)
				}
				if err == nil {
					c.place = p
					out, err = f(ctx, c, in)
				}
				if err != nil {
					return failure(err), nil, nil
				}
				return nil, out, nil
			})
		},
	}
}

// idempotent marks a tool that may be called twice.
func (t *tool) idempotent() *tool {
	t.again = true
	return t
}

// starts marks a tool that starts the program.
func (t *tool) starts() *tool {
	t.run = true
	return t
}

// exists says whether a tool is there on a level for a session; nil is none yet.
func (t *tool) exists(l Level, p *Place) bool {
	contained := p != nil && p.Contained()
	switch {
	case t.level > l, (t.inside || t.level == Full) && !contained:
		return false
	}
	return !t.run || p == nil || !p.native() || contained
}

// contained marks a tool that needs a container.
func (t *tool) contained() *tool {
	t.inside = true
	return t
}

// declaration is what a client sees.
func (t *tool) declaration() *sdk.Tool {
	no, destroys := false, t.kind == destroy
	return &sdk.Tool{
		Name: t.name, Description: t.text,
		Annotations: &sdk.ToolAnnotations{
			Title: strings.ReplaceAll(t.name, "_", " "), ReadOnlyHint: t.kind == look, DestructiveHint: &destroys, IdempotentHint: t.again, OpenWorldHint: &no,
		},
	}
}

// call is one call of a tool.
type call struct {
	srv   *Server
	place *Place
	req   *sdk.CallToolRequest
}

// progress tells a client that asked for it how a wait goes on.
func (c *call) progress(ctx context.Context, done, total float64, text string) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	_ = c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: text})
}

// Bounds of a wait.
const (
	defaultWait = 5 * time.Second
	maxWait     = 45 * time.Second
	pollTime    = 15 * time.Millisecond
	tellTime    = 2 * time.Second
)

// waitTime is the time a caller asked for, within bounds.
func waitTime(ms int, usual time.Duration) (time.Duration, error) {
	if ms == 0 {
		return usual, nil
	}
	d := time.Duration(ms) * time.Millisecond
	if ms < 0 || d > maxWait {
		return 0, badArgument("timeout_ms", "1 to 45000")
	}
	return d, nil
}

// await asks ok again and again until it says yes or the time is over. It says
// whether it did.
func (c *call) await(ctx context.Context, limit time.Duration, what string, ok func() (bool, error)) (bool, error) {
	start := time.Now()
	told := start
	for {
		done, err := ok()
		if done || err != nil {
			return done, err
		}
		now := time.Now()
		if now.Sub(start) >= limit {
			return false, nil
		}
		if now.Sub(told) >= tellTime {
			told = now
			c.progress(ctx, now.Sub(start).Seconds(), limit.Seconds(), what)
		}
		t := time.NewTimer(pollTime)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return false, context.Cause(ctx)
		}
	}
}

// document gives a value its schema, as the command line does.
func document(kind string, v any) (json.RawMessage, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, faults.Internal(err)
	}
	head, err := json.Marshal(ui.Schema(kind))
	if err != nil {
		return nil, faults.Internal(err)
	}
	out := append([]byte(`{"schema":`), head...)
	if len(doc) > 2 {
		out = append(out, ',')
	}
	return append(out, doc[1:]...), nil
}

// failure is the result of a tool that could not do it: the fault as the command
// line shows it.
func failure(err error) *sdk.CallToolResult {
	f := faults.Of(err)
	if f == nil {
		f = faults.Internal(err)
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			f = &faults.Fault{Code: faults.CodeInterrupted, Status: faults.StatusInterrupted, Summary: "the call was cancelled"}
		}
	}
	d := ui.FaultDocument{Code: f.Code, Status: f.Status, Summary: f.Summary, Seen: f.Seen, Wanted: f.Wanted, Details: f.Details, Try: f.Try}
	if f.Err != nil {
		d.Cause = f.Err.Error()
	}
	doc, derr := document("error", d)
	if derr != nil {
		doc = json.RawMessage(`{}`)
	}
	text, _ := clipHead(Clean(f.Error()), 4<<10)
	for _, t := range f.Try {
		text += "\ntry: " + Clean(t)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: doc}
}

// badArgument is the fault of an argument that cannot be used.
func badArgument(name, wanted string) *faults.Fault {
	f := faults.Usage("the argument %s cannot be used", name)
	f.Wanted = wanted
	return f
}

// refused is a fault by policy.
func refused(summary, seen string, try ...string) *faults.Fault {
	return &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: summary, Seen: seen, Try: try}
}
