package sshkeys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/session"
)

// Asked is what a client may ask for.
type Asked struct {
	// List asks for the sessions; otherwise the tools are served.
	List     bool
	Level    mcp.Level
	Instance string
}

// maxCommand bounds SSH_ORIGINAL_COMMAND.
const maxCommand = 512

// Parse reads what a client asked for. level is the key's: a client may ask for a
// lower one. allow are the sessions it may use; none are all. The words are
//
//	[stem-hw] mcp serve [--level LEVEL] [--instance SESSION]
//	[stem-hw] mcp list
//
// with single spaces, and nothing; nothing is mcp serve.
func Parse(command string, level mcp.Level, allow []string) (Asked, error) {
	a := Asked{Level: level}
	if len(command) > maxCommand {
		return a, refuse(command[:40]+"…", "at most 512 bytes")
	}
	for i := range len(command) {
		c := command[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == ' ' || c == '='
		if !plain {
			return a, refuse(command, "letters, digits, - and _")
		}
	}
	words := strings.Fields(command)
	if strings.Join(words, " ") != command {
		return a, refuse(command, "single spaces")
	}
	if len(words) > 0 && words[0] == "stem-hw" {
		words = words[1:]
	}
	if len(words) == 0 {
		return a, a.check(command, allow)
	}
	switch {
	case slices.Equal(words, []string{"mcp", "list"}):
		a.List = true
		return a, nil
	case len(words) < 2 || words[0] != "mcp" || words[1] != "serve":
		return a, refuse(command, "mcp serve or mcp list")
	}
	seen := map[string]bool{}
	for words = words[2:]; len(words) > 0; {
		name, value, ok := strings.Cut(words[0], "=")
		words = words[1:]
		if !ok {
			if len(words) == 0 {
				return a, refuse(command, "a value behind "+name)
			}
			value, words = words[0], words[1:]
		}
		if seen[name] || strings.HasPrefix(value, "-") {
			return a, refuse(command, "each option once, with a value")
		}
		seen[name] = true
		switch name {
		case "--level":
			l, err := mcp.ParseLevel(value)
			if err != nil || l > level {
				return a, refuse(command, "a level up to "+level.String())
			}
			a.Level = l
		case "--instance":
			if session.CheckName(value) != nil {
				return a, refuse(command, "a session's name")
			}
			a.Instance = value
		default:
			return a, refuse(command, "--level or --instance")
		}
	}
	return a, a.check(command, allow)
}

func (a Asked) check(command string, allow []string) error {
	if a.Instance != "" && len(allow) > 0 && !slices.Contains(allow, a.Instance) {
		return refuse(command, "one of "+strings.Join(allow, ", "))
	}
	return nil
}

func refuse(command, wanted string) error {
	return &faults.Fault{
		Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "this key does not allow that", Seen: fmt.Sprintf("%q", command), Wanted: wanted,
		Try: []string{"ssh HOST mcp serve", "ssh HOST mcp list"},
	}
}
