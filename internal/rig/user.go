package rig

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// User is an account of the machine.
type User struct {
	Name string
	ID   int
}

// The accounts: root; one in the groups plugdev and dialout; one in neither.
var (
	Root     = User{"root", 0}
	Tester   = User{"tester", 1000}
	Outsider = User{"outsider", 1001}
)

// Home is the account's folder.
func (u User) Home() string {
	if u.ID == 0 {
		return "/root"
	}
	return "/home/" + u.Name
}

// Runtime is its XDG_RUNTIME_DIR.
func (u User) Runtime() string {
	if u.ID == 0 {
		return "/run"
	}
	return fmt.Sprintf("/run/user/%d", u.ID)
}

// Line returns a command line that runs a program as the account, in its home
// and in a cgroup of its own.
func (u User) Line(name string, args ...string) []string {
	const enter = `g=/sys/fs/cgroup/$1; shift
[ -e $g/cgroup.procs ] && echo $$ >$g/cgroup.procs
cd; exec "$@"`
	if u.ID == 0 {
		return append([]string{name}, args...)
	}
	line := []string{
		"sh", "-c", strings.ReplaceAll(enter, "cd;", "cd "+u.Home()+";"), "sh", u.Name,
		"runuser", "-u", u.Name, "--", "env", "-u", "XDG_CACHE_HOME", "-u", "XDG_STATE_HOME", "-u", "XDG_CONFIG_HOME",
		"HOME=" + u.Home(), "USER=" + u.Name, "LOGNAME=" + u.Name,
		"XDG_RUNTIME_DIR=" + u.Runtime(), "DBUS_SESSION_BUS_ADDRESS=unix:path=" + u.Runtime() + "/bus",
		name,
	}
	return append(line, args...)
}

// Run runs a command as the account; it has to succeed.
func (u User) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	line := u.Line(name, args...)
	return Run(t, line[0], line[1:]...)
}

// Try runs a command as the account.
func (u User) Try(t testing.TB, name string, args ...string) Result {
	t.Helper()
	line := u.Line(name, args...)
	return Try(t, line[0], line[1:]...)
}

// Flavour is how the machine was booted: "" with little more than udev, or
// "systemd".
func Flavour() string { return os.Getenv("STEM_HW_RIG_FLAVOUR") }
