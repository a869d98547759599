//go:build containers_image_openpgp && exclude_graphdriver_btrfs

package container

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/containers/podman/v5/pkg/bindings/containers"
	"github.com/containers/podman/v5/pkg/bindings/images"
	"github.com/containers/podman/v5/pkg/bindings/pods"
	entities "github.com/containers/podman/v5/pkg/domain/entities/types"
	"github.com/containers/podman/v5/pkg/errorhandling"
	"github.com/containers/podman/v5/pkg/specgen"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// HasImage says whether an image is in podman's store.
func (e *Engine) HasImage(ctx context.Context, name string) (bool, error) {
	return images.Exists(e.with(ctx), name, nil)
}

// user is what the containers of this user run as: as root the service's root
// without any capability, else the user's own number.
func user() string {
	return strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid())
}

// User is what a container of this user runs as.
func User() string { return user() }

// CreatePod makes a session's pod and returns its full id. Its network is its
// own and leads nowhere: its containers share the loopback.
func (e *Engine) CreatePod(ctx context.Context, name, session string) (string, error) {
	g := specgen.NewPodSpecGenerator()
	g.Name, g.Hostname = name, "stem"
	g.Labels = map[string]string{Label: session}
	g.NetNS = specgen.Namespace{NSMode: specgen.NoNetwork}
	if e.Version.Rootless {
		g.Userns = specgen.Namespace{NSMode: specgen.KeepID}
	}
	r, err := pods.CreatePodFromSpec(e.with(ctx), &entities.PodSpec{PodSpecGen: *g})
	if err != nil {
		return "", fmt.Errorf("podman: a pod: %w", err)
	}
	return r.Id, nil
}

// Create makes a container of a pod and returns its full id. It does not run yet.
func (e *Engine) Create(ctx context.Context, s Spec) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	yes, no := true, false
	g := specgen.NewSpecGenerator(s.Image, false)
	g.Pod = s.Pod
	g.Labels = map[string]string{Label: s.Session, RoleLabel: s.Role}
	g.Command, g.WorkDir, g.User = s.Command, s.Dir, s.User
	g.Entrypoint = []string{}
	g.Env = map[string]string{}
	for _, kv := range s.Env {
		for i := range kv {
			if kv[i] == '=' {
				g.Env[kv[:i]] = kv[i+1:]
				break
			}
		}
	}
	g.Privileged, g.NoNewPrivileges, g.ReadOnlyFilesystem = &no, &yes, &yes
	g.CapDrop = []string{"ALL"}
	g.Systemd = "false"
	for _, b := range s.Binds {
		o := []string{"rbind", "rprivate", "nosuid", "nodev"}
		if b.ReadOnly {
			o = append(o, "ro")
		}
		g.Mounts = append(g.Mounts, specs.Mount{Type: "bind", Source: b.Source, Destination: b.Target, Options: o})
	}
	g.Mounts = append(g.Mounts, specs.Mount{Type: "tmpfs", Source: "tmpfs", Destination: "/tmp", Options: []string{"rw", "nosuid", "nodev", "mode=1777"}})
	if s.Device != "" {
		g.Devices = []specs.LinuxDevice{{Path: s.Device}}
		// The node belongs to a group of the user's (plugdev); crun keeps groups.
		if e.Version.Rootless {
			g.Annotations = map[string]string{"run.oci.keep_original_groups": "1"}
		}
	}
	r, err := containers.CreateWithSpec(e.with(ctx), g, nil)
	if err != nil {
		return "", fmt.Errorf("podman: the container %s: %w", s.Role, err)
	}
	return r.ID, nil
}

// Start starts a container.
func (e *Engine) Start(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := containers.Start(e.with(ctx), id, nil); err != nil {
		return fmt.Errorf("podman: start: %w", err)
	}
	return nil
}

// Check says whether a container is the session's, by its labels, and whether it
// runs. One that is gone does not run.
func (e *Engine) Check(ctx context.Context, id, session string) (running bool, err error) {
	if err := checkID(id); err != nil {
		return false, err
	}
	i, err := containers.Inspect(e.with(ctx), id, nil)
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("podman: inspect: %w", err)
	}
	if i.ID != id || i.Config == nil || i.Config.Labels[Label] != session || session == "" {
		return false, foreign(id, session)
	}
	return i.State != nil && i.State.Running, nil
}

// Logs are the last lines of what a container printed.
func (e *Engine) Logs(ctx context.Context, id string) (lines []string) {
	if checkID(id) != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make(chan string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for l := range out {
			if lines = append(lines, l); len(lines) > 20 {
				lines = lines[1:]
			}
		}
	}()
	_ = containers.Logs(e.with(ctx), id, new(containers.LogOptions).WithStdout(true).WithStderr(true).WithTail("20"), out, out)
	close(out)
	<-done
	return lines
}

// Remove removes a container of a session; one that is gone already is no error.
func (e *Engine) Remove(ctx context.Context, id, session string) error {
	if _, err := e.Check(ctx, id, session); err != nil {
		return err
	}
	_, err := containers.Remove(e.with(ctx), id, new(containers.RemoveOptions).WithForce(true).WithVolumes(true).WithTimeout(0))
	if err != nil && !gone(err) {
		return fmt.Errorf("podman: remove: %w", err)
	}
	return nil
}

// Reap removes every pod and container with a session's label.
func (e *Engine) Reap(ctx context.Context, session string) error {
	if session == "" {
		return errors.New("no session")
	}
	filter := map[string][]string{"label": {Label + "=" + session}}
	list, err := pods.List(e.with(ctx), new(pods.ListOptions).WithFilters(filter))
	if err != nil {
		return fmt.Errorf("podman: pods: %w", err)
	}
	for _, p := range list {
		if p.Labels[Label] != session {
			continue
		}
		_, err := pods.Remove(e.with(ctx), p.Id, new(pods.RemoveOptions).WithForce(true).WithTimeout(0))
		if err != nil && !gone(err) {
			return fmt.Errorf("podman: remove a pod: %w", err)
		}
	}
	left, err := containers.List(e.with(ctx), new(containers.ListOptions).WithAll(true).WithFilters(filter))
	if err != nil {
		return fmt.Errorf("podman: containers: %w", err)
	}
	for _, c := range left {
		if c.Labels[Label] == session {
			if err := e.Remove(ctx, c.ID, session); err != nil {
				return err
			}
		}
	}
	return nil
}

// gone says that what was asked for is not there (any more).
func gone(err error) bool {
	var m *errorhandling.ErrorModel
	return errors.As(err, &m) && m.ResponseCode == http.StatusNotFound
}
