package replay

import "strings"

// ellipsis is the only wildcard.
const ellipsis = "…"

// Match reports whether got, line by line, is what want shows. bad is the index
// of the first line of want that could not be matched.
func Match(want, got []string) (ok bool, bad int) {
	// reach[j]: the lines of want up to here can match the first j of got.
	reach := make([]bool, len(got)+1)
	reach[0] = true
	for i, w := range want {
		next := make([]bool, len(got)+1)
		found := false
		if w == ellipsis {
			seen := false
			for j := range reach {
				seen = seen || reach[j]
				next[j] = seen
			}
			found = seen
		} else {
			for j, g := range got {
				if reach[j] && matchLine(w, g) {
					next[j+1] = true
					found = true
				}
			}
		}
		if !found {
			return false, i
		}
		reach = next
	}
	return reach[len(got)], len(want)
}

// matchLine matches one line with ellipses in the pattern.
func matchLine(pattern, line string) bool {
	parts := strings.Split(pattern, ellipsis)
	if len(parts) == 1 {
		return pattern == line
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(line, first) {
		return false
	}
	line = line[len(first):]
	if !strings.HasSuffix(line, last) {
		return false
	}
	line = line[:len(line)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(line, p)
		if i < 0 {
			return false
		}
		line = line[i+len(p):]
	}
	return true
}

// Lines splits output as Match wants it: no carriage returns, no spaces at the
// end of a line, no empty line at the end.
func Lines(out string) []string {
	out = strings.ReplaceAll(out, "\r\n", "\n")
	if strings.TrimSpace(out) == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines
}
