//go:build !(containers_image_openpgp && exclude_graphdriver_btrfs)

package container

import (
	"context"
	"io"
)

// Built says whether podman's bindings are linked.
const Built = false

// Engine is a connection to one podman.
type Engine struct{ Version Version }

func notBuilt() error {
	return missing("stem-hw was built without podman's bindings (make sets the build tags)", ErrNotBuilt)
}

// Connect always fails; without a connection nothing else is reached.
func Connect(context.Context, string) (*Engine, error) { return nil, notBuilt() }

// HasImage always fails.
func (*Engine) HasImage(context.Context, string) (bool, error) { return false, notBuilt() }

// User is what a container of this user runs as.
func User() string { return "" }

// CreatePod always fails.
func (*Engine) CreatePod(context.Context, string, string) (string, error) { return "", notBuilt() }

// Create always fails.
func (*Engine) Create(context.Context, Spec) (string, error) { return "", notBuilt() }

// Start always fails.
func (*Engine) Start(context.Context, string) error { return notBuilt() }

// Check always fails.
func (*Engine) Check(context.Context, string, string) (bool, error) { return false, notBuilt() }

// Logs has nothing.
func (*Engine) Logs(context.Context, string) []string { return nil }

// Remove always fails.
func (*Engine) Remove(context.Context, string, string) error { return notBuilt() }

// Reap always fails.
func (*Engine) Reap(context.Context, string) error { return notBuilt() }

// Exec always fails.
func (*Engine) Exec(context.Context, string, string, []string, []string) (ExecResult, error) {
	return ExecResult{}, notBuilt()
}

// Build always fails.
func (*Engine) Build(context.Context, BuildOptions, io.Writer) error { return notBuilt() }
