package container

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stem-hw/stem-hw/faults"
)

// Version is what a podman says of itself.
type Version struct {
	// Server is the service's version, and Rootless whether it runs as a user.
	Server   string `json:"server"`
	Rootless bool   `json:"rootless"`
}

// ErrNotBuilt is in the chain of every fault of a stem-hw that was built without
// podman's bindings.
var ErrNotBuilt = errors.New("built without podman's bindings")

// Socket returns the socket of this user's podman service: $CONTAINER_HOST, else
// where systemd or `podman system service` put it.
func Socket(getenv func(string) string) string {
	if h := getenv("CONTAINER_HOST"); h != "" {
		return h
	}
	if os.Getuid() == 0 {
		return "unix:///run/podman/podman.sock"
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	return "unix://" + filepath.Join(dir, "podman", "podman.sock")
}

// missing is the fault of a podman that cannot be used.
func missing(seen string, err error) error {
	return &faults.Fault{
		Code: faults.CodeMissingTool, Status: faults.StatusMissingTool,
		Summary: "podman cannot be used", Seen: seen, Err: err,
		Wanted: "podman 4.3 or newer, with its service",
		Try:    []string{"systemctl --user enable --now podman.socket", "stem-hw session start --no-container"},
	}
}
