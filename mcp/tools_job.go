package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/job"
	"github.com/stem-hw/stem-hw/mcp/audit"
)

var jobTools = []*tool{
	define("job_list", Observe, look, "What was asked for in this session: flash and erase requests, and what became of them.", func(ctx context.Context, c *call, in jobListArgs) (any, error) {
		return c.jobs(ctx, job.Filter{State: job.State(in.State), Limit: 50})
	}),
	define("approval_list", Observe, look, "What waits for a person to approve.", func(ctx context.Context, c *call, _ none) (any, error) {
		return c.jobs(ctx, job.Filter{State: job.AwaitingApproval, Limit: 50})
	}),
	define("job_get", Observe, look, "One request with its history.", func(ctx context.Context, c *call, in jobArgs) (any, error) {
		j, err := c.job(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return document("job", j)
	}),
	define("job_wait", Observe, look, "Wait until a request changes, or is over.", jobWait),
	define("flash_request", Assist, destroy, "Ask for a program of the card to be written into a board. A person approves it (stem-hw job approve); the same request again is the first one.", flashRequest).idempotent(),
	define("flash_erase_request", Full, destroy, "Ask for a part of a board's flash, or all of it, to be erased. A person approves it.", eraseRequest).idempotent(),
	define("job_cancel", Full, destroy, "Take a request back that has not begun.", jobCancel).idempotent(),
}

type jobListArgs struct {
	State string `json:"state,omitempty" jsonschema:"only those in this state, such as awaiting_approval"`
}

type jobArgs struct {
	ID string `json:"id" jsonschema:"the request's id"`
}

func (c *call) jobs(ctx context.Context, f job.Filter) (any, error) {
	if f.State != "" && !slices.Contains(job.States(), f.State) {
		return nil, badArgument("state", fmt.Sprint(job.States()))
	}
	f.Instance = c.place.Record.Instance
	all, err := c.srv.opt.Jobs.List(ctx, f)
	if err != nil {
		return nil, err
	}
	return document("job-list", map[string]any{"jobs": all})
}

// job finds a request of the session's own.
func (c *call) job(ctx context.Context, id string) (*job.Job, error) {
	j, err := c.srv.opt.Jobs.Get(ctx, id)
	if err == nil && j.Instance != c.place.Record.Instance {
		err = &faults.Fault{Code: faults.CodeNoJob, Status: faults.StatusNotFound, Summary: "there is no such job", Seen: id, Try: []string{"job_list"}}
	}
	return j, err
}

type jobWaitArgs struct {
	ID        string `json:"id" jsonschema:"the request's id"`
	State     string `json:"state,omitempty" jsonschema:"wait until it is no longer in this state; the one it is in now if not given"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"how long to wait, up to 45000; 5000 if not given"`
}

func jobWait(ctx context.Context, c *call, in jobWaitArgs) (any, error) {
	limit, err := waitTime(in.TimeoutMS, defaultWait)
	if err != nil {
		return nil, err
	}
	j, err := c.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	from := job.State(in.State)
	if from == "" {
		from = j.State
	}
	_, err = c.await(ctx, limit, "the request is "+string(j.State), func() (bool, error) {
		var err error
		j, err = c.job(ctx, in.ID)
		return err == nil && (j.State != from || !j.State.Live()), err
	})
	if err != nil {
		return nil, err
	}
	return document("job", j)
}

type flashArgs struct {
	Path   string `json:"path" jsonschema:"the firmware file, a path in the card"`
	Board  string `json:"board,omitempty" jsonschema:"the board; the session's own if not given"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for the person who decides; up to 300 characters"`
}

// Prepared is what is known of a board and of what a request would change on it.
type Prepared struct {
	Selector, Serial, Chip string
	Changes                json.RawMessage
}

// requester is who asks.
func (c *call) requester() job.Requester {
	r := job.Requester{Account: c.srv.opt.Who.Account, Level: c.srv.opt.Level.String(), Key: c.srv.opt.Who.Key}
	if info := c.req.ClientInfo(); info != nil {
		r.Client = audit.Text(Clean(info.Name + " " + info.Version))
	}
	return r
}

func reason(text string) (string, error) {
	text = strings.TrimSpace(Clean(text))
	if len(text) > 300 {
		return "", badArgument("reason", "up to 300 characters")
	}
	return text, nil
}

func flashRequest(ctx context.Context, c *call, in flashArgs) (any, error) {
	name, err := c.place.selector(in.Board)
	if err != nil {
		return nil, err
	}
	why, err := reason(in.Reason)
	if err != nil {
		return nil, err
	}
	rel, err := c.place.inCard(in.Path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.place.Record.Card)
	if err != nil {
		return nil, faults.Internal(err)
	}
	defer root.Close()
	f, err := root.Open(rel)
	if err != nil {
		return nil, &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage, Summary: "the file cannot be read", Seen: rel, Err: err}
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, refused("this is no plain file", rel)
	}
	digest, size, err := c.srv.opt.Jobs.Keep(f)
	if err != nil {
		return nil, err
	}
	p, err := c.srv.opt.Prepare(ctx, "flash", name, c.srv.opt.Jobs.ImagePath(digest), nil)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, job.Request{
		Kind: "flash", Board: p.Selector, Serial: p.Serial, Chip: p.Chip, SHA256: digest, Size: size, Name: filepath.ToSlash(rel), Changes: p.Changes, Reason: why,
	})
}

// ask puts a request into the queue.
func (c *call) ask(ctx context.Context, r job.Request) (any, error) {
	r.Instance, r.Requester = c.place.Record.Instance, c.requester()
	j, _, err := c.srv.opt.Jobs.Add(ctx, r)
	if err != nil {
		return nil, err
	}
	return document("job", j)
}

type eraseArgs struct {
	Board  string `json:"board,omitempty" jsonschema:"the board; the session's own if not given"`
	Range  string `json:"range,omitempty" jsonschema:"a range of flash such as 0x10100000-0x10101000; all of it if not given"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for the person who decides; up to 300 characters"`
}

func eraseRequest(ctx context.Context, c *call, in eraseArgs) (any, error) {
	name, err := c.place.selector(in.Board)
	if err != nil {
		return nil, err
	}
	why, err := reason(in.Reason)
	if err != nil {
		return nil, err
	}
	options := []string{"--all"}
	if in.Range != "" {
		if !rangeForm.MatchString(in.Range) {
			return nil, badArgument("range", "two numbers, such as 0x10100000-0x10101000")
		}
		options = []string{"--", in.Range}
	}
	p, err := c.srv.opt.Prepare(ctx, "erase", name, "", options)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, job.Request{Kind: "erase", Board: p.Selector, Serial: p.Serial, Chip: p.Chip, Options: options, Changes: p.Changes, Reason: why})
}

func jobCancel(ctx context.Context, c *call, in jobArgs) (any, error) {
	j, err := c.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if j.State != job.Cancelled {
		if j, err = c.srv.opt.Jobs.Cancel(ctx, j.ID, c.requester().Account+", "+c.requester().Client); err != nil {
			return nil, err
		}
	}
	return document("job", j)
}

// auditTail are the last records of a session.
func (s *Server) auditTail(instance string, count int) (any, error) {
	all, _, err := s.opt.Audit.Read(audit.Filter{Instance: instance, Last: count})
	if err != nil {
		return nil, faults.Internal(err)
	}
	return document("mcp-audit-list", map[string]any{"records": all})
}
