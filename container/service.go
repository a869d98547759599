package container

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/child"
)

// serviceTime is how long a service of podman may take to listen.
const serviceTime = 60 * time.Second

// Answers says whether somebody listens on a service's socket.
func Answers(uri string) bool {
	path, local := strings.CutPrefix(uri, "unix://")
	if !local {
		return true // its answer to Connect will tell
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Serve makes sure that there is a service: the user's own, else one that sup
// runs for as long as it lives, with its socket in dir.
func Serve(ctx context.Context, sup *child.Supervisor, getenv func(string) string, dir string) (uri string, err error) {
	uri = Socket(getenv)
	if Answers(uri) {
		return uri, nil
	}
	if getenv("CONTAINER_HOST") != "" {
		return "", missing(uri, errors.New("nobody listens there ($CONTAINER_HOST)"))
	}
	if _, err := child.Find("podman", "podman"); err != nil {
		return "", err
	}
	socket := filepath.Join(dir, "podman.sock")
	_ = os.Remove(socket)
	uri = "unix://" + socket
	p, err := sup.Start(ctx, child.Spec{Program: "podman", Package: "podman", Args: []string{"system", "service", "--time=0", uri}})
	if err != nil {
		return "", err
	}
	for end := time.Now().Add(serviceTime); time.Now().Before(end); {
		if Answers(uri) {
			return uri, nil
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-t.C:
		case <-p.Done():
			t.Stop()
			return "", missing(uri, p.Wait())
		case <-ctx.Done():
			t.Stop()
			return "", context.Cause(ctx)
		}
	}
	return "", missing(uri, errors.New("its service does not listen"))
}
