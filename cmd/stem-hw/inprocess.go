package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

// verbDocument runs a verb in this process with --json, and returns its document:
// what a tool answers is what the command line prints.
func (a *app) verbDocument(ctx context.Context, args ...string) (json.RawMessage, error) {
	var out, errs bytes.Buffer
	getenv := func(name string) string {
		if strings.HasPrefix(name, envPrefix) {
			return ""
		}
		return a.getenv(name)
	}
	status := executeIn(ctx, append([]string{"--json", "--non-interactive"}, args...), getenv, ui.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if status == faults.StatusOK {
		return json.RawMessage(bytes.TrimSpace(out.Bytes())), nil
	}
	// The last document is the error.
	dec := json.NewDecoder(&out)
	var d ui.FaultDocument
	for {
		var one json.RawMessage
		if dec.Decode(&one) != nil {
			break
		}
		var e ui.FaultDocument
		if json.Unmarshal(one, &e) == nil && e.Code != "" {
			d = e
		}
	}
	if d.Code == "" {
		d = ui.FaultDocument{Code: faults.CodeInternal, Status: status, Summary: strings.TrimSpace(errs.String())}
	}
	return nil, &faults.Fault{Code: d.Code, Status: d.Status, Summary: d.Summary, Seen: d.Seen, Wanted: d.Wanted, Details: d.Details, Try: d.Try}
}
