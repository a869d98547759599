package faults

import (
	"errors"
	"fmt"
	"strings"
)

// Code names one kind of failure in kebab-case, for example
// "ambiguous-board". It is stable: --json carries it and scripts match it.
type Code string

// Fault is an error as a user meets it.
type Fault struct {
	// Code is the stable name of the failure.
	Code Code
	// Status is the exit status of the process if this fault ends it.
	Status Status
	// Summary is one line without a full stop: what went wrong.
	Summary string
	// Seen is what was found, and Wanted what would have been right. Either
	// may be empty.
	Seen, Wanted string
	// Details are further rows, for example the candidates of an ambiguity.
	Details []string
	// Try holds commands or actions that mend it, best first.
	Try []string
	// Err is the cause, if there is one.
	Err error
}

// Error returns the summary with what was seen and wanted, on one line.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Summary)
	if f.Seen != "" {
		b.WriteString(": found " + f.Seen)
	}
	if f.Wanted != "" {
		if f.Seen != "" {
			b.WriteString(", need " + f.Wanted)
		} else {
			b.WriteString(": need " + f.Wanted)
		}
	}
	if f.Err != nil {
		b.WriteString(": " + f.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Is reports whether target is a *Fault of the same code, so that
// errors.Is(err, &Fault{Code: c}) works.
func (f *Fault) Is(target error) bool {
	t, ok := target.(*Fault)
	return ok && t.Code == f.Code
}

// WithTry returns a copy of f with further advice behind the present one.
func (f *Fault) WithTry(try ...string) *Fault {
	c := *f
	c.Try = append(append([]string(nil), f.Try...), try...)
	return &c
}

// Of returns the first Fault in err's chain, or nil.
func Of(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// Is reports whether err's chain holds a fault with this code.
func Is(err error, code Code) bool {
	return errors.Is(err, &Fault{Code: code})
}

// StatusOf returns the exit status for err: 0 for nil, the fault's own status,
// else StatusInternal.
func StatusOf(err error) Status {
	if err == nil {
		return StatusOK
	}
	if f := Of(err); f != nil {
		return f.Status
	}
	return StatusInternal
}

// Usage returns a usage fault (exit 2).
func Usage(format string, args ...any) *Fault {
	return &Fault{Code: CodeUsage, Status: StatusUsage, Summary: fmt.Sprintf(format, args...)}
}

// Internal wraps an error that nobody classified (exit 1).
func Internal(err error) *Fault {
	return &Fault{Code: CodeInternal, Status: StatusInternal, Summary: "internal error", Err: err}
}
