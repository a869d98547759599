//go:build containers_image_openpgp && exclude_graphdriver_btrfs

package container

import (
	"context"

	"github.com/containers/podman/v5/pkg/bindings"
	"github.com/containers/podman/v5/pkg/bindings/system"
)

// Built says whether podman's bindings are linked.
const Built = true

// Engine is a connection to one podman.
type Engine struct {
	uri string
	// ctx carries the bindings' connection for calls that do not stream.
	ctx     context.Context
	Version Version
}

// Connect connects to a podman service by its URI (unix:///run/…).
func Connect(ctx context.Context, uri string) (*Engine, error) {
	c, err := bindings.NewConnection(context.WithoutCancel(ctx), uri)
	if err != nil {
		return nil, missing(uri, err)
	}
	e := &Engine{uri: uri, ctx: c}
	info, err := system.Info(e.with(ctx), nil)
	if err != nil {
		return nil, missing(uri, err)
	}
	e.Version = Version{Server: info.Version.Version, Rootless: info.Host.Security.Rootless}
	return e, nil
}

// call is a context that ends with the caller's and carries the connection.
type call struct {
	context.Context
	values context.Context
}

// Value looks the connection up.
func (c call) Value(key any) any { return c.values.Value(key) }

// with returns ctx with the connection in it.
func (e *Engine) with(ctx context.Context) context.Context { return call{ctx, e.ctx} }
