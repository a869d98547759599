package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/profiles"
	"github.com/stem-hw/stem-hw/session"
)

// Inside is where a session's programs run: this computer, or its containers,
// reached by podman exec on their full ids.
type Inside interface {
	// Dial connects to a socket of the session's runtime folder.
	Dial(ctx context.Context, path string) (net.Conn, error)
	// Run runs a program there and returns what it prints.
	Run(ctx context.Context, argv []string, limit int) ([]byte, error)
	// Join starts a program there and joins it to in and out until it ends.
	Join(ctx context.Context, argv []string, in io.Reader, out io.Writer) error
}

// Builder runs a session's build and test in its container: no network, no
// device, the card alone.
type Builder interface {
	// Build runs what is called name ("build", "test"); out takes what it prints.
	// The status is the program's.
	Build(ctx context.Context, name string, out io.Writer) (status int, err error)
}

// Place is a session that a channel means.
type Place struct {
	Record session.Record
	State  session.State
	// Dir is its folder in the registry.
	Dir string
	// Inside reaches its programs.
	Inside Inside
	// Builder is nil without a container.
	Builder Builder
	// Watch is what has been seen of its windows.
	Watch *PaneWatch
	// Debug keeps connections to its gdb.
	Debug *DebugLink
}

// Contained says whether the session's programs run in a container.
func (p *Place) Contained() bool { return p.Record.EditorID != "" && p.Builder != nil }

// running is a fault unless the session runs.
func (p *Place) running() error {
	if p.State == session.Running && p.Record.Runtime != "" {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeNoSession, Status: faults.StatusNotFound, Summary: "the session does not run", Seen: p.Record.Instance + ": " + string(p.State),
		Try: []string{"ask the person to start it: stem-hw session start"},
	}
}

// native says whether the program is one of this computer.
func (p *Place) native() bool { return p.Record.Profile == profiles.NativeAMD64 }

// readInside reads a file that a session's inside may have written: a plain file,
// no link, of at most limit bytes.
func readInside(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > limit {
		return nil, fmt.Errorf("%s is no plain file of at most %d bytes", filepath.Base(path), limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// sync is where the program stands.
func (p *Place) sync() (*gdbsync.State, error) {
	if err := p.running(); err != nil {
		return nil, err
	}
	s, err := session.ReadState(p.Record.Folder())
	if errors.Is(err, os.ErrNotExist) {
		return nil, noGdb("gdb has not been started yet")
	}
	if err != nil {
		return nil, noGdb(err.Error())
	}
	return s, nil
}

func noGdb(seen string) *faults.Fault {
	return &faults.Fault{Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "gdb cannot be asked", Seen: seen, Try: []string{"look at the window gdb"}}
}

// Here is the inside of a session without a container.
type Here struct{ sup *child.Supervisor }

// NewHere returns it.
func NewHere(sup *child.Supervisor) *Here { return &Here{sup} }

// Dial connects to a socket.
func (h *Here) Dial(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// Run runs a program.
func (h *Here) Run(ctx context.Context, argv []string, limit int) ([]byte, error) {
	return h.sup.Run(ctx, child.Spec{Program: argv[0], Args: argv[1:], Env: plainEnv()}, limit)
}

// Join joins a program to in and out.
func (h *Here) Join(ctx context.Context, argv []string, in io.Reader, out io.Writer) error {
	var errs bytes.Buffer
	p, err := h.sup.Start(ctx, child.Spec{Program: argv[0], Args: argv[1:], Env: plainEnv(), Stdin: in, Stdout: out, Stderr: &errs})
	if err != nil {
		return err
	}
	if err := p.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, errs.String())
	}
	return nil
}

// plainEnv is an environment that steers nothing.
func plainEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C.UTF-8", "TERM=dumb"}
}
