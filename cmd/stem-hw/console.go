package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/console"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim"
	simboard "github.com/stem-hw/stem-hw/sim/board"
)

// consoleFlags are the options of console.
type consoleFlags struct {
	chooseFlags
	expect, fail []string
	timeout      time.Duration
	timestamps   bool
	hex          bool
	log          string
	raw          bool
	noReconnect  bool
	noHistory    bool
	reset        bool
	untilEnd     bool
	// Of a serial port.
	settings console.Settings
	port     int
	enter    string
	newline  string
	elf      string
	share    string
}

func (a *app) consoleCmd() *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "console",
		Short: "show what a board prints, and type to it",
		Long: `Console shows what the program on a board prints and sends it what is typed. It
begins with what was printed since the last reset, stays over resets and flashing,
and waits for a board that goes away. Several consoles may be attached at once.

On a terminal every key goes to the board, ctrl-c too. The prefix key is ctrl-t:

  ctrl-t ?   help              ctrl-t q   quit
  ctrl-t t   timestamps        ctrl-t o   hexadecimal
  ctrl-t f   log to a file     ctrl-t r   reset the board
  ctrl-t b   send a break      ctrl-t ctrl-t   send ctrl-t

Without a terminal standard input is sent, and ctrl-c quits.

Exit status: 0 the expected text came, or --timeout was up with nothing pending;
20 a --fail-text came, or the program ended or crashed with a text still to come;
124 the time was up with a text still to come; 12 the board went away.

The console of a board on the USB is its serial port, or that of a debug probe. The
board is followed by who it is, whatever its port is called when it comes back, and
the gap is marked. While somebody flashes the board the console lets go of it. A
second console takes part in the first one, which shares it on a Unix socket; other
programs can as well. With --elf, addresses in what is printed are looked up.`,
		Example: `  stem-hw console -b sim
  stem-hw console -b sim --reset --expect-text "all tests passed" --timeout 30s
  echo start | stem-hw console -b sim --timestamps --log out.txt --timeout 5s
  stem-hw console -b E660 --elf app.elf
  stem-hw console -b usb:3-1.2 --baud 9600 --enter crlf`,
		GroupID: groupBoards,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.console(cmd.Context(), &f)
		},
	}
	f.add(cmd, a)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.expect, "expect-text", nil, "succeed once this `TEXT` was printed; may be repeated, the order counts")
	fl.StringArrayVar(&f.fail, "fail-text", nil, "fail once this `TEXT` was printed; may be repeated")
	fl.DurationVar(&f.timeout, "timeout", 0, "end after this `TIME`")
	fl.BoolVar(&f.timestamps, "timestamps", false, "put the time before each line")
	fl.BoolVar(&f.hex, "hex", false, "show hexadecimal numbers")
	fl.StringVar(&f.log, "log", "", "append what is printed to `FILE`")
	fl.BoolVar(&f.raw, "raw", false, "let every terminal control sequence through, not only colours")
	fl.BoolVar(&f.noReconnect, "no-reconnect", false, "end when the board goes away")
	fl.BoolVar(&f.noHistory, "no-history", false, "begin with what is printed from now on")
	fl.BoolVar(&f.reset, "reset", false, "reset the board first")
	fl.BoolVar(&f.untilEnd, "until-end", false, "end when the program ends: 0, or 20 if it failed (simulated boards)")
	fl.IntVar(&f.settings.Baud, "baud", console.Default.Baud, "speed of a serial port in `BAUD`")
	fl.StringVar(&f.settings.Format, "format", console.Default.Format, "data bits, parity and stop bits of a serial port, `8N1`")
	fl.BoolVar(&f.settings.NoDTR, "no-dtr", false, "do not set DTR of a serial port")
	fl.IntVar(&f.port, "port", 1, "the `NUMBER` of the serial port, of a board with several")
	choiceFlag(cmd, &f.enter, "enter", string(console.Keep), "what the end of a line that is typed becomes: `keep`, cr, lf, crlf", console.Endings()...)
	choiceFlag(cmd, &f.newline, "newline", string(console.Keep), "what ends a line that the board sends: `keep`, cr, lf, crlf", console.Endings()...)
	fl.StringVar(&f.elf, "elf", "", "say where addresses that are printed are in the source of this `FILE`")
	fl.StringVar(&f.share, "share", "", "share the console of a board on the USB on a Unix socket at `PATH` (default: one in the runtime folder)")
	return cmd
}

// errQuit ends a console in good order.
var errQuit = errors.New("quit")

// consoleRun is a console at work.
type consoleRun struct {
	a     *app
	f     *consoleFlags
	c     chosen
	view  *consoleView
	texts *sim.Texts
	keys  chan keyPress
	stop  context.CancelCauseFunc
	// decided is set once a text has come; only its line is still shown.
	decided bool
	// enter rewrites the ends of lines that are typed, show those that come; notes
	// look addresses up. All may be nil.
	enter, show *console.Translator
	notes       *console.Notes
}

// consoleLink is what is typed to.
type consoleLink interface {
	Write(p []byte) (int, error)
	Reset(to simboard.ResetTo) error
	Break() error
	Close() error
}

// simLink is the console of a simulated board.
type simLink struct {
	*simboard.Console
	a *app
}

func (l simLink) Break() error {
	l.a.ui.Say("[the UART of a simulated board takes no break]")
	return nil
}

func (a *app) console(ctx context.Context, f *consoleFlags) error {
	c, err := a.choose(ctx, f.board, needAny, "stem-hw console -b %s")
	if err != nil {
		return err
	}
	if c.Sim == "" {
		return a.consoleUSB(ctx, &c, f)
	}
	view, err := a.newConsoleView(c.Selector(), f)
	if err != nil {
		return err
	}
	defer view.close()
	cl, err := a.connect(ctx, c, "console", f.wait)
	if err != nil {
		return err
	}
	restore, err := a.ui.ConsoleInput()
	if err != nil {
		_ = cl.Close()
		return err
	}
	defer restore()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &consoleRun{a: a, f: f, c: c, view: view, texts: sim.NewTexts(f.expect, f.fail), keys: make(chan keyPress), stop: cancel}
	if f.timeout > 0 {
		timer := time.AfterFunc(f.timeout, func() { cancel(errTimeUp) })
		defer timer.Stop()
	}
	if a.streams.InTTY {
		a.ui.Say("[attached to %s; ctrl-t ? for help, ctrl-t q to quit]", c.Selector())
	}
	go r.readInput(ctx)
	err = r.loop(ctx, cl)
	view.close()
	restore()
	return r.verdict(ctx, err)
}

var errTimeUp = errors.New("the time is up")

// loop is attached to the board, again and again.
func (r *consoleRun) loop(ctx context.Context, cl *simboard.Client) error {
	wishes := simboard.ConsoleWishes{History: !r.f.noHistory && !r.f.reset}
	reset := r.f.reset
	for {
		con, err := cl.Console(ctx, wishes)
		if err == nil {
			if reset {
				err = con.Reset(simboard.ResetRun)
				reset = false
			}
			if err == nil {
				err = r.attached(ctx, con)
			}
		}
		_ = cl.Close()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, io.EOF) && faults.StatusOf(err) != faults.StatusLost:
			return err
		case r.f.noReconnect:
			return &faults.Fault{
				Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the board " + r.c.Selector() + " went away",
				Try: []string{"stem-hw list"},
			}
		}
		r.a.ui.Say("[%s went away; waiting for it]", r.c.Selector())
		for {
			if cl, err = simboard.Dial(ctx, r.c.place, buildVersion().Version, "console"); err == nil {
				break
			}
			if !errors.Is(err, simboard.ErrNotServed) && faults.StatusOf(err) != faults.StatusLost {
				return err
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case k := <-r.keys:
				if k.quit {
					return errQuit
				}
			case <-time.After(100 * time.Millisecond):
			}
		}
		r.a.ui.Say("[%s is back]", r.c.Selector())
		wishes.History = true
	}
}

// attached shows one connection until it ends.
func (r *consoleRun) attached(ctx context.Context, con *simboard.Console) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(ctx, func() { _ = con.Close() })
	defer unhook()
	keysErr := make(chan error, 1)
	go func() { keysErr <- r.sendKeys(ctx, simLink{con, r.a}) }()
	for {
		stream, p, e, err := con.Next()
		if err != nil {
			cancel()
			if kerr := <-keysErr; errors.Is(kerr, errQuit) {
				return kerr
			}
			return err
		}
		if e != nil {
			err = r.event(*e)
		} else {
			err = r.output(stream, p)
		}
		if err != nil {
			return err
		}
	}
}

// output shows what was printed, up to the end of the line that decides.
func (r *consoleRun) output(stream string, p []byte) error {
	from := 0
	if !r.decided {
		n, decided := r.texts.Put(stream, p)
		if !decided {
			return r.view.output(stream, p)
		}
		r.decided, from = true, n
		// The rest of the line may never come.
		time.AfterFunc(lastLine, func() { r.stop(errDecided) })
	}
	if i := strings.IndexByte(string(p[max(from-1, 0):]), '\n'); i >= 0 {
		if err := r.view.output(stream, p[:max(from-1, 0)+i+1]); err != nil {
			return err
		}
		return errDecided
	}
	return r.view.output(stream, p)
}

// errDecided ends a console once a text has come.
var errDecided = errors.New("decided")

// lastLine is how long the line that decides may take to end.
const lastLine = 250 * time.Millisecond

// event shows what happened to the board.
func (r *consoleRun) event(e simboard.Event) error {
	if err := r.view.event(e); err != nil {
		return err
	}
	ended := e.Event == "ended" || e.Event == "crashed" || e.Event == "bootsel"
	if !ended || !r.f.untilEnd && len(r.texts.Pending()) == 0 || r.decided {
		return nil
	}
	switch {
	case e.Event == "crashed":
		return &faults.Fault{
			Code: faults.CodeTargetCrashed, Status: faults.StatusFirmware, Summary: "the program crashed", Seen: e.Text,
			Try: []string{"stem-hw debug -b " + r.c.Selector() + " FILE"},
		}
	case len(r.texts.Pending()) > 0:
		return pendingFault("the program ended before it printed what was expected", faults.StatusFirmware, sim.Outcome{Pending: r.texts.Pending()})
	case e.Event == "ended" && e.Code != 0:
		return &faults.Fault{
			Code: faults.CodeFirmwareFail, Status: faults.StatusFirmware,
			Summary: fmt.Sprintf("the program ended with status %d", e.Code), Seen: e.Text,
		}
	}
	return errQuit
}

// verdict turns the end of a console into its exit status.
func (r *consoleRun) verdict(ctx context.Context, err error) error {
	pending := r.texts.Pending()
	switch {
	case r.texts.Failed() != "":
		return &faults.Fault{
			Code: faults.CodeFirmwareFail, Status: faults.StatusFirmware,
			Summary: "the program printed a text that means failure", Seen: fmt.Sprintf("%q", r.texts.Failed()),
		}
	case r.decided:
		r.a.ui.Say("the expected text came")
		return nil
	case errors.Is(err, errTimeUp) || errors.Is(context.Cause(ctx), errTimeUp):
		if len(pending) > 0 {
			return pendingFault("the time is up, and an expected text did not come", faults.StatusTimeout, sim.Outcome{Pending: pending})
		}
		r.a.ui.Say("stopped: the time is up")
		return nil
	case errors.Is(err, errQuit):
		return nil
	}
	return err
}
