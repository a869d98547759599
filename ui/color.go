package ui

import "os"

// SGR sequences (ECMA-48 8.3.117) used for talk.
const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	faint  = "\x1b[2m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

// ColorAllowed says whether the environment allows colours: NO_COLOR unset or
// empty (no-color.org) and the terminal not a dumb one.
func ColorAllowed(getenv func(string) string) bool {
	if getenv == nil {
		getenv = os.Getenv
	}
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

func (u *UI) paintErr(color, s string) string {
	if !u.opt.Color || !u.s.ErrTTY {
		return s
	}
	return color + s + reset
}

func (u *UI) paintOut(color, s string) string {
	if !u.opt.Color || !u.s.OutTTY {
		return s
	}
	return color + s + reset
}
