package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/mcp/clientconf"
	"github.com/stem-hw/stem-hw/session"
	"github.com/stem-hw/stem-hw/ui"
)

// mcpConfigResult is the entry of a client.
type mcpConfigResult struct {
	Client  string `json:"client"`
	File    string `json:"file"`
	Written bool   `json:"written"`
	Entry   string `json:"entry"`
}

func (mcpConfigResult) Kind() string { return "mcp-config" }

func (r mcpConfigResult) Text(t *ui.Text) {
	if r.Written {
		t.Linef("%s", r.File)
		return
	}
	for _, l := range strings.Split(strings.TrimSuffix(r.Entry, "\n"), "\n") {
		t.Linef("%s", l)
	}
}

func (a *app) mcpConfigCmd() *cobra.Command {
	var level, instance, file string
	var write bool
	cmd := &cobra.Command{
		Use:   "config " + strings.Join(clientconf.Clients(), "|"),
		Short: "print a client's configuration for stem-hw, or write it",
		Long: `Config prints the entry that makes a client start stem-hw mcp serve. With --write it
is put into that client's file: of the user, for Claude Code .mcp.json of the working
folder. Everything else in the file stays as it is, byte by byte.`,
		Example: "  stem-hw mcp config codex\n  stem-hw mcp config claude --level assist --write",
		Args:    exactArgs("CLIENT"), ValidArgs: clientconf.Clients(),
		RunE: func(_ *cobra.Command, args []string) error {
			client := args[0]
			dir, err := os.Getwd()
			if err != nil {
				return faults.Internal(err)
			}
			if file == "" {
				if file, err = clientconf.Path(client, dir, a.getenv); err != nil {
					return err
				}
			}
			if instance != "" {
				if err := session.CheckName(instance); err != nil {
					return err
				}
			}
			self, err := selfName()
			if err != nil {
				return err
			}
			e := clientconf.Entry{Name: "stem-" + level, Command: self, Args: []string{"mcp", "serve", "--level", level}, Instance: instance}
			text, err := clientconf.Print(client, e)
			if err != nil {
				return err
			}
			r := mcpConfigResult{Client: client, File: file, Entry: text}
			if write {
				if err := writeConfig(client, file, e); err != nil {
					return err
				}
				r.Written = true
			} else {
				a.ui.Say("for %s; --write puts it there", file)
			}
			return a.ui.Result(r)
		},
	}
	levelFlag(cmd, &level, mcp.Observe.String())
	cmd.Flags().StringVar(&instance, "instance", "", "the `SESSION`; the one that is selected if not given")
	cmd.Flags().StringVar(&file, "file", "", "the client's `FILE`, if it is another one")
	cmd.Flags().BoolVar(&write, "write", false, "put it into the file")
	_ = cmd.RegisterFlagCompletionFunc("instance", a.completeSessions)
	return cmd
}

// selfName is how this program is started: by its name if that finds it.
func selfName() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", faults.Internal(err)
	}
	if found, err := exec.LookPath("stem-hw"); err == nil {
		a, aerr := filepath.EvalSymlinks(found)
		b, berr := filepath.EvalSymlinks(exe)
		if aerr == nil && berr == nil && a == b {
			return "stem-hw", nil
		}
	}
	return exe, nil
}

// writeConfig merges an entry into a client's file; its mode stays.
func writeConfig(client, file string, e clientconf.Entry) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	bad := func(err error) error {
		return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the client's file cannot be written", Seen: file, Err: err, Try: []string{"ls -l " + filepath.Dir(file)}}
	}
	old, err := os.ReadFile(file)
	mode := fs.FileMode(0o600)
	if st, serr := os.Stat(file); serr == nil {
		mode = st.Mode().Perm()
	} else if client == "claude" {
		mode = 0o644 // a project's file
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bad(err)
	}
	text, err := clientconf.Merge(client, string(old), e)
	if err != nil {
		return err
	}
	if text == string(old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return bad(err)
	}
	if err := state.Replace(file, []byte(text)); err != nil {
		return bad(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		return bad(err)
	}
	return nil
}
