package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/gdbsync"
)

// ttyName is what a terminal of ours is called.
var ttyName = regexp.MustCompile(`^/dev/pts/[0-9]{1,6}$`)

const pausePane = 150 * time.Millisecond

// ConsolePane shows the program's console and takes what is typed for it.
func ConsolePane(ctx context.Context, s *PaneSpec, pio PaneIO) error {
	switch {
	case len(s.Console) > 0:
		return consoleCommand(ctx, s, pio)
	case s.Remote:
		return consoleSocket(ctx, s, pio)
	}
	return consoleTerminal(ctx, s, pio)
}

// consoleCommand runs the command that shows a board's console, and again when
// it ended.
func consoleCommand(ctx context.Context, s *PaneSpec, pio PaneIO) (err error) {
	sup, err := child.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sup.Close()) }()
	for {
		p, err := sup.Start(ctx, child.Spec{
			Program: s.Console[0], Args: s.Console[1:], Dir: s.Card, Stdin: pio.In, Stdout: pio.Out, Stderr: pio.Out, Terminal: pio.In,
		})
		if err != nil {
			return err
		}
		_ = p.Wait()
		if ctx.Err() != nil {
			return nil
		}
		pio.Say("the console ended. Enter starts it again, q closes this window")
		if again, err := gdbsync.AskAgain(ctx, pio.In); err != nil || !again {
			return err
		}
	}
}

// consoleSocket joins the terminal and the session's console, whenever it is
// there.
func consoleSocket(ctx context.Context, s *PaneSpec, pio PaneIO) error {
	typed := make(chan []byte)
	go readTyped(ctx, pio.In, typed)
	for ctx.Err() == nil {
		c, err := net.Dial("unix", s.Folder.Console())
		if err == nil {
			joinConsole(ctx, c, pio.Out, typed)
		}
		pause(ctx)
	}
	return nil
}

func readTyped(ctx context.Context, in io.Reader, typed chan<- []byte) {
	for {
		b := make([]byte, 1024)
		n, err := in.Read(b)
		if err != nil {
			return
		}
		select {
		case typed <- b[:n]:
		case <-ctx.Done():
			return
		}
	}
}

func joinConsole(ctx context.Context, c net.Conn, out io.Writer, typed <-chan []byte) {
	defer c.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(out, c)
	}()
	for {
		select {
		case b := <-typed:
			if _, err := c.Write(b); err != nil {
				return
			}
		case <-done:
			return
		case <-ctx.Done():
			return
		}
	}
}

func pause(ctx context.Context) {
	t := time.NewTimer(pausePane)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// logName is the program log's name in .stem/instances/<instance>/.
const logName = "program.log"

// consoleTerminal gives the program that gdb runs a terminal of its own, shows
// it here, and keeps what was printed.
func consoleTerminal(ctx context.Context, s *PaneSpec, pio PaneIO) error {
	pty, err := gdbsync.OpenPTY()
	if err != nil {
		return err
	}
	defer pty.Close()
	if err := gdbsync.MakeCooked(pty.Slave); err != nil {
		return err
	}
	if err := gdbsync.MakeRaw(pio.In); err != nil {
		return err
	}
	if err := state.Replace(s.Folder.tty(), []byte(pty.Name)); err != nil {
		return err
	}
	log, err := openLog(s.Card, s.Instance)
	if err != nil {
		pio.Say("warning: %v", err)
	} else {
		defer log.Close()
	}
	stop := context.AfterFunc(ctx, func() { _ = pty.Close() })
	defer stop()
	typed := make(chan []byte)
	go readTyped(ctx, pio.In, typed)
	go func() {
		for {
			select {
			case b := <-typed:
				_, _ = pty.Master.Write(b)
			case <-ctx.Done():
				return
			}
		}
	}()
	var out io.Writer = pio.Out
	if log != nil {
		out = io.MultiWriter(pio.Out, log)
	}
	_, err = io.Copy(out, pty.Master)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// dataDir is the folder in a card for what a person may look at: .stem, or .rv
// where only that older one is there.
func dataDir(card string) string {
	isDir := func(name string) bool {
		st, err := os.Lstat(filepath.Join(card, name))
		return err == nil && st.IsDir()
	}
	if !isDir(".stem") && isDir(".rv") {
		return ".rv"
	}
	return ".stem"
}

// ProgramLog is the path of what the program of a session printed.
func ProgramLog(card, instance string) string {
	return filepath.Join(card, dataDir(card), "instances", instance, logName)
}

// openLog opens the program log in the card's .stem folder. The card is not ours
// alone: nothing outside it is written, whatever links are in it.
func openLog(card, instance string) (*os.File, error) {
	root, err := os.OpenRoot(card)
	if err != nil {
		return nil, fmt.Errorf("program log: %w", err)
	}
	defer root.Close()
	dir := ""
	for _, d := range []string{dataDir(card), "instances", instance} {
		dir = filepath.Join(dir, d)
		if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("program log: %w", err)
		}
		if st, err := root.Lstat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("program log: %s in the card is no folder", dir)
		}
	}
	path := filepath.Join(dir, logName)
	if st, err := root.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("program log: %s in the card is no plain file", path)
	}
	f, err := root.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("program log: %w", err)
	}
	return f, nil
}

// LogPane shows the program's log as it grows.
func LogPane(ctx context.Context, s *PaneSpec, pio PaneIO) error {
	path := filepath.Join(s.Card, ".stem", "instances", s.Instance, logName)
	var at int64
	start := true
	for ctx.Err() == nil {
		if f, err := os.Open(path); err == nil {
			if st, err := f.Stat(); err == nil && (st.Size() < at || start) {
				at = max(0, st.Size()-(64<<10))
				if !start {
					at = 0
				}
			}
			start = false
			if _, err := f.Seek(at, io.SeekStart); err == nil {
				n, _ := io.Copy(crlf{pio.Out}, f)
				at += n
			}
			_ = f.Close()
		}
		pause(ctx)
	}
	return nil
}

// crlf writes what a program printed for a terminal, without its control
// characters.
type crlf struct{ w io.Writer }

// Write keeps printable text and line feeds.
func (c crlf) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+16)
	for _, b := range p {
		switch {
		case b == '\n':
			out = append(out, '\r', '\n')
		case b >= 0x20 && b != 0x7f || b == '\t':
			out = append(out, b)
		}
	}
	if _, err := c.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
