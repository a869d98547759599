package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/doctor"
	"github.com/stem-hw/stem-hw/faults"
	udevrules "github.com/stem-hw/stem-hw/udev-rules"
	"github.com/stem-hw/stem-hw/ui"
)

// rulesDir is where the machine's own rules are (udev(7)).
const rulesDir = "/etc/udev/rules.d"

func (a *app) udevCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "udev",
		Short: "the rules that let people open their boards",
		Long: `Boards on the USB belong to root until a rule says otherwise. The rules of stem-hw
give boards, probes and their serial ports to the person at the machine and to the
groups plugdev and dialout, keep ModemManager off them, keep probes awake, and make
names that stay: /dev/stem-hw/SERIAL-if00.`,
		GroupID: groupBoards,
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.udevPrintCmd(), a.udevInstallCmd(), a.udevCheckCmd())
	return cmd
}

// rulesDocument is the rules as data.
type rulesDocument struct {
	File  string `json:"file"`
	Rules string `json:"rules"`
}

func (rulesDocument) Kind() string { return "udev-rules" }

func (rulesDocument) Text(*ui.Text) {}

func (a *app) udevPrintCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "print",
		Short:   "write the rules to standard output",
		Long:    "Print writes " + udevrules.File + " to standard output, for packagers and for who wants to read it first.",
		Example: "  stem-hw udev print | sudo tee " + rulesDir + "/" + udevrules.File,
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if a.ui.JSON() {
				return a.ui.Result(rulesDocument{udevrules.File, string(udevrules.Text())})
			}
			_, err := a.ui.Data().Write(udevrules.Text())
			return err
		},
	}
}

func (a *app) udevCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "say whether boards can be opened, and what is missing",
		Long: `Check looks whether the rules are installed and current, at the groups of this
account, at every board that is plugged in, at ModemManager and at autosuspend. A
trouble ends with exit status 5.`,
		Example: "  stem-hw udev check",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.diagnose(cmd.Context(), "udev-check", doctor.UdevChecks())
		},
	}
}

func (a *app) udevInstallCmd() *cobra.Command {
	var dir string
	var dryRun, remove bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "install the rules, and let udev use them at once",
		Long: `Install writes ` + udevrules.File + `, tells udev to read its rules again, and lets it apply
them to the boards that are plugged in. It needs root; people in the group plugdev, and
the one at the machine, need none of it any more.`,
		Example: "  sudo stem-hw udev install\n  stem-hw udev install --dry-run\n  sudo stem-hw udev install --remove",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.udevInstall(cmd.Context(), dir, remove, dryRun)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", rulesDir, "the `FOLDER` of rules; udev is told only of "+rulesDir)
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the rules instead")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return cmd
}

// udevInstalled says what was done.
type udevInstalled struct {
	Path string `json:"path"`
	// Action is "installed", "updated", "unchanged", "removed" or "absent".
	Action string `json:"action"`
	// Commands are what udev was told.
	Commands []string `json:"commands,omitempty"`
	DryRun   bool     `json:"dry_run,omitempty"`
}

func (udevInstalled) Kind() string { return "udev-install" }

func (r udevInstalled) Text(t *ui.Text) {
	would := ""
	if r.DryRun {
		would = " (nothing was done)"
	}
	t.Linef("%s: %s%s", r.Path, r.Action, would)
	for _, c := range r.Commands {
		t.Linef("  %s", c)
	}
}

// udevCommands let udev read its rules and apply them to what is plugged in.
var udevCommands = [][]string{
	{"udevadm", "control", "--reload"},
	{"udevadm", "trigger", "--action=change", "--subsystem-match=usb", "--subsystem-match=tty", "--subsystem-match=hidraw"},
	{"udevadm", "settle", "--timeout=20"},
}

func (a *app) udevInstall(ctx context.Context, dir string, remove, dryRun bool) error {
	r := udevInstalled{Path: filepath.Join(dir, udevrules.File), DryRun: dryRun}
	old, err := os.ReadFile(r.Path)
	there := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return a.udevFault(dir, err)
	case remove && there:
		r.Action = "removed"
	case remove:
		r.Action = "absent"
	case !there:
		r.Action = "installed"
	case bytes.Equal(old, udevrules.Text()):
		r.Action = "unchanged"
	default:
		r.Action = "updated"
	}
	tell := filepath.Clean(dir) == rulesDir && r.Action != "absent"
	if tell {
		for _, c := range udevCommands {
			line := c[0]
			for _, w := range c[1:] {
				line += " " + w
			}
			r.Commands = append(r.Commands, line)
		}
	}
	if dryRun {
		return a.ui.Result(r)
	}
	switch r.Action {
	case "removed":
		err = os.Remove(r.Path)
	case "installed", "updated":
		err = installRules(r.Path)
	}
	if err != nil {
		return a.udevFault(dir, err)
	}
	if tell {
		if err := a.tellUdev(ctx); err != nil {
			return err
		}
	}
	return a.ui.Result(r)
}

// installRules writes the file whole or not at all.
func installRules(path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".stem-hw-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(udevrules.Text())
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// tellUdev runs udev's own program. The rules are installed whatever it says: a
// machine without a running udev reads them when it starts.
func (a *app) tellUdev(ctx context.Context) error {
	procs, err := child.New()
	if err != nil {
		return err
	}
	defer procs.Close()
	for _, c := range udevCommands {
		p, err := procs.Start(ctx, child.Spec{Program: c[0], Args: c[1:], Package: "udev"})
		if err == nil {
			err = p.Wait()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			a.ui.Warn("udev does not use the rules yet: %v", err)
			a.ui.Say("they count from the next start of this machine on")
			return nil
		}
	}
	return nil
}

// udevFault says why the rules could not be written.
func (a *app) udevFault(dir string, err error) error {
	f := &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusPermission,
		Summary: "the udev rules cannot be installed", Seen: dir, Err: err,
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		f.Err, f.Wanted = nil, "root, to write there"
		exe, xerr := os.Executable()
		if xerr != nil {
			exe = "stem-hw"
		}
		f.Try = []string{fmt.Sprintf("sudo %s udev install", shellQuote(exe)), "stem-hw udev print | sudo tee " + rulesDir + "/" + udevrules.File}
	}
	return f
}
