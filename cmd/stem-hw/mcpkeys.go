package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/mcp/audit"
	"github.com/stem-hw/stem-hw/mcp/sshkeys"
	"github.com/stem-hw/stem-hw/ui"
)

func (a *app) mcpKeysCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "keys with which agents elsewhere may come in over SSH",
		Long: `A key that is added here may run nothing but the tools of its level: no shell, no
terminal, no forwarding. Lines of ~/.ssh/authorized_keys that are not stem-hw's are
never changed; a key with which a person logs in stays outside all of this.`,
		Example: "  stem-hw mcp keys add --level observe alice alice.pub\n  stem-hw mcp keys list\n  stem-hw mcp keys rm alice",
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.mcpKeysAddCmd(), a.mcpKeysListCmd(), a.mcpKeysRmCmd())
	return cmd
}

type keysResult struct {
	File string        `json:"file"`
	Keys []sshkeys.Key `json:"keys"`
}

func (keysResult) Kind() string { return "mcp-keys" }

func (r keysResult) Text(t *ui.Text) {
	for _, k := range r.Keys {
		allow := strings.Join(k.Allow, " ")
		if allow == "" {
			allow = "any session"
		}
		t.Row(k.Name, k.Level, k.Fingerprint, allow)
	}
}

func (a *app) keysFile() (sshkeys.File, error) {
	home := a.getenv("HOME")
	if home == "" {
		f := faults.Usage("there is no home folder with keys in it")
		f.Seen, f.Try = "HOME is not set", []string{"export HOME=/home/you"}
		return sshkeys.File{}, f
	}
	return sshkeys.Open(home), nil
}

func (a *app) mcpKeysAddCmd() *cobra.Command {
	var level string
	var allow []string
	cmd := &cobra.Command{
		Use: "add NAME FILE|-", Short: "let a key in at a level", Args: exactArgs("NAME", "FILE"),
		Long:    "Add lets in whoever has the private key of a public one: a file such as\nid_ed25519.pub, or - for standard input.",
		Example: "  stem-hw mcp keys add --level assist --allow hazard3-sim-inf-bss-t4 alice alice.pub",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.keysFile()
			if err != nil {
				return err
			}
			l, err := mcp.ParseLevel(level)
			if err != nil {
				return err
			}
			in := a.streams.In
			if args[1] != "-" {
				file, err := os.Open(args[1])
				if err != nil {
					return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the key cannot be read", Seen: args[1], Err: err, Try: []string{"check the path"}}
				}
				defer file.Close()
				in = file
			}
			text, err := io.ReadAll(io.LimitReader(in, 64<<10))
			if err != nil {
				return faults.Internal(err)
			}
			exe, err := os.Executable()
			if err != nil {
				return faults.Internal(err)
			}
			k, err := f.Add(exe, args[0], l, allow, text)
			if err != nil {
				return err
			}
			return a.ui.Result(keysResult{f.Path(), []sshkeys.Key{*k}})
		},
	}
	levelFlag(cmd, &level, mcp.Observe.String())
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "only this `SESSION`; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("allow", a.completeSessions)
	return cmd
}

func (a *app) mcpKeysListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the keys with which agents may come in", Example: "  stem-hw mcp keys list --json", Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			f, err := a.keysFile()
			if err != nil {
				return err
			}
			keys, err := f.List()
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				a.ui.Say("no keys")
			}
			return a.ui.Result(keysResult{f.Path(), keys})
		},
	}
}

func (a *app) mcpKeysRmCmd() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME|FINGERPRINT", Short: "let a key in no longer", Example: "  stem-hw mcp keys rm alice", Args: exactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.keysFile()
			if err != nil {
				return err
			}
			k, err := f.Remove(args[0])
			if err != nil {
				return err
			}
			return a.ui.Result(keysResult{f.Path(), []sshkeys.Key{*k}})
		},
	}
}

// fingerprintForm is OpenSSH's form of a key's fingerprint.
var fingerprintForm = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)

func (a *app) mcpWrapperCmd() *cobra.Command {
	var level, key string
	var allow []string
	cmd := &cobra.Command{
		Use:   "ssh-wrapper",
		Short: "serve an SSH client: the forced command of a key",
		Long: `Ssh-wrapper is the forced command that stem-hw mcp keys add writes into
authorized_keys. It reads $SSH_ORIGINAL_COMMAND by a list of words and never evaluates
it: mcp serve [--level LEVEL] [--instance SESSION], and mcp list.`,
		Example: `  restrict,command="/usr/local/bin/stem-hw mcp ssh-wrapper --level observe" ssh-ed25519 AAAA…`,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := mcp.ParseLevel(level)
			if err != nil {
				return err
			}
			if key != "" && !fingerprintForm.MatchString(key) {
				return faults.Usage("--key takes a fingerprint such as SHA256:…")
			}
			asked, err := sshkeys.Parse(a.getenv("SSH_ORIGINAL_COMMAND"), l, allow)
			if err != nil {
				return a.refuseKey(err, level, key)
			}
			if asked.List {
				all, err := a.mcpSessions(allow)
				if err != nil {
					return err
				}
				return a.ui.Result(mcpListResult{all})
			}
			peer, _, _ := strings.Cut(a.getenv("SSH_CONNECTION"), " ")
			return a.sshServe(cmd.Context(), asked, allow, mcp.Preface{Level: asked.Level.String(), Allow: allow, Key: key, Peer: peer})
		},
	}
	levelFlag(cmd, &level, mcp.Observe.String())
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "only this `SESSION`; may be repeated")
	cmd.Flags().StringVar(&key, "key", "", "the key's `FINGERPRINT`, for the audit")
	return cmd
}

func (a *app) sshServe(ctx context.Context, asked sshkeys.Asked, allow []string, p mcp.Preface) error {
	instance := asked.Instance
	if instance == "" && len(allow) == 1 {
		instance = allow[0]
	}
	socket, err := a.askHub(ctx, instance, asked.Level.String())
	if err != nil {
		return err
	}
	return a.mcpServe(ctx, asked.Level.String(), instance, socket, p)
}

// refuseKey records what a key asked for and did not get.
func (a *app) refuseKey(why error, level, key string) error {
	dir, err := state.Folder(a.getenv)
	if err != nil {
		return err
	}
	peer, _, _ := strings.Cut(a.getenv("SSH_CONNECTION"), " ")
	command, merr := json.Marshal(map[string]string{"command": a.getenv("SSH_ORIGINAL_COMMAND")})
	if merr != nil {
		command = nil
	}
	r := audit.Record{
		Call: "-", Phase: audit.Refused, Account: account(), UID: os.Getuid(), PID: os.Getpid(), Key: key, Peer: peer, Level: level, Tool: "ssh-wrapper",
		Arguments: command, Result: string(faults.CodeRefused), Detail: audit.Text(why.Error()),
	}
	if err := audit.New(dir).Append(r); err != nil {
		return err
	}
	return why
}

// account is this account's name.
func account() string {
	if u, err := user.Current(); err == nil {
		return filepath.Base(u.Username)
	}
	return "?"
}
