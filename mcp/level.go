package mcp

import (
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// Level is what a channel allows.
type Level uint8

// The levels; a higher one has the tools of those below it.
const (
	Observe Level = iota + 1
	Assist
	Full
)

var levelNames = map[Level]string{Observe: "observe", Assist: "assist", Full: "full"}

// String is the level's name.
func (l Level) String() string { return levelNames[l] }

// Levels are the names of all levels, lowest first.
func Levels() []string { return []string{"observe", "assist", "full"} }

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if n == name {
			return l, nil
		}
	}
	f := faults.Usage("there is no level %q", name)
	f.Wanted = strings.Join(Levels(), ", ")
	return 0, f
}
