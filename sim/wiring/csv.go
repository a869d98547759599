package wiring

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// csv reads a waveform: lines of seconds and volts with a comma, semicolon, tab
// or space between. A first line of words is a header; empty lines and lines
// that begin with # are remarks.
func (p *parser) csv(n named, name string) []Point {
	if name == "" {
		p.fail(string(n), "no file", `file = "wave.csv"`)
		return nil
	}
	points, seen := parseCSV(string(p.file(n, name)))
	if seen != "" {
		p.fail(string(n), name+": "+seen, "lines of seconds and volts (0 to 3.6), the times rising")
	}
	return points
}

// parseCSV returns the points, or what is wrong.
func parseCSV(text string) (points []Point, seen string) {
	for i, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		cols := strings.FieldsFunc(l, func(r rune) bool { return r == ',' || r == ';' || r == '\t' || r == ' ' })
		if len(cols) < 2 {
			return nil, fmt.Sprintf("line %d has one column", i+1)
		}
		s, err1 := strconv.ParseFloat(cols[0], 64)
		v, err2 := strconv.ParseFloat(cols[1], 64)
		if err1 != nil && err2 != nil && len(points) == 0 {
			continue // the header
		}
		if err1 != nil || err2 != nil || !(s >= 0 && s <= latest.Seconds()) || !usable(v) {
			return nil, fmt.Sprintf("line %d: %q", i+1, l)
		}
		at := time.Duration(s * float64(time.Second))
		if k := len(points); k > 0 && at <= points[k-1].At {
			return nil, fmt.Sprintf("line %d goes back in time", i+1)
		}
		points = append(points, Point{at, v})
	}
	if len(points) == 0 {
		return nil, "no points"
	}
	return points, ""
}
