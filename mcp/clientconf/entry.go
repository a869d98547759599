package clientconf

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// Clients are the names of the clients that are known.
func Clients() []string { return []string{"codex", "claude", "gemini", "opencode"} }

// Entry is a server as a client is told of it.
type Entry struct {
	// Name is what the client calls it.
	Name string
	// Command and Args start it.
	Command string
	Args    []string
	// Instance is the session it is for; empty is whichever is selected.
	Instance string
}

// argv is the command with its session.
func (e Entry) argv() []string {
	args := append([]string{e.Command}, e.Args...)
	if e.Instance != "" {
		args = append(args, "--instance", e.Instance)
	}
	return args
}

// Path is the file of a client: the user's, but for Claude Code the project's.
func Path(client, dir string, getenv func(string) string) (string, error) {
	home := getenv("HOME")
	if home == "" && client != "claude" {
		f := faults.Usage("there is no home folder to look for the client's file in")
		f.Try = []string{"--file PATH"}
		return "", f
	}
	switch client {
	case "codex":
		if d := getenv("CODEX_HOME"); d != "" {
			return filepath.Join(d, "config.toml"), nil
		}
		return filepath.Join(home, ".codex", "config.toml"), nil
	case "claude":
		return filepath.Join(dir, ".mcp.json"), nil
	case "gemini":
		return filepath.Join(home, ".gemini", "settings.json"), nil
	case "opencode":
		base := getenv("XDG_CONFIG_HOME")
		if base == "" {
			base = filepath.Join(home, ".config")
		}
		return filepath.Join(base, "opencode", "opencode.json"), nil
	}
	return "", unknown(client)
}

func unknown(client string) error {
	f := faults.Usage("there is no client %q", client)
	f.Wanted = strings.Join(Clients(), ", ")
	return f
}

// Print is the entry as a file of its own.
func Print(client string, e Entry) (string, error) { return Merge(client, "", e) }

// Merge puts an entry into a client's file, or replaces it.
func Merge(client, old string, e Entry) (string, error) {
	argv := e.argv()
	switch client {
	case "codex":
		return mergeTOML(old, e.Name, argv)
	case "claude":
		return mergeJSON(old, []string{"mcpServers", e.Name}, stdio{Type: "stdio", Command: argv[0], Args: argv[1:]})
	case "gemini":
		// trust would skip every question.
		return mergeJSON(old, []string{"mcpServers", e.Name}, stdio{Command: argv[0], Args: argv[1:], Timeout: 60000})
	case "opencode":
		return mergeJSON(old, []string{"mcp", e.Name}, local{"local", argv, true})
	}
	return "", unknown(client)
}

type stdio struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int      `json:"timeout,omitempty"`
}

type local struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
}

// quoted is a string as TOML and JSON both write it.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%q", s)
	}
	return string(text)
}
