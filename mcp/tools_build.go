package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
)

var buildTools = []*tool{
	define("build_run", Assist, act, "Build the session's card, in its container: no network, no device, the card alone.", builds("build")).contained(),
	define("test_run", Assist, act, "Run the tests of the session's card, in its container.", builds("test")).contained(),
}

type buildArgs struct {
	TimeoutMS int `json:"timeout_ms,omitempty" jsonschema:"how long it may take, up to 300000; 45000 if not given"`
}

// maxBuild bounds a build.
const maxBuild = 5 * time.Minute

// builds makes a tool that runs a named thing of the card's in the container.
func builds(name string) func(context.Context, *call, buildArgs) (any, error) {
	return func(ctx context.Context, c *call, in buildArgs) (any, error) {
		limit := maxWait
		if in.TimeoutMS != 0 {
			limit = time.Duration(in.TimeoutMS) * time.Millisecond
		}
		if limit <= 0 || limit > maxBuild {
			return nil, badArgument("timeout_ms", "1 to 300000")
		}
		if err := c.place.running(); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, limit, &faults.Fault{
			Code: faults.CodeTimeout, Status: faults.StatusTimeout, Summary: "the " + name + " took too long", Wanted: "at most " + limit.String(),
		})
		defer cancel()
		out := child.NewTail(maxText)
		type end struct {
			status int
			err    error
		}
		done := make(chan end, 1)
		start := time.Now()
		go func() {
			status, err := c.place.Builder.Build(ctx, name, out)
			done <- end{status, err}
		}()
		tick := time.NewTicker(tellTime)
		defer tick.Stop()
		for {
			select {
			case e := <-done:
				if ctx.Err() != nil && e.err != nil {
					e.err = errors.Join(context.Cause(ctx), e.err)
				}
				if e.err != nil {
					return nil, e.err
				}
				return document("mcp-"+name, map[string]any{
					"ok": e.status == 0, "status": e.status, "output": outside("the "+name, out.String()), "seconds": time.Since(start).Seconds(),
				})
			case <-tick.C:
				c.progress(ctx, time.Since(start).Seconds(), limit.Seconds(), "the "+name+" runs")
			}
		}
	}
}
