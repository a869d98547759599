package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/doctor"
	"github.com/stem-hw/stem-hw/faults"
	udevrules "github.com/stem-hw/stem-hw/udev-rules"
	"github.com/stem-hw/stem-hw/ui"
	"github.com/stem-hw/stem-hw/usb"
)

// wantGo is the oldest Go that builds stem-hw, as go.mod says without the last
// number; a test compares.
const wantGo = "1.25"

// diagnosis is what doctor found.
type diagnosis struct {
	kind     string
	Findings []doctor.Finding `json:"findings"`
	Troubles int              `json:"troubles"`
}

func (d diagnosis) Kind() string { return d.kind }

func (d diagnosis) Text(t *ui.Text) {
	for _, f := range d.Findings {
		t.Linef("%-8s %-14s %s", string(f.Verdict), f.Check, f.Seen)
		if f.Mend != "" {
			t.Linef("%-8s %-14s -> %s", "", "", f.Mend)
		}
		for _, l := range f.Lines {
			t.Linef("%s", l)
		}
	}
}

func (a *app) doctorCmd() *cobra.Command {
	var wiring bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "say what keeps boards from working, and how to mend it",
		Long: `Doctor looks at what boards need of this machine: access (udev rules, groups, WSL),
ModemManager and autosuspend, compilers, debuggers and other tools with their
versions, the pico-sdk, podman. Each finding is ok, a note, or a trouble, with the one
command that mends it. Nothing is changed, and no board is opened.

A trouble with access ends with exit status 5, one with a tool with 11.`,
		Example: "  stem-hw doctor\n  stem-hw doctor --wiring\n  stem-hw doctor --json | jq '.findings[] | select(.verdict != \"ok\")'",
		GroupID: groupBoards,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wiring {
				return a.ui.Result(drawing{doctor.Wiring})
			}
			return a.diagnose(cmd.Context(), "doctor", doctor.AllChecks())
		},
	}
	cmd.Flags().BoolVar(&wiring, "wiring", false, "draw how a probe is connected to a Pico 2, and do nothing else")
	return cmd
}

// drawing is lines as they are.
type drawing struct {
	Lines []string `json:"lines"`
}

func (drawing) Kind() string { return "wiring" }

func (d drawing) Text(t *ui.Text) {
	for _, l := range d.Lines {
		t.Linef("%s", l)
	}
}

// diagnose does checks and says what they found.
func (a *app) diagnose(ctx context.Context, kind string, checks []doctor.Check) error {
	procs, err := child.New()
	if err != nil {
		return err
	}
	defer procs.Close()
	h, err := a.host(ctx, procs)
	if err != nil {
		return err
	}
	d := diagnosis{kind: kind}
	if d.Findings, err = doctor.Run(ctx, h, checks...); err != nil {
		return err
	}
	var worst *doctor.Finding
	for i, f := range d.Findings {
		if f.Verdict != doctor.Trouble {
			continue
		}
		d.Troubles++
		if worst == nil || f.Area == doctor.Access && worst.Area != doctor.Access {
			worst = &d.Findings[i]
		}
	}
	if err := a.ui.Result(d); err != nil || worst == nil {
		return err
	}
	status := map[doctor.Area]faults.Status{doctor.Access: faults.StatusPermission, doctor.Tools: faults.StatusMissingTool}[worst.Area]
	if status == 0 {
		status = faults.StatusTarget
	}
	return &faults.Fault{
		Code: faults.CodeTrouble, Status: status,
		Summary: fmt.Sprintf("%s found", troubles(d.Troubles)), Seen: worst.Check + ": " + worst.Seen, Try: []string{worst.Mend},
	}
}

func troubles(n int) string {
	if n == 1 {
		return "one trouble was"
	}
	return fmt.Sprintf("%d troubles were", n)
}

// host describes this machine to the checks.
func (a *app) host(ctx context.Context, procs *child.Supervisor) (*doctor.Host, error) {
	sys := usb.Machine(a.getenv)
	h := &doctor.Host{
		Root: sys.Root, Getenv: a.getenv, UID: os.Geteuid(), USB: usb.Available, WantGo: wantGo, RulesNow: udevrules.Text(),
		Look: func(program string) string {
			p, err := exec.LookPath(program)
			if err != nil {
				return ""
			}
			return p
		},
		Ask: func(ctx context.Context, program string, args ...string) (string, error) {
			var out bytes.Buffer
			p, err := procs.Start(ctx, child.Spec{Program: program, Args: args, Stdout: &out, Stderr: &out})
			if err == nil {
				err = p.Wait()
			}
			return out.String(), err
		},
	}
	found, err := a.usbBoards(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		h.Devices = append(h.Devices, p.device)
	}
	if u, err := user.Current(); err == nil {
		h.User = u.Username
		if ids, err := u.GroupIds(); err == nil {
			h.Member = groupNames(ids)
		}
	}
	if ids, err := os.Getgroups(); err == nil {
		var text []string
		for _, id := range append(ids, os.Getegid()) {
			text = append(text, strconv.Itoa(id))
		}
		h.Groups = groupNames(text)
	}
	return h, nil
}

func groupNames(ids []string) (out []string) {
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil {
			out = append(out, g.Name)
		}
	}
	return out
}
