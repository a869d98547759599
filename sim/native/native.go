package native

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// Is says whether a file is an ELF program for this computer's processor.
func Is(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Class == elf.ELFCLASS64 && f.Machine == elf.EM_X86_64 && (f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN)
}

// Options say which program.
type Options struct {
	Path string
	Args []string
	Dir  string
	Env  []string
	// Output, if not nil, gets what the program prints, in place of Console.
	Output func(stream string, p []byte)
}

// Target is one program. It implements target.Target.
type Target struct {
	opt Options
	sup *child.Supervisor

	mu      sync.Mutex
	p       *child.Process
	input   *io.PipeWriter
	started chan struct{} // closed at the first start
	console *console
}

// New makes a target; nothing runs yet.
func New(opt Options) (*Target, error) {
	if !Is(opt.Path) {
		return nil, &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage, Summary: opt.Path + " is no program for this computer",
			Wanted: "an ELF program for x86-64 Linux", Try: []string{"stem-hw build --target native-amd64"},
		}
	}
	path, err := filepath.Abs(opt.Path)
	if err != nil {
		return nil, faults.Internal(err)
	}
	opt.Path = path
	sup, err := child.New()
	if err != nil {
		return nil, err
	}
	t := &Target{opt: opt, sup: sup, started: make(chan struct{})}
	t.console = newConsole(t)
	return t, nil
}

// Describe says what it is.
func (t *Target) Describe() target.Description {
	return target.Description{Name: "native", Arch: image.ArchUnknown}
}

// Load checks that the file is still a program; images for boards do not run
// here.
func (t *Target) Load(_ context.Context, img *image.Image) error {
	if img != nil {
		return &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage, Summary: "an image for a board does not run on this computer",
			Try: []string{"stem-hw run --profile hazard3-sim FILE"},
		}
	}
	if !Is(t.opt.Path) {
		return fmt.Errorf("%s is no program any more", t.opt.Path)
	}
	return nil
}

// Start runs the program from its beginning.
func (t *Target) Start(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.p != nil {
		return errors.New("the program runs already")
	}
	r, w := io.Pipe()
	env := t.opt.Env
	if env == nil {
		env = os.Environ()
	}
	p, err := t.sup.Start(context.WithoutCancel(ctx), child.Spec{
		Program: t.opt.Path, Args: t.opt.Args, Dir: t.opt.Dir, Env: env,
		Stdin: r, Stdout: t.console.stream("stdout"), Stderr: t.console.stream("stderr"),
	})
	if err != nil {
		_ = w.Close()
		return err
	}
	t.p, t.input = p, w
	select {
	case <-t.started:
	default:
		close(t.started)
	}
	go func() {
		<-p.Done()
		_ = r.Close() // so that nobody waits to write
	}()
	return nil
}

// Reset ends the program; unless it is to be halted it runs from its beginning.
func (t *Target) Reset(ctx context.Context, mode target.ResetMode) error {
	t.stop()
	if mode == target.ResetHalt {
		return nil
	}
	return t.Start(ctx)
}

func (t *Target) stop() {
	t.mu.Lock()
	p, in := t.p, t.input
	t.p, t.input = nil, nil
	t.mu.Unlock()
	if p != nil {
		_ = in.Close()
		p.Stop()
		_ = p.Wait()
	}
}

// Started waits until the program was started once.
func (t *Target) Started(ctx context.Context) error {
	select {
	case <-t.started:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// CloseInput ends the program's standard input.
func (t *Target) CloseInput() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.input != nil {
		_ = t.input.Close()
	}
}

// Console is the program's standard input and output.
func (t *Target) Console() io.ReadWriter { return t.console }

// Close ends the program and everything it started.
func (t *Target) Close() error {
	t.stop()
	t.console.end()
	return t.sup.Close()
}

// Exit is how a program ended.
type Exit struct {
	// Status is its exit status, Signal the signal that ended it.
	Status int
	Signal string
}

// Wait waits for the program's end.
func (t *Target) Wait(ctx context.Context) (Exit, error) {
	t.mu.Lock()
	p := t.p
	t.mu.Unlock()
	if p == nil {
		return Exit{}, errors.New("the program does not run")
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return Exit{}, context.Cause(ctx)
	}
	err := p.Wait()
	var ee *child.ExitError
	if errors.As(err, &ee) {
		return Exit{Status: ee.Status, Signal: ee.Signal}, nil
	}
	return Exit{}, err
}

// Outcome is how Run ended.
type Outcome struct {
	Exit
	// Exited says that the program ended by itself; Matched and Failed are the
	// texts that came; Pending are those that did not; TimedOut says the time was
	// up.
	Exited   bool
	Matched  bool
	Failed   string
	Pending  []string
	TimedOut bool
}

// RunOptions say what a run waits for.
type RunOptions struct {
	Expect, Fail []string
	Timeout      time.Duration
}

// Run starts the program, watches what it prints, and waits for its end, for the
// last expected text, or for one that means failure.
func (t *Target) Run(ctx context.Context, o RunOptions) (Outcome, error) {
	w := &watch{expect: o.Expect, fail: o.Fail, hit: make(chan struct{}, 1)}
	t.console.watch(w)
	if err := t.Start(ctx); err != nil {
		return Outcome{}, err
	}
	limited := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	exited := make(chan Exit, 1)
	failed := make(chan error, 1)
	go func() {
		e, err := t.Wait(limited)
		if err != nil {
			failed <- err
			return
		}
		exited <- e
	}()
	var out Outcome
	select {
	case out.Exit = <-exited:
		out.Exited = true
	case <-w.hit:
	case err := <-failed:
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if limited.Err() == nil {
			return out, err
		}
		out.TimedOut = limited.Err() != nil
	}
	t.stop()
	out.Pending, out.Failed = w.verdict()
	out.Matched = len(o.Expect) > 0 && len(out.Pending) == 0
	return out, nil
}

// watch looks for texts in a stream.
type watch struct {
	mu     sync.Mutex
	expect []string
	fail   []string
	text   strings.Builder
	from   int // what is before was matched
	next   int
	failed string
	hit    chan struct{}
}

const keepWatched = 1 << 20

func (w *watch) write(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() > keepWatched {
		rest := w.text.String()[max(w.from, w.text.Len()-(64<<10)):]
		w.text.Reset()
		w.text.WriteString(rest)
		w.from = 0
	}
	w.text.Write(p)
	all := w.text.String()
	for _, f := range w.fail {
		if f != "" && strings.Contains(all, f) {
			w.failed = f
		}
	}
	for w.next < len(w.expect) {
		i := strings.Index(all[w.from:], w.expect[w.next])
		if i < 0 {
			break
		}
		w.from += i + len(w.expect[w.next])
		w.next++
	}
	if w.failed != "" || len(w.expect) > 0 && w.next == len(w.expect) {
		select {
		case w.hit <- struct{}{}:
		default:
		}
	}
}

func (w *watch) verdict() (pending []string, failed string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.expect[w.next:], w.failed
}
