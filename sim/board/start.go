package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// Starter starts a server process for a board and returns what it reported when
// it was ready: nothing, or a Report.
type Starter func(ctx context.Context, p Place) ([]byte, error)

// Report is what a server says that could not start.
type Report struct {
	Fault *wireFault `json:"fault"`
}

// ReportOf turns an error of NewServer into what Starter returns.
func ReportOf(err error) []byte {
	b, merr := json.Marshal(Report{toWire(err)})
	if merr != nil {
		panic(merr) // strings and numbers always marshal
	}
	return b
}

// Connect connects to the board's server and starts one if there is none.
// started says that it did.
func Connect(ctx context.Context, p Place, version, verb string, start Starter) (c *Client, started bool, err error) {
	c, err = Dial(ctx, p, version, verb)
	if !errors.Is(err, ErrNotServed) {
		return c, false, err
	}
	// Of several starters one starts, the others wait for it.
	turn, err := p.waitLock(ctx, "start.lock", verb)
	if err != nil {
		return nil, false, err
	}
	defer turn.Release()
	c, err = Dial(ctx, p, version, verb)
	if !errors.Is(err, ErrNotServed) {
		return c, false, err
	}
	if u, held := p.Holder(); held {
		if u.Verb != ServerVerb {
			return nil, false, busy(p.Selector(), u)
		}
		// A server that is about to listen, or about to end.
		if err := p.awaitFree(ctx, 5*time.Second); err != nil {
			if c, derr := Dial(ctx, p, version, verb); derr == nil {
				return c, false, nil
			}
			return nil, false, err
		}
	}
	report, err := start(ctx, p)
	if err != nil {
		return nil, false, err
	}
	if len(report) > 0 {
		var r Report
		if err := json.Unmarshal(report, &r); err != nil || r.Fault == nil {
			return nil, false, p.noStart(fmt.Errorf("it says %.200q", report))
		}
		return nil, false, r.Fault.fault()
	}
	c, err = Dial(ctx, p, version, verb)
	if errors.Is(err, ErrNotServed) {
		err = p.noStart(err)
	}
	return c, err == nil, err
}

func (p Place) noStart(err error) error {
	return &faults.Fault{
		Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
		Summary: "the process that serves the simulated board " + p.Selector() + " did not start", Err: err,
		Try: []string{"read what it says: cat " + p.LogPath()},
	}
}

// retryTime is how often a lock that is waited for is tried.
const retryTime = 20 * time.Millisecond

// waitLock takes a lock file, and waits for it.
func (p Place) waitLock(ctx context.Context, name, verb string) (*Lock, error) {
	for {
		l, err := p.takeLock(name, verb)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		if err := pause(ctx, retryTime); err != nil {
			return nil, err
		}
	}
}

// awaitFree waits until nobody has the board.
func (p Place) awaitFree(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		u, held := p.Holder()
		if !held {
			return nil
		}
		if u.Verb != ServerVerb && u.Verb != "" || time.Now().After(end) {
			return busy(p.Selector(), u)
		}
		if err := pause(ctx, retryTime); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Borrowed is a board in the caller's own process.
type Borrowed struct {
	place  Place
	lock   *Lock
	client *Client // of the server that lent it, if there is one
	// Contents are the board's.
	Contents *Contents
}

// Borrow takes a board into the caller's process: from its server, if it has
// one, which takes it back afterwards.
func Borrow(ctx context.Context, p Place, version, verb string) (*Borrowed, error) {
	b := &Borrowed{place: p}
	c, err := Dial(ctx, p, version, verb)
	if err == nil {
		if err := c.Lend(ctx); err != nil {
			_ = c.Close()
			return nil, err
		}
		b.client = c
	} else if !errors.Is(err, ErrNotServed) {
		return nil, err
	}
	if b.lock, err = p.TakeLock(verb); err == nil {
		b.Contents, err = p.Load()
	}
	if err != nil {
		_ = b.Return(nil)
		return nil, err
	}
	return b, nil
}

// Return writes what changed and gives the board back; nil changes nothing.
func (b *Borrowed) Return(c *Contents) error {
	var err error
	if c != nil && !c.Equal(b.Contents) {
		err = b.place.Save(c)
	}
	b.lock.Release()
	if b.client != nil {
		_ = b.client.Close()
		b.client = nil
	}
	return err
}

// askTime is how long a server may take to answer, or to end by a signal, before
// something stronger is tried.
const askTime = 2 * time.Second

// Stop ends the server of a board, if there is one: asked by the protocol, else
// by signals to the process that has the socket. It reports whether there was
// one.
func Stop(ctx context.Context, p Place, version string) (bool, error) {
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	c, err := Dial(asking, p, version, "stop")
	switch {
	case err == nil:
		err = c.Stop(asking)
		_ = c.Close()
	case errors.Is(err, ErrNotServed):
		u, held := p.Holder()
		if !held {
			_ = os.Remove(p.Socket)
			return false, nil
		}
		if u.Verb != ServerVerb {
			return false, busy(p.Selector(), u)
		}
	}
	if err == nil && p.awaitFree(ctx, 10*time.Second) == nil {
		return true, nil
	}
	if u, held := p.Holder(); err == nil && held && u.Verb != ServerVerb {
		return true, nil // the server is gone; it had lent the board
	}
	// It does not understand, or does not answer. The lock is held, so the
	// number in it is the holder's and nobody else's.
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		u, held := p.Holder()
		if !held {
			return true, nil
		}
		if u.PID <= 1 || u.Verb != ServerVerb {
			return false, busy(p.Selector(), u)
		}
		if err := unix.Kill(u.PID, sig); err != nil && !errors.Is(err, unix.ESRCH) {
			return false, p.fault("cannot be stopped", err)
		}
		if p.awaitFree(ctx, askTime) == nil {
			_ = os.Remove(p.Socket)
			return true, nil
		}
	}
	return false, p.awaitFree(ctx, 0)
}

// Runtime makes the folder for sockets.
func Runtime(dir string) error { return state.MakeFolder(filepath.Clean(dir)) }
