package mcp

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

var paneTools = []*tool{
	define("pane_list", Observe, look, "The windows of the session's tmux.", func(ctx context.Context, c *call, _ none) (any, error) {
		panes, err := c.place.panes(ctx)
		if err != nil {
			return nil, err
		}
		return document("mcp-panes", map[string]any{"panes": panes})
	}),
	define("pane_capture", Observe, look, "What a window shows (and its last lines), or with after what it printed since that sequence number. "+
		"Nothing is taken away: give next as after to go on.", paneCapture),
	define("pane_wait", Observe, look, "Wait until a window prints something that matches, or is quiet for a time.", paneWait),
}

// pane is one window.
type pane struct {
	ID      string `json:"id"`
	Window  string `json:"window"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Dead    bool   `json:"dead,omitempty"`
	Command string `json:"command"`
	History int    `json:"history"`
	// Next is the sequence number of what it prints next.
	Next int64 `json:"next"`
}

const paneFormat = "#{pane_id}\t#{pane_width}\t#{pane_height}\t#{pane_dead}\t#{history_size}\t#{pane_current_command}\t#{window_name}"

// tmux runs one command of the session's tmux.
func (p *Place) tmux(ctx context.Context, args ...string) (string, error) {
	if err := p.running(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := p.Inside.Run(ctx, append([]string{"tmux", "-S", p.Record.Folder().Tmux()}, args...), 4<<20)
	if err != nil {
		return "", &faults.Fault{Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "tmux cannot be asked", Err: err}
	}
	return string(out), nil
}

func (p *Place) panes(ctx context.Context) ([]pane, error) {
	if err := p.running(); err != nil {
		return nil, err
	}
	if err := p.Watch.begin(ctx); err != nil {
		return nil, &faults.Fault{Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "tmux cannot be watched", Err: err}
	}
	out, err := p.tmux(ctx, "list-panes", "-s", "-t", "stem", "-F", paneFormat)
	if err != nil {
		return nil, err
	}
	all := []pane{}
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		f := strings.SplitN(line, "\t", 7)
		if len(f) != 7 || !paneID.MatchString(f[0]) {
			continue
		}
		n := func(s string) int { v, _ := strconv.Atoi(s); return v }
		one := pane{ID: f[0], Width: n(f[1]), Height: n(f[2]), Dead: f[3] == "1", History: n(f[4]), Command: Clean(f[5]), Window: Clean(f[6])}
		_, _, one.Next, _, _ = p.Watch.look(one.ID, -1)
		all = append(all, one)
	}
	return all, nil
}

var paneID = regexp.MustCompile(`^%[0-9]{1,6}$`)

// pane finds a window by its name or its id.
func (p *Place) pane(ctx context.Context, name string) (*pane, error) {
	all, err := p.panes(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range all {
		if all[i].ID == name || all[i].Window == name {
			return &all[i], nil
		}
		names = append(names, all[i].Window)
	}
	return nil, badArgument("pane", strings.Join(names, ", "))
}

type captureArgs struct {
	Pane  string `json:"pane" jsonschema:"editor, gdb, console, log, or an id such as %1"`
	Lines int    `json:"lines,omitempty" jsonschema:"how many lines of history above the screen, up to 1000"`
	After *int64 `json:"after,omitempty" jsonschema:"a sequence number: what was printed since, in place of the screen"`
}

// paneText is what a window shows or printed.
type paneText struct {
	Pane   string `json:"pane"`
	Window string `json:"window"`
	Outside
	From *int64 `json:"from,omitempty"`
	Next int64  `json:"next"`
	// Lost says that a part since after is gone.
	Lost    bool  `json:"lost,omitempty"`
	Matched *bool `json:"matched,omitempty"`
	Quiet   *bool `json:"quiet,omitempty"`
}

func paneCapture(ctx context.Context, c *call, in captureArgs) (any, error) {
	if in.Lines < 0 || in.Lines > 1000 {
		return nil, badArgument("lines", "0 to 1000")
	}
	p, err := c.place.pane(ctx, in.Pane)
	if err != nil {
		return nil, err
	}
	out := paneText{Pane: p.ID, Window: p.Window, Next: p.Next}
	if in.After != nil {
		if *in.After < 0 {
			return nil, badArgument("after", "a sequence number")
		}
		text, from, next, lost, _ := c.place.Watch.look(p.ID, *in.After)
		if over := len(text) - maxText; over > 0 {
			text, next = text[:maxText], next-int64(over)
		}
		out.Outside, out.From, out.Next, out.Lost = outside("the window "+p.Window, text), &from, next, lost
		return document("mcp-pane", out)
	}
	text, err := c.place.screen(ctx, p, in.Lines)
	if err != nil {
		return nil, err
	}
	out.Outside = outside("the window "+p.Window, text)
	return document("mcp-pane", out)
}

// screen is what a window shows.
func (p *Place) screen(ctx context.Context, w *pane, history int) (string, error) {
	args := []string{"capture-pane", "-p", "-J", "-t", w.ID}
	if history > 0 {
		args = append(args, "-S", strconv.Itoa(-history))
	}
	text, err := p.tmux(ctx, args...)
	return strings.TrimRight(text, "\n"), err
}

type paneWaitArgs struct {
	Pane      string `json:"pane" jsonschema:"editor, gdb, console, log, or an id such as %1"`
	Pattern   string `json:"pattern,omitempty" jsonschema:"a regular expression (RE2); without after the screen counts, too"`
	QuietMS   int    `json:"quiet_ms,omitempty" jsonschema:"or wait until nothing is printed for this long, up to 10000"`
	After     *int64 `json:"after,omitempty" jsonschema:"the sequence number to look from"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"how long to wait, up to 45000; 5000 if not given"`
}

func paneWait(ctx context.Context, c *call, in paneWaitArgs) (any, error) {
	if (in.Pattern == "") == (in.QuietMS == 0) {
		return nil, badArgument("pattern, quiet_ms", "one of them")
	}
	if in.QuietMS < 0 || in.QuietMS > 10000 || in.After != nil && *in.After < 0 {
		return nil, badArgument("quiet_ms, after", "up to 10000, and a sequence number")
	}
	var re *regexp.Regexp
	var err error
	if in.Pattern != "" {
		if re, err = pattern(in.Pattern); err != nil {
			return nil, err
		}
	}
	limit, err := waitTime(in.TimeoutMS, defaultWait)
	if err != nil {
		return nil, err
	}
	p, err := c.place.pane(ctx, in.Pane)
	if err != nil {
		return nil, err
	}
	return c.waitPane(ctx, p, re, in, limit)
}

func (c *call) waitPane(ctx context.Context, p *pane, re *regexp.Regexp, in paneWaitArgs, limit time.Duration) (any, error) {
	after := p.Next
	if in.After != nil {
		after = *in.After
	}
	start := time.Now()
	quiet := time.Duration(in.QuietMS) * time.Millisecond
	seen := int64(-1)
	onScreen := in.After == nil && re != nil
	ok, err := c.await(ctx, limit, "waiting for the window "+p.Window, func() (bool, error) {
		text, _, next, _, last := c.place.Watch.look(p.ID, after)
		if re == nil {
			return time.Since(last) >= quiet && time.Since(start) >= quiet, nil
		}
		if next == seen {
			return false, nil
		}
		seen = next
		if re.MatchString(Clean(text)) {
			return true, nil
		}
		if !onScreen {
			return false, nil
		}
		text, err := c.place.screen(ctx, p, 0)
		return err == nil && re.MatchString(Clean(text)), err
	})
	if err != nil {
		return nil, err
	}
	text, from, next, lost, _ := c.place.Watch.look(p.ID, after)
	out := paneText{Pane: p.ID, Window: p.Window, From: &from, Next: next, Lost: lost, Outside: outside("the window "+p.Window, text)}
	if re != nil {
		out.Matched = &ok
	} else {
		out.Quiet = &ok
	}
	return document("mcp-pane", out)
}
