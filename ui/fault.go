package ui

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/stem-hw/stem-hw/faults"
)

// codeColumn is where the code of a fault begins, if the summary leaves room.
const codeColumn = 65

// FaultDocument is a fault as --json shows it.
type FaultDocument struct {
	Code    faults.Code   `json:"code"`
	Status  faults.Status `json:"status"`
	Summary string        `json:"summary"`
	Seen    string        `json:"seen,omitempty"`
	Wanted  string        `json:"wanted,omitempty"`
	Details []string      `json:"details,omitempty"`
	Try     []string      `json:"try,omitempty"`
	Cause   string        `json:"cause,omitempty"`
}

// Kind is "error".
func (FaultDocument) Kind() string { return "error" }

// Text renders nothing: faults as text go to standard error.
func (FaultDocument) Text(*Text) {}

// Fault shows err on standard error, with --json also as a document on
// standard output, and returns the exit status it asks for. A nil error shows
// nothing.
func (u *UI) Fault(err error) faults.Status {
	if err == nil {
		return faults.StatusOK
	}
	f := faults.Of(err)
	if f == nil {
		f = faults.Internal(err)
	}
	if u.opt.JSON {
		doc := FaultDocument{
			Code: f.Code, Status: f.Status, Summary: f.Summary, Seen: f.Seen,
			Wanted: f.Wanted, Details: f.Details, Try: f.Try,
		}
		if f.Err != nil {
			doc.Cause = f.Err.Error()
		}
		// The error is on standard error as well, so a failing write is seen.
		_ = u.Event(doc)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clearBar()
	u.freshLine()
	plain := faultText(f, func(_, s string) string { return s })
	u.logLines(strings.TrimSuffix(plain, "\n"))
	u.toErr(faultText(f, u.paintErr))
	return f.Status
}

// faultText renders a fault: the summary and its code, indented rows, and what
// to try.
func faultText(f *faults.Fault, paint func(color, s string) string) string {
	var b bytes.Buffer
	summary := "error: " + Escape(f.Summary)
	pad := codeColumn - utf8.RuneCountInString(summary)
	if pad < 2 {
		pad = 2
	}
	b.WriteString(paint(red, "error:") + strings.TrimPrefix(summary, "error:"))
	b.WriteString(strings.Repeat(" ", pad) + paint(faint, "["+Escape(string(f.Code))+"]") + "\n")
	row := func(label, s string) {
		if s == "" {
			return
		}
		if label != "" {
			label = (label + "        ")[:8]
		}
		b.WriteString("  " + label + Escape(s) + "\n")
	}
	row("found", f.Seen)
	row("need", f.Wanted)
	if f.Err != nil {
		row("cause", f.Err.Error())
	}
	for _, d := range f.Details {
		row("", d)
	}
	for i, t := range f.Try {
		label := "      "
		if i == 0 {
			label = paint(bold, "try:") + "  "
		}
		b.WriteString(label + Escape(t) + "\n")
	}
	return b.String()
}
