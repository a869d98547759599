package container

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// Label is the label of everything of a session; its value says which one.
const Label = "stem-hw.session"

// RoleLabel says what a container of a session is for.
const RoleLabel = "stem-hw.role"

// The roles of containers.
const (
	// RoleEditor is tmux, Neovim and gdb; it has no device.
	RoleEditor = "editor"
	// RoleDebug is the debug server; it has at most one.
	RoleDebug = "debug"
)

// Bind is a folder or file of this computer in a container.
type Bind struct {
	Source, Target string
	ReadOnly       bool
}

// Spec is a container of a session's pod.
type Spec struct {
	// Pod is the pod's full id, Session what its label says, Role this one's.
	Pod, Session, Role string
	Image              string
	Command, Env       []string
	// Dir is the working folder.
	Dir   string
	Binds []Bind
	// User is the numeric user and group, "1000:1000".
	User string
	// Device is the one node that the container gets; empty is none.
	Device string
}

// node is what a device of a session may be: a probe's node, never a folder, and
// never renamed, since libusb opens a device by its number.
var node = regexp.MustCompile(`^/dev/bus/usb/[0-9]{3}/[0-9]{3}$`)

// fullID is an id that nobody else can take: names and short ids can be taken.
var fullID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check refuses what no container of a session may have.
func (s *Spec) check() error {
	switch {
	case !fullID.MatchString(s.Pod):
		return faults.Internal(fmt.Errorf("not a full id: %q", s.Pod))
	case s.Session == "" || s.Role != RoleEditor && s.Role != RoleDebug:
		return faults.Internal(fmt.Errorf("a container without a label: %q, %q", s.Session, s.Role))
	case s.Device != "" && s.Role != RoleDebug:
		return faults.Internal(fmt.Errorf("a device for the container %s", s.Role))
	case s.Device != "" && !node.MatchString(s.Device):
		return faults.Internal(fmt.Errorf("not a device of the USB: %q", s.Device))
	}
	for _, b := range s.Binds {
		for _, p := range []string{b.Source, b.Target} {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p || p == "/" || p == "/dev" || strings.HasPrefix(p, "/dev/") {
				return faults.Internal(fmt.Errorf("%q is not mounted", p))
			}
		}
	}
	return nil
}

// checkID refuses what is not a full id.
func checkID(id string) error {
	if fullID.MatchString(id) {
		return nil
	}
	return faults.Internal(fmt.Errorf("not a full id: %q", id))
}

// foreign is the fault of a container that is not the session's.
func foreign(id, session string) error {
	return &faults.Fault{
		Code: faults.CodeRefused, Status: faults.StatusRefused, Summary: "the container is not the session's: its labels say otherwise",
		Seen: id, Wanted: Label + "=" + session, Try: []string{"stem-hw session rm --all"},
	}
}

// ExecResult is how a command in a container ended.
type ExecResult struct {
	Stdout, Stderr []byte
	Status         int
}
