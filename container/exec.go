//go:build containers_image_openpgp && exclude_graphdriver_btrfs

package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/containers/podman/v5/pkg/api/handlers"
	"github.com/containers/podman/v5/pkg/bindings"
	"github.com/containers/podman/v5/pkg/bindings/containers"
)

// maxOutput bounds what an exec may print.
const maxOutput = 8 << 20

// Exec runs a command in a session's container, after a look at its labels, and
// returns what it printed and its exit status.
func (e *Engine) Exec(ctx context.Context, id, session string, argv, env []string) (ExecResult, error) {
	running, err := e.Check(ctx, id, session)
	if err != nil {
		return ExecResult{}, err
	}
	if !running {
		return ExecResult{}, fmt.Errorf("podman: the container %.12s does not run", id)
	}
	// A stream of the bindings takes their transport for itself and does not end
	// with its context: it has a connection of its own, closed when ctx ends.
	own, stop, err := ownConnection(ctx, e.uri)
	if err != nil {
		return ExecResult{}, err
	}
	defer stop()
	config := &handlers.ExecCreateConfig{}
	config.Cmd, config.Env = argv, env
	config.AttachStdout, config.AttachStderr = true, true
	exec, err := containers.ExecCreate(own, id, config)
	if err != nil {
		return ExecResult{}, ended(ctx, fmt.Errorf("podman: exec: %w", err))
	}
	var out, errs limited
	opt := new(containers.ExecStartAndAttachOptions).WithOutputStream(&out).WithErrorStream(&errs).WithAttachOutput(true).WithAttachError(true)
	if err := containers.ExecStartAndAttach(own, exec, opt); err != nil {
		return ExecResult{}, ended(ctx, fmt.Errorf("podman: exec: %w", err))
	}
	if ctx.Err() != nil {
		return ExecResult{}, context.Cause(ctx)
	}
	i, err := containers.ExecInspect(e.with(ctx), exec, nil)
	if err != nil {
		return ExecResult{}, fmt.Errorf("podman: exec: %w", err)
	}
	if out.over || errs.over {
		return ExecResult{}, errors.New("a command in a container printed too much")
	}
	return ExecResult{Stdout: out.b.Bytes(), Stderr: errs.b.Bytes(), Status: i.ExitCode}, nil
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// limited keeps what fits.
type limited struct {
	b    bytes.Buffer
	over bool
}

// Write takes output.
func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > maxOutput {
		l.over = true
		return len(p), nil
	}
	return l.b.Write(p)
}

// Close does nothing.
func (*limited) Close() error { return nil }

// ownConnection is a connection whose sockets are closed when ctx ends.
func ownConnection(ctx context.Context, uri string) (context.Context, func(), error) {
	c, err := bindings.NewConnection(context.WithoutCancel(ctx), uri)
	if err != nil {
		return nil, nil, missing(uri, err)
	}
	client, err := bindings.GetClient(c)
	if err != nil {
		return nil, nil, missing(uri, err)
	}
	tr, ok := client.Client.Transport.(*http.Transport)
	if !ok || tr.DialContext == nil {
		return nil, nil, missing(uri, errors.New("the connection is of an unknown kind"))
	}
	var mu sync.Mutex
	var conns []net.Conn
	closed := false
	dial := tr.DialContext
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		k, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if closed {
			_ = k.Close()
			return nil, net.ErrClosed
		}
		conns = append(conns, k)
		return k, nil
	}
	closeAll := func() {
		mu.Lock()
		defer mu.Unlock()
		closed = true
		for _, k := range conns {
			_ = k.Close()
		}
	}
	stop := context.AfterFunc(ctx, closeAll)
	return c, func() {
		stop()
		closeAll()
	}, nil
}
