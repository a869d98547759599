package board

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stem-hw/stem-hw/faults"
)

// Ask is what a verb wants a board for, for the words of a fault.
type Ask struct {
	// Command is the verb with a place for the selector, as it would be typed:
	// "stem-hw flash -b %s app.elf".
	Command string
}

// Match returns the one board that a selector means. No board and several are
// faults.
func Match(s Selector, boards []Board, ask Ask) (Board, error) {
	var found []Board
	for _, b := range boards {
		if s.matches(b) {
			found = append(found, b)
		}
	}
	found = exact(s, found)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Board{}, NotFound(s.String(), boards)
	}
	return Board{}, Ambiguous(found, ask)
}

// exact leaves out boards whose serial number only begins with the word, if there
// is one that has it whole.
func exact(s Selector, found []Board) []Board {
	if s.Kind != KindWord {
		return found
	}
	var out []Board
	whole := false
	for _, b := range found {
		is := strings.EqualFold(b.Serial, s.Text)
		whole = whole || is
		if is || strings.EqualFold(b.Nickname, s.Text) {
			out = append(out, b)
		}
	}
	if whole {
		return out
	}
	return found
}

// Names returns for each board what it is called in a list: its nickname, or a
// selector that no other one of the list has.
func Names(boards []Board) []string {
	seen := map[string]int{}
	for _, b := range boards {
		seen[strings.ToLower(b.Selector())]++
	}
	out := make([]string, len(boards))
	for i, b := range boards {
		out[i] = b.Selector()
		if !b.Simulated && seen[strings.ToLower(out[i])] > 1 {
			out[i] = "usb:" + b.Port
		}
		if b.Nickname != "" {
			out[i] = b.Nickname
		}
	}
	return out
}

// Only returns the only board of a list. Several are a fault, none is one too.
func Only(boards []Board, ask Ask) (Board, error) {
	switch len(boards) {
	case 1:
		return boards[0], nil
	case 0:
		return Board{}, &faults.Fault{
			Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
			Summary: "there is no board", Wanted: "a board that is plugged in, or a simulated one",
			Try: []string{fmt.Sprintf(ask.Command, "sim")},
		}
	}
	return Board{}, Ambiguous(boards, ask)
}

func (s Selector) matches(b Board) bool {
	switch s.Kind {
	case KindSim:
		return b.Sim != "" && b.Sim == s.Text
	case KindPort:
		return b.Port != "" && b.Port == s.Text
	case KindUSB:
		return !b.Simulated && b.Vendor == s.Vendor && b.ProductID == s.Product && b.Serial == s.Text
	case KindWord:
		return strings.EqualFold(b.Nickname, s.Text) || hasPrefixFold(b.Serial, s.Text)
	}
	return false
}

// hasPrefixFold reports whether serial begins with p in any case of letters.
func hasPrefixFold(serial, p string) bool {
	return len(serial) >= len(p) && strings.EqualFold(serial[:len(p)], p)
}

// NotFound is the fault for a selector that no board matches.
func NotFound(selector string, boards []Board) error {
	f := &faults.Fault{
		Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
		Summary: "no board matches " + selector,
		Try:     []string{"stem-hw list"},
	}
	if len(boards) == 0 {
		f.Seen = "no board at all"
	} else {
		f.Seen = count(len(boards)) + " other " + plural(len(boards), "board")
		f.Details = Rows(boards)
	}
	return f
}

// Ambiguous is the fault for several boards where one is wanted.
func Ambiguous(found []Board, ask Ask) error {
	first := shortest(found[0], found[1:])
	use := "stem-hw use " + first
	return &faults.Fault{
		Code: faults.CodeAmbiguous, Status: faults.StatusAmbiguous,
		Summary: count(len(found)) + " boards match and none was chosen",
		Details: Rows(found),
		Try:     []string{use + "      (for this project)", fmt.Sprintf(ask.Command, first)},
	}
}

// shortestPrefix is the fewest characters of a serial number that are offered.
const shortestPrefix = 4

// shortest returns the shortest selector of b that none of the others matches.
func shortest(b Board, others []Board) string {
	if b.Simulated || b.Selector() != b.Serial {
		return b.Selector()
	}
	for n := min(shortestPrefix, len(b.Serial)); n <= len(b.Serial); n++ {
		if !utf8.RuneStart((b.Serial + "x")[n]) {
			continue
		}
		s := Selector{Kind: KindWord, Text: b.Serial[:n]}
		unique := true
		for _, o := range others {
			unique = unique && !s.matches(o)
		}
		if unique {
			return s.Text
		}
	}
	if b.Port != "" {
		return "usb:" + b.Port
	}
	return b.Serial
}

// remark is what a row says about a board that cannot be used as it is.
func (b Board) remark() []string {
	switch {
	case len(b.NoAccess) > 0:
		return []string{"(no access)"}
	case b.Holder != nil:
		return []string{"(in use)"}
	case b.Mode == ModeBootsel && !b.Simulated:
		return []string{"(bootsel)"}
	}
	return nil
}

// Rows lists boards, one a line in columns.
func Rows(boards []Board) []string {
	cells := make([][]string, len(boards))
	var width [3]int
	for i, b := range boards {
		where := "usb " + b.Port
		if b.Simulated {
			where = b.Selector()
		}
		cells[i] = []string{b.Serial, b.Product, where, strings.Join(append(append([]string(nil), b.Consoles...), b.remark()...), " ")}
		for c := range width {
			width[c] = max(width[c], utf8.RuneCountInString(cells[i][c]))
		}
	}
	out := make([]string, len(boards))
	for i, row := range cells {
		var line strings.Builder
		for c, s := range row {
			line.WriteString(s)
			if c < len(width) {
				line.WriteString(strings.Repeat(" ", width[c]-utf8.RuneCountInString(s)+2))
			}
		}
		out[i] = strings.TrimRight(line.String(), " ")
	}
	return out
}

func count(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
