package gdbserver

import "strings"

// parseThread reads a thread id: a positive number, 0 for any, -1 for all.
func parseThread(s string) (int, bool) {
	if s == "-1" {
		return -1, true
	}
	if rest, found := strings.CutPrefix(s, "p"); found {
		// A process part may come although multiprocess was not agreed on.
		_, t, hasThread := strings.Cut(rest, ".")
		if !hasThread {
			return -1, true
		}
		s = t
		if s == "-1" {
			return -1, true
		}
	}
	v, ok := parseHex(s, 31)
	return int(v), ok
}
