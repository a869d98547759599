package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

// AskHub asks a hub that runs for the socket of a level; instance may be empty.
// net.ErrClosed and the like say that no hub answers.
func AskHub(ctx context.Context, runtime, instance, level string) (socket string, err error) {
	t, err := question(ctx, runtime, ask{Op: "open", Instance: instance, Level: level})
	if err != nil {
		return "", err
	}
	return t.Socket, nil
}

// StatusOfHub asks a hub what it does.
func StatusOfHub(ctx context.Context, runtime string) (*HubStatus, error) {
	t, err := question(ctx, runtime, ask{Op: "status"})
	if err != nil {
		return nil, err
	}
	return t.Status, nil
}

// questionTime bounds how long a hub may take to answer.
const questionTime = 20 * time.Second

func question(ctx context.Context, runtime string, q ask) (*told, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", HubSocket(runtime))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return nil, err
	}
	line, err := readMessageLine(bufio.NewReader(conn), 1<<20)
	if err != nil {
		return nil, err
	}
	var t told
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, faults.Internal(err)
	}
	if len(t.Error) > 0 {
		var d ui.FaultDocument
		if err := json.Unmarshal(t.Error, &d); err != nil || d.Code == "" {
			return nil, faults.Internal(fmt.Errorf("the hub answers %s", t.Error))
		}
		return nil, &faults.Fault{Code: d.Code, Status: d.Status, Summary: d.Summary, Seen: d.Seen, Wanted: d.Wanted, Details: d.Details, Try: d.Try}
	}
	return &t, nil
}

// Relay joins in and out to a channel's socket until in ends and the answers are
// through, or the channel ends. Nothing of what passes is looked at.
func Relay(ctx context.Context, socket string, p Preface, in io.Reader, out io.Writer) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost, Summary: "nobody answers on the socket of this level", Seen: socket, Err: err, Try: []string{"stem-hw mcp status"},
		}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	p.StemHW = "mcp/1"
	head, err := json.Marshal(p)
	if err != nil {
		return faults.Internal(err)
	}
	if _, err := conn.Write(append(head, '\n')); err != nil {
		return lost(err)
	}
	sent := make(chan struct{})
	go func() {
		_, _ = io.Copy(conn, in)
		close(sent)
		if u, ok := conn.(*net.UnixConn); ok {
			_ = u.CloseWrite()
		}
	}()
	_, err = io.Copy(out, conn)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-sent:
		return nil // the client ended
	default:
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return lost(err)
	}
	return lost(nil)
}

func lost(err error) error {
	return &faults.Fault{
		Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the connection to the session's tools ended", Err: err, Try: []string{"stem-hw mcp status"},
	}
}
