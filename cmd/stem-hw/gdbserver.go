package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/ui"
)

// debugFlags are the options that debug and gdbserver share.
type debugFlags struct {
	chooseFlags
	machine     string
	harts       int
	chip        string
	rtos        string
	semihosting string
	log         []string
	console     string
}

func (f *debugFlags) add(cmd *cobra.Command, a *app) {
	fl := cmd.Flags()
	f.chooseFlags.add(cmd, a)
	choiceFlag(cmd, &f.machine, "machine", sim.MachineAuto, "the simulated `MACHINE`: "+strings.Join(sim.Machines(), ", "), sim.Machines()...)
	chipFlag(cmd, &f.chip)
	fl.IntVar(&f.harts, "harts", 1, "`NUMBER` of harts of the machine hazard3-tb: 1 or 2")
	choiceFlag(cmd, &f.rtos, "rtos", "auto", "show the tasks of an `RTOS` as threads: auto, none, freertos", "auto", "none", "freertos")
	fl.StringVar(&f.semihosting, "semihosting-dir", "", "let the program, and gdb's remote get and put, use files in this `FOLDER`")
	fl.StringArrayVar(&f.log, "log", nil, "log a wire `LAYER` to standard error: gdb, or dap with a probe")
}

// served is a target behind a gdb server.
type served struct {
	program *program
	target  target.Target
	server  *gdbserver.Server
	files   *semihost.Files
	console *consoleSocket
	// remote is the program's lasting board; target and server are nil then.
	remote *remoteGdb
	// done gives the probe back that target is reached through; nil without one.
	done func() error
	// lost says why target cannot be reached any more; nil without a probe.
	lost func() error
}

// Serve serves gdb clients until ctx ends.
func (s *served) Serve(ctx context.Context, l net.Listener) error {
	if s.remote != nil {
		return s.remote.Serve(ctx, l)
	}
	return s.server.Serve(ctx, l)
}

// serve loads a program and puts a gdb server before it. killed is called when
// a client ends the program.
func (a *app) serve(ctx context.Context, path string, f *debugFlags, verb string, killed func()) (*served, error) {
	if a.probe != nil {
		return a.serveProbe(ctx, path, f, verb, killed)
	}
	p, err := openProgram(path, f.machine)
	if err != nil {
		return nil, err
	}
	b, err := a.boardFor(ctx, &f.chooseFlags, verb, p)
	if err != nil {
		return nil, err
	}
	rev, err := revision(f.chip, p.machine, b != nil)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return a.serveBoard(ctx, p, *b, f, verb)
	}
	if p.fallback {
		a.ui.Say("using a simulated %s that is thrown away, since no board is named or pinned", p.machine)
	}
	log, err := a.wireLog(f.log)
	if err != nil {
		return nil, err
	}
	s := &served{program: p}
	opt := gdbserver.Options{
		RTOS: f.rtos, Protect: simboard.Protected, Log: log, Killed: killed,
		Notify: func(text string) { a.ui.Verbose(1, "%s", text) },
	}
	if f.semihosting != "" {
		if s.files, err = semihost.OpenDir(f.semihosting); err != nil {
			return nil, err
		}
		opt.Files = simboard.GdbFiles(s.files)
	}
	var printed func(string, []byte)
	if f.console != "" {
		if s.console, err = newConsoleSocket(f.console); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		printed = s.console.printed
	}
	s.target, err = sim.New(sim.Options{
		Output: printed, Input: f.console != "", Machine: p.machine, Revision: rev, Harts: f.harts, Debug: true, Symbols: p.symbols,
		Semihosting: &semihost.Options{Dir: f.semihosting, CommandLine: path, Start: time.Now()},
		Notice:      func(n machine.Notice) { a.ui.Verbose(1, "note: %s", n.Text) },
	})
	if err == nil {
		err = s.target.Load(ctx, p.image)
	}
	if err == nil {
		opt.Target = s.target
		if p.image.Format == image.FormatELF {
			opt.ELF = p.image.ELF
			opt.ELFPath, err = filepath.Abs(path)
		}
	}
	if err == nil {
		s.server, err = gdbserver.New(opt)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.console != nil {
		go s.console.serve(s.target.Console())
	}
	a.ui.Verbose(1, "machine %s: %s", p.machine, p.why)
	return s, nil
}

// Close ends the target.
func (s *served) Close() error {
	var errs []error
	if s.target != nil {
		errs = append(errs, s.target.Close())
	}
	if s.done != nil {
		errs = append(errs, s.done())
	}
	if s.files != nil {
		errs = append(errs, s.files.Close())
	}
	if s.console != nil {
		s.console.Close()
	}
	return errors.Join(errs...)
}

// wireLog returns where the layers named by --log go.
func (a *app) wireLog(layers []string) (io.Writer, error) {
	for _, l := range layers {
		if l != "gdb" {
			u := faults.Usage("there is no wire layer %q", l)
			u.Wanted = "gdb"
			return nil, u
		}
	}
	if len(layers) == 0 {
		return nil, nil
	}
	return sayWriter{a.ui}, nil
}

// sayWriter says each line.
type sayWriter struct{ ui *ui.UI }

func (w sayWriter) Write(p []byte) (int, error) {
	w.ui.Say("%s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// listening is the result of gdbserver.
type listening struct {
	Machine string `json:"machine"`
	// Address is what gdb's "target remote" takes: a path or host:port.
	Address string `json:"address"`
	// Gdb is the command line.
	Gdb       string `json:"gdb"`
	Simulated bool   `json:"simulated"`
}

func (listening) Kind() string { return "gdbserver" }

func (l listening) Text(t *ui.Text) { t.Linef("%s", l.Gdb) }

func (a *app) gdbserverCmd() *cobra.Command {
	var f debugFlags
	var tcp, socket string
	cmd := &cobra.Command{
		Use:     "gdbserver FILE",
		Short:   "serve a program on a simulated board to gdb",
		GroupID: groupDebug,
		Long: `Gdbserver loads a program (ELF, UF2, BIN or Intel HEX) on a simulated board, halts
it before its first instruction, and serves the GDB remote protocol. It prints
the command that connects gdb to it, and serves one client after the other until
ctrl-c.

It listens on a Unix socket that only you can open. With --tcp it listens on the
loopback interface instead, where every account of the machine can connect.`,
		Example: `  stem-hw gdbserver app.elf
  stem-hw gdbserver app.elf --tcp :3333`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gdbserver(cmd.Context(), args[0], &f, tcp, socket)
		},
	}
	f.add(cmd, a)
	cmd.Flags().StringVar(&tcp, "tcp", "", "listen on this TCP `ADDRESS`; :0 takes a free port of the loopback interface")
	cmd.Flags().StringVar(&socket, "socket", "", "listen on a Unix socket at this `PATH`")
	cmd.Flags().StringVar(&f.console, "console", "", "serve the program's console on a Unix socket at this `PATH`, not in gdb")
	return cmd
}

func (a *app) gdbserver(ctx context.Context, path string, f *debugFlags, tcp, socket string) error {
	if tcp != "" && socket != "" {
		return faults.Usage("--tcp and --socket exclude each other")
	}
	if tcp != "" {
		var err error
		if tcp, err = tcpAddress(tcp); err != nil {
			return err
		}
	}
	s, err := a.serve(ctx, path, f, "gdbserver", nil)
	if err != nil {
		return err
	}
	defer s.Close()
	l, address, done, err := a.listen(tcp, socket)
	if err != nil {
		return err
	}
	defer done()
	file := ""
	if s.program.image.Format == image.FormatELF {
		file = " " + shellQuote(path)
	}
	err = a.ui.Event(listening{
		Machine: s.program.machine, Address: address, Simulated: a.probe == nil,
		Gdb: fmt.Sprintf("gdb-multiarch -iex 'set osabi none' -ex %s%s", shellQuote("target remote "+address), file),
	})
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

// tcpAddress completes the address of --tcp: the loopback interface if it names
// no host.
func tcpAddress(tcp string) (string, error) {
	host, port, err := net.SplitHostPort(tcp)
	if err != nil {
		u := faults.Usage("--tcp takes an address")
		u.Seen, u.Wanted = fmt.Sprintf("%q", tcp), ":3333 or 127.0.0.1:3333"
		return "", u
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// listen opens the socket for gdb; address is what "target remote" takes.
func (a *app) listen(tcp, socket string) (l net.Listener, address string, done func(), err error) {
	done = func() {}
	switch {
	case tcp != "":
		if l, err = net.Listen("tcp", tcp); err == nil {
			address = l.Addr().String()
		}
	case socket != "":
		if l, err = net.Listen("unix", socket); err == nil {
			err = os.Chmod(socket, 0o600)
			address = socket
		}
	default:
		dir, derr := a.newRunDir()
		if derr != nil {
			return nil, "", nil, derr
		}
		done = func() { _ = dir.Close() }
		address, err = dir.socket("gdb")
		if err == nil {
			l, err = net.Listen("unix", address)
		}
	}
	if err != nil {
		done()
		if faults.Of(err) != nil {
			return nil, "", nil, err
		}
		return nil, "", nil, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusBusy,
			Summary: "cannot listen for gdb", Err: err,
			Try: []string{"stem-hw gdbserver --tcp :0 FILE", "stem-hw gdbserver FILE"},
		}
	}
	return l, address, done, nil
}

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
