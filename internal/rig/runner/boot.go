//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig/boards"
	"github.com/stem-hw/stem-hw/internal/rig/wire"
)

// bootOptions are those of one boot.
type bootOptions struct {
	*options
	top, io, work, image, flavour string
	events                        *events
}

// Times of a boot, generous for a machine without KVM on a busy host.
const (
	bootLimit = 8 * time.Minute
	downLimit = time.Minute
)

var errEnded = errors.New("QEMU ended during the boot")

// errNotUp says that the machine did not boot: no test has run.
var errNotUp = errors.New("the machine did not boot")

// guest is a machine that runs.
type guest struct {
	o     *bootOptions
	mux   *wire.Mux
	maker *boards.Maker
	// controls counts the test processes that have boards.
	controls sync.WaitGroup
	seen     int // lines of the kernel's log that were looked at
}

// boot starts the machine, runs the suites, and lets it end.
func boot(ctx context.Context, o *bootOptions, suites []suite) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	socket := filepath.Join(o.io, "rig.sock")
	l, err := listen(socket)
	if err != nil {
		return err
	}
	defer l.Close()
	name := "console"
	if o.flavour != "" {
		name += "-" + o.flavour
	}
	console := filepath.Join(o.work, name)
	start := time.Now()
	qemu, err := startQEMU(ctx, o, socket, console)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := qemu.Wait(); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "rig: QEMU:", err)
		}
	}()
	defer func() {
		cancel() // kills what is still there
		<-ended
	}()
	conn, err := accept(l, ended)
	if err != nil {
		return complain(console, err)
	}
	defer conn.Close()
	g := &guest{o: o}
	g.mux = wire.NewMux(conn, 1, g.accept)
	g.maker = &boards.Maker{Attacher: g, Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	go g.mux.Run() //nolint:errcheck // every stream ends with the connection
	if err := g.awaitReady(ctx, ended); err != nil {
		return complain(console, fmt.Errorf("%w: %w", errNotUp, err))
	}
	if _, err := g.kernel(); err != nil { // how it booted is nobody's test
		return complain(console, err)
	}
	fmt.Fprintf(os.Stderr, "rig: the machine is up after %.1f s\n", time.Since(start).Seconds())
	for _, s := range suites {
		if err := g.suite(ctx, s); err != nil {
			return complain(console, err)
		}
	}
	conn.Close() // the agent ends, and with it the machine
	select {
	case <-ended:
		return nil
	case <-time.After(downLimit):
		return complain(console, errors.New("the machine did not power off"))
	}
}

// listen listens on a Unix socket, whose path may be long.
func listen(path string) (net.Listener, error) {
	if len(path) > 100 {
		return nil, fmt.Errorf("the path of the clone is too long for a socket in it: %s", path)
	}
	return net.Listen("unix", path)
}

// accept waits for QEMU to connect.
func accept(l net.Listener, ended <-chan struct{}) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	got := make(chan result, 1)
	go func() {
		c, err := l.Accept()
		got <- result{c, err}
	}()
	select {
	case r := <-got:
		return r.conn, r.err
	case <-ended:
		return nil, errEnded
	}
}

// complain adds the end of the console to an error.
func complain(console string, err error) error {
	b, rerr := os.ReadFile(console)
	if rerr != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(string(b), "\r\n"), "\n")
	lines = lines[max(0, len(lines)-40):]
	return fmt.Errorf("%w\nthe console (%s) ends with:\n%s", err, console, strings.Join(lines, "\n"))
}

func startQEMU(ctx context.Context, o *bootOptions, socket, console string) (*exec.Cmd, error) {
	kernel := "console=ttyS0 quiet panic=-1 mitigations=off log_buf_len=4M" +
		// On a busy host the guest stands still at times, which is nobody's fault.
		" no_timer_check watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300"
	if o.flavour == systemd {
		kernel += " rig.init=/sbin/init systemd.show_status=0"
	}
	accel := []string{"-accel", "tcg,thread=multi,tb-size=512", "-cpu", "qemu64"}
	if os.Getenv("STEM_HW_RIG_KVM") == "1" {
		accel = []string{"-accel", "kvm", "-cpu", "host"}
	}
	disk := func(id, file string) []string {
		return []string{
			"-drive", "file=" + filepath.Join(o.image, file) + ",if=none,id=" + id + ",format=raw,readonly=on,cache=unsafe",
			"-device", "virtio-blk-pci,drive=" + id,
		}
	}
	share := func(id, path, more string) []string {
		return []string{
			"-fsdev", "local,id=" + id + ",path=" + strings.ReplaceAll(path, ",", ",,") + ",security_model=none" + more,
			"-device", "virtio-9p-pci,fsdev=" + id + ",mount_tag=" + id,
		}
	}
	args := append(accel, "-m", fmt.Sprint(o.memory), "-smp", "2",
		"-nodefaults", "-no-user-config", "-nic", "none", "-display", "none", "-no-reboot",
		"-serial", "file:"+console,
		"-kernel", filepath.Join(o.image, "vmlinuz"), "-initrd", filepath.Join(o.image, "initrd.gz"), "-append", kernel,
		"-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng",
		"-chardev", "socket,id=rig,path="+socket, "-device", "virtio-serial-pci",
		"-device", "virtserialport,chardev=rig,name="+wire.PortName)
	args = append(args, disk("root", "root.img")...)
	args = append(args, disk("later", "later.img")...)
	args = append(args, share("io", o.io, "")...)
	args = append(args, share("src", o.top, ",readonly=on")...)
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// With this process QEMU ends, however that ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("QEMU: %w", err)
	}
	return cmd, nil
}

// accept serves a stream that the guest opened.
func (g *guest) accept(s *wire.Stream, h wire.Hello) {
	defer s.Close()
	if h.Control == nil {
		return
	}
	g.controls.Add(1)
	defer g.controls.Done()
	if err := g.maker.Serve(s); err != nil {
		fmt.Fprintln(os.Stderr, "rig:", err)
	}
}

// Attach implements boards.Attacher.
func (g *guest) Attach(a wire.Attach) (io.ReadWriteCloser, error) {
	return g.mux.Open(wire.Hello{Attach: &a})
}

// exec runs a program in the guest.
func (g *guest) exec(e wire.Exec, out io.Writer) (wire.Goodbye, error) {
	s, err := g.mux.Open(wire.Hello{Exec: &e})
	if err != nil {
		return wire.Goodbye{}, err
	}
	defer s.Close()
	_, err = io.Copy(out, s)
	bye := s.Goodbye()
	if bye == nil {
		return wire.Goodbye{}, errors.Join(err, io.ErrUnexpectedEOF)
	}
	return *bye, err
}

// awaitReady waits until the agent answers.
func (g *guest) awaitReady(ctx context.Context, ended <-chan struct{}) error {
	ready := make(chan error, 1)
	go func() {
		bye, err := g.exec(wire.Exec{Args: []string{"true"}}, io.Discard)
		if err == nil && (bye.Code != 0 || bye.Error != "") {
			err = fmt.Errorf("true: %d %s", bye.Code, bye.Error)
		}
		ready <- err
	}()
	select {
	case err := <-ready:
		return err
	case <-ended:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(bootLimit):
		return fmt.Errorf("the machine is not up after %s", bootLimit)
	}
}
