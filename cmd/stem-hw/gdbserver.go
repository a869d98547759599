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
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/ui"
)

// debugFlags are the options that debug and gdbserver share.
type debugFlags struct {
	board       string
	machine     string
	harts       int
	rtos        string
	semihosting string
	log         []string
}

func (f *debugFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.board, "board", "b", "", "the `BOARD` to debug: sim")
	choiceFlag(cmd, &f.machine, "machine", sim.MachineAuto, "the simulated `MACHINE`: "+strings.Join(sim.Machines(), ", "), sim.Machines()...)
	fl.IntVar(&f.harts, "harts", 1, "`NUMBER` of harts of the machine hazard3-tb: 1 or 2")
	choiceFlag(cmd, &f.rtos, "rtos", "auto", "show the tasks of an `RTOS` as threads: auto, none, freertos", "auto", "none", "freertos")
	fl.StringVar(&f.semihosting, "semihosting-dir", "", "let the program, and gdb's remote get and put, use files in this `FOLDER`")
	fl.StringArrayVar(&f.log, "log", nil, "log a wire `LAYER` to standard error: gdb")
}

// protected are the ranges that no debugger writes: one-time-programmable
// memory and its registers (RP2350 datasheet 13.9).
var protected = []target.Region{{Name: "OTP", Base: 0x40120000, Size: 0x20000}}

// served is a target behind a gdb server.
type served struct {
	program *program
	target  target.Target
	server  *gdbserver.Server
	files   *semihost.Files
}

// serve loads a program and puts a gdb server before it. killed is called when
// a client ends the program.
func (a *app) serve(ctx context.Context, path string, f *debugFlags, killed func()) (*served, error) {
	if err := simulatedBoard(f.board); err != nil {
		return nil, err
	}
	p, err := openProgram(path, f.machine)
	if err != nil {
		return nil, err
	}
	log, err := a.wireLog(f.log)
	if err != nil {
		return nil, err
	}
	s := &served{program: p}
	opt := gdbserver.Options{
		RTOS: f.rtos, Protect: protected, Log: log, Killed: killed,
		Notify: func(text string) { a.ui.Verbose(1, "%s", text) },
	}
	if f.semihosting != "" {
		if s.files, err = semihost.OpenDir(f.semihosting); err != nil {
			return nil, err
		}
		opt.Files = sandbox{s.files}
	}
	s.target, err = sim.New(sim.Options{
		Machine: p.machine, Harts: f.harts, Debug: true, Symbols: p.symbols,
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
	a.ui.Verbose(1, "machine %s: %s", p.machine, p.why)
	return s, nil
}

// Close ends the target.
func (s *served) Close() error {
	var errs []error
	if s.target != nil {
		errs = append(errs, s.target.Close())
	}
	if s.files != nil {
		errs = append(errs, s.files.Close())
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

// sandbox offers the folder of semihosting to gdb.
type sandbox struct{ files *semihost.Files }

// Open implements gdbserver.Files. The flags of gdb's File-I/O protocol are
// turned into those of the host (GDB manual, "Open Flags").
func (s sandbox) Open(name string, flags int, mode uint32) (gdbserver.File, error) {
	host := flags & 3 // O_RDONLY, O_WRONLY, O_RDWR
	for gdb, f := range map[int]int{0x8: os.O_APPEND, 0x200: os.O_CREATE, 0x400: os.O_TRUNC, 0x800: os.O_EXCL} {
		if flags&gdb != 0 {
			host |= f
		}
	}
	return s.files.OpenFlags(name, host, os.FileMode(mode&0o777))
}

// Remove implements gdbserver.Files.
func (s sandbox) Remove(name string) error { return s.files.Remove(name) }

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
	f.add(cmd)
	cmd.Flags().StringVar(&tcp, "tcp", "", "listen on this TCP `ADDRESS`; :0 takes a free port of the loopback interface")
	cmd.Flags().StringVar(&socket, "socket", "", "listen on a Unix socket at this `PATH`")
	return cmd
}

func (a *app) gdbserver(ctx context.Context, path string, f *debugFlags, tcp, socket string) error {
	if tcp != "" && socket != "" {
		return faults.Usage("--tcp and --socket exclude each other")
	}
	s, err := a.serve(ctx, path, f, nil)
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
		Machine: s.program.machine, Address: address, Simulated: true,
		Gdb: fmt.Sprintf("gdb-multiarch -iex 'set osabi none' -ex %s%s", shellQuote("target remote "+address), file),
	})
	if err != nil {
		return err
	}
	return s.server.Serve(ctx, l)
}

// listen opens the socket for gdb; address is what "target remote" takes.
func (a *app) listen(tcp, socket string) (l net.Listener, address string, done func(), err error) {
	done = func() {}
	switch {
	case tcp != "":
		host, port, serr := net.SplitHostPort(tcp)
		if serr != nil {
			u := faults.Usage("--tcp takes an address")
			u.Seen, u.Wanted = fmt.Sprintf("%q", tcp), ":3333 or 127.0.0.1:3333"
			return nil, "", nil, u
		}
		if host == "" {
			host = "127.0.0.1"
		}
		if l, err = net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
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
