package doctor

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/usb"
)

// Host is the machine that is looked at.
type Host struct {
	// Root is its "/".
	Root fs.FS
	// Getenv reads the environment.
	Getenv func(string) string
	// Look returns the path of a program, "" if it is not installed.
	Look func(program string) string
	// Ask runs a program for its output, of both streams, and gives up soon.
	Ask func(ctx context.Context, program string, args ...string) (string, error)

	// User is the account's name, UID its number, Groups the groups that this
	// process is in, and Member those that the account is in on this machine,
	// which may be more until the next login.
	User   string
	UID    int
	Groups []string
	Member []string

	// USB says that this program can look at the USB; Devices are what is there.
	USB     bool
	Devices []usb.Device
	// WantGo is the oldest Go that builds stem-hw: "1.25".
	WantGo string
	// RulesNow is what the installed udev rules should be.
	RulesNow []byte
}

// Verdict is how a finding is to be taken.
type Verdict string

// The verdicts.
const (
	Fine    Verdict = "ok"
	Remark  Verdict = "note"    // works, or is not needed for everything
	Trouble Verdict = "trouble" // something that is wanted does not work
)

// Area says what a trouble stops, for the exit status.
type Area string

// The areas.
const (
	Access Area = "access"
	Tools  Area = "tools"
	Other  Area = "other"
)

// Finding is what a check found.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Area    Area    `json:"area"`
	// Seen is what was found, in a few words.
	Seen string `json:"seen"`
	// Mend is the one command, or action, that mends it.
	Mend string `json:"mend,omitempty"`
	// Lines are shown below, as they are: a drawing.
	Lines []string `json:"lines,omitempty"`
}

// Check looks at one thing. It returns nothing where it does not apply.
type Check func(ctx context.Context, h *Host) []Finding

// askTime bounds how long a program may think about its version.
const askTime = 5 * time.Second

// Run does checks in order.
func Run(ctx context.Context, h *Host, checks ...Check) (out []Finding, err error) {
	for _, c := range checks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, c(ctx, h)...)
	}
	return out, nil
}

// UdevChecks are those of `stem-hw udev check`.
func UdevChecks() []Check { return []Check{rules, groups, boards, modemManager, autosuspend} }

// AllChecks are those of `stem-hw doctor`.
func AllChecks() []Check {
	return append([]Check{usbBuilt, wsl}, append(UdevChecks(), golang, riscvCompiler, armCompiler, sdk, gdb, openocd, picotool, podman, sessionTools, wiring)...)
}

func fine(check, seen string) []Finding {
	return []Finding{{Check: check, Verdict: Fine, Area: Other, Seen: seen}}
}

func (h *Host) exists(name string) bool {
	_, err := fs.Stat(h.Root, name)
	return err == nil
}

func (h *Host) read(name string) string {
	b, err := fs.ReadFile(h.Root, name)
	if err != nil {
		return ""
	}
	return string(b)
}

// ask returns a program's output, "" if it fails.
func (h *Host) ask(ctx context.Context, program string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := h.Ask(ctx, program, args...)
	if err != nil && out == "" {
		return ""
	}
	return out
}

func (h *Host) in(group string) bool { return slices.Contains(h.Groups, group) }

// process says whether a program runs, by any account.
func (h *Host) process(name string) bool {
	entries, err := fs.ReadDir(h.Root, "proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if c := e.Name(); c[0] >= '0' && c[0] <= '9' && strings.TrimSpace(h.read("proc/"+c+"/comm")) == name {
			return true
		}
	}
	return false
}

// debian says that packages come by apt.
func (h *Host) debian() bool { return h.exists("etc/debian_version") }

// install is the command for a package.
func (h *Host) install(apt, dnf string) string {
	if h.debian() || dnf == "" {
		return "sudo apt-get install " + apt
	}
	if h.exists("etc/fedora-release") {
		return "sudo dnf install " + dnf
	}
	return "sudo apt-get install " + apt
}
