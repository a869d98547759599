package usb

import (
	"io/fs"
	"path"
	"strings"

	"github.com/stem-hw/stem-hw/board"
)

// RulesFile is the name of the udev rules that let people open their boards.
const RulesFile = "60-stem-hw.rules"

// ruleDirs are where udev looks for rules, best first (udev(7)).
var ruleDirs = []string{"etc/udev/rules.d", "run/udev/rules.d", "usr/local/lib/udev/rules.d", "usr/lib/udev/rules.d", "lib/udev/rules.d"}

// Board says it as people see it.
func (f *Finder) Board(d Device) board.Board {
	b := board.Board{
		Identity: board.Identity{Serial: d.Serial, Port: d.Port, Role: d.Role},
		Product:  d.Name, Vendor: d.Vendor, ProductID: d.Product,
		Mode: d.Mode, Chip: d.Chip, Node: d.Node.Path,
	}
	if b.Product == "" {
		b.Product = d.Manufacturer
	}
	for _, i := range d.Interfaces {
		if k := d.KindOf(i); k != "" {
			b.Interfaces = append(b.Interfaces, k)
		}
	}
	b.NoAccess = f.refused(b.NoAccess, d.Node)
	for _, t := range d.TTYs {
		b.Consoles = append(b.Consoles, t.Node)
		b.NoAccess = f.refused(b.NoAccess, t.Access)
	}
	if d.Drive != nil {
		b.Drive, b.Mount = d.Drive.Disk, d.Drive.Mount
		if d.Drive.Partition != "" {
			b.Drive = d.Drive.Partition
		}
	}
	if d.Holder != nil {
		b.PID = d.Holder.PID
		b.Holder = &board.Holder{PID: d.Holder.PID, User: d.Holder.User, Verb: d.Holder.Verb, Since: d.Holder.Since}
	}
	return b
}

// refused adds a node that may not be opened, and why.
func (f *Finder) refused(to []board.NoAccess, n Node) []board.NoAccess {
	if n.Access {
		return to
	}
	r := board.NoAccess{Node: n.Path, Owner: n.Owner, Group: n.Group, Perm: n.Perm, Missing: f.missingRule(n)}
	return append(to, r)
}

// missingRule says what stands between this account and a node.
func (f *Finder) missingRule(n Node) string {
	switch {
	case n.Missing:
		return "the node is not there (in a container? the device was not given to it)"
	case f.RulesInstalled() == "":
		return RulesFile + " is not installed"
	case n.Perm&0o060 == 0o060:
		return "this account is not in the group " + n.Group
	}
	return RulesFile + " is installed, but the board was plugged in before"
}

// RulesInstalled returns the path of the installed rules, "" without them.
func (f *Finder) RulesInstalled() string { return RulesInstalled(f.sys.Root) }

// RulesInstalled returns the path of the rules of a machine, "" without them.
func RulesInstalled(root fs.FS) string {
	for _, dir := range ruleDirs {
		name := path.Join(dir, RulesFile)
		if _, err := fs.Stat(root, name); err == nil {
			return "/" + strings.TrimPrefix(name, "/")
		}
	}
	return ""
}
