package mcp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/session"
)

var sessionTools = []*tool{
	define("session_list", Observe, look, "List the sessions this channel may know of.", sessionList),
	define("session_status", Observe, look, "The session, and where its program stands.", func(ctx context.Context, c *call, _ none) (any, error) {
		return c.srv.opt.Verb(ctx, "session", "status", c.place.Record.Instance)
	}),
	define("session_context", Observe, look, "Paths, commands and limits of the session.", func(ctx context.Context, c *call, _ none) (any, error) {
		return c.srv.opt.Verb(ctx, "session", "context", c.place.Record.Instance)
	}),
	define("log_tail", Observe, look, "The end of a log: of the program (what it printed) or of the session's keeper.", logTail),
	define("audit_tail", Observe, look, "The last records of what agents did in this session.", auditTail),
	define("student_notify", Assist, act, "Show the person a short note in their editor.", studentNotify),
}

// sessionList is session list --json without what the channel may not know of.
func sessionList(ctx context.Context, c *call, _ none) (any, error) {
	doc, err := c.srv.opt.Verb(ctx, "session", "list")
	if err != nil {
		return nil, err
	}
	var all struct {
		Sessions []json.RawMessage `json:"sessions"`
	}
	if err := json.Unmarshal(doc, &all); err != nil {
		return nil, faults.Internal(err)
	}
	out := struct {
		Sessions []json.RawMessage `json:"sessions"`
	}{[]json.RawMessage{}}
	for _, s := range all.Sessions {
		var one struct{ Instance string }
		if json.Unmarshal(s, &one) == nil && c.srv.opt.Allowed(one.Instance) {
			out.Sessions = append(out.Sessions, s)
		}
	}
	return document("session-list", out)
}

type logArgs struct {
	Log   string `json:"log,omitempty" jsonschema:"program (default) or keeper"`
	Lines int    `json:"lines,omitempty" jsonschema:"how many lines, 1 to 500; 100 if not given"`
}

func logTail(_ context.Context, c *call, in logArgs) (any, error) {
	if in.Lines == 0 {
		in.Lines = 100
	}
	if in.Lines < 1 || in.Lines > 500 {
		return nil, badArgument("lines", "1 to 500")
	}
	var text string
	switch in.Log {
	case "", "program":
		ring, err := c.place.programLog()
		if err != nil {
			return nil, err
		}
		defer ring.Close()
		if text, _, err = ring.tail(maxText); err != nil {
			return nil, faults.Internal(err)
		}
	case "keeper":
		data, err := readInside(session.LogPath(c.place.Dir), 64<<20)
		if err != nil {
			data = nil
		}
		text = string(data)
	default:
		return nil, badArgument("log", "program or keeper")
	}
	text, _ = clipTail(Clean(text), maxText)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	cut := len(lines) > in.Lines
	if cut {
		lines = lines[len(lines)-in.Lines:]
	}
	o := outside("log "+in.Log, strings.Join(lines, "\n"))
	o.Truncated = o.Truncated || cut
	return document("mcp-log", o)
}

type auditArgs struct {
	Count int `json:"count,omitempty" jsonschema:"how many records, 1 to 200; 20 if not given"`
}

func auditTail(_ context.Context, c *call, in auditArgs) (any, error) {
	if in.Count == 0 {
		in.Count = 20
	}
	if in.Count < 1 || in.Count > 200 {
		return nil, badArgument("count", "1 to 200")
	}
	return c.srv.auditTail(c.place.Record.Instance, in.Count)
}

type notifyArgs struct {
	Text string `json:"text" jsonschema:"one or a few lines, up to 500 characters"`
}

func studentNotify(ctx context.Context, c *call, in notifyArgs) (any, error) {
	text := strings.TrimSpace(Clean(in.Text))
	if text == "" || len(text) > 500 {
		return nil, badArgument("text", "1 to 500 characters")
	}
	if err := c.place.lua(ctx, luaNotify, nil, text); err != nil {
		return nil, err
	}
	return document("mcp-notify", map[string]any{"shown": text})
}

// logPath is the program's log, below the card.
func (p *Place) logPath() string {
	return filepath.Join(".stem", "instances", p.Record.Instance, "program.log")
}
