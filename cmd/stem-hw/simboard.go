package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/virtual"
	"github.com/stem-hw/stem-hw/sim/virtual/bench"
	"github.com/stem-hw/stem-hw/ui"
)

// boardFlags are the options of sim board.
type boardFlags struct {
	jtag, swd, dap string
	usbip          string
	tcp, attach    bool
	boards         int
	probe          bool
	dapPackets     int
	dapVersion     string
	trouble        []string
	faults         []string
	serials        []string
	probeSerials   []string
	ports          []int
	arch           string
	speed          string
}

// debugPort reports whether a way to the debug port was asked for.
func (f *boardFlags) debugPort() bool { return f.jtag != "" || f.swd != "" || f.dap != "" }

// usb reports whether the board has a USB side.
func (f *boardFlags) usb() bool {
	return !f.debugPort() || f.usbip != "" || f.tcp || f.attach
}

// boardArch is the architecture of the cores after power-up: that of FILE, or
// what --arch says; Arm as on a new chip.
func (f *boardFlags) boardArch() (image.Arch, error) {
	switch f.arch {
	case "", "arm":
		return image.ArchARM, nil
	case "riscv":
		return image.ArchRISCV, nil
	}
	u := faults.Usage("there is no architecture called %q", f.arch)
	u.Wanted = "arm or riscv"
	return image.ArchUnknown, u
}

func (a *app) simCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "simulated boards",
		GroupID: groupBoards,
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Long: `The boards sim and sim:NAME are simulated and last: their flash and fuses are kept
in your state folder, and a process that is started on demand runs them. It ends
with sim stop, or by itself once nobody is attached and no program has run for
ten minutes ($STEM_HW_SIM_IDLE says how long, 0 is for ever).

sim board is another one, for debuggers of other projects: it lives as long as
the command.`,
		Example: `  stem-hw sim list
  stem-hw sim stop
  stem-hw sim board app.elf --jtag-bitbang :9824`,
	}
	cmd.AddCommand(a.simBoardCmd(), a.simListCmd(), a.simStatsCmd(), a.simStopCmd(), a.simServeCmd())
	return cmd
}

func (a *app) simBoardCmd() *cobra.Command {
	var f boardFlags
	cmd := &cobra.Command{
		Use:   "board [FILE]",
		Short: "run simulated Pico 2 boards for other people's tools",
		Long: `Board runs simulated Raspberry Pi Pico 2 boards until ctrl-c, with the program
FILE in their flash if one is given, else in BOOTSEL mode. Other people's tools
take them for real ones. What the program prints on a UART goes to standard
output.

By USB: as root, where the kernel module vhci-hcd is loaded, the boards are
attached to this machine as if they had been plugged in, and attached again
whenever they restart; what appeared is printed. --tcp offers them over USB/IP on
the loopback interface instead and prints the commands that attach them, --usbip
does so at an address of your choice. --probe gives each board a Debug Probe.

By its debug port: OpenOCD over remote_bitbang (SWD and JTAG) or CMSIS-DAP over
TCP, for one board. Addresses without a host are on the loopback interface; :0
takes a free port, which is printed. The JTAG chain exists in the simulation
alone.

USB transfers, erasing and programming are counted in the time that they take on
hardware (sim stats SERIAL), and take it only with --speed real.

--fault makes something go wrong with a board; may be repeated:
  ` + strings.ReplaceAll(virtual.FaultGrammar, "\n", "\n  ") + `

--trouble makes the debug port fail as real wiring and real chips do:
  dead           nobody answers: no wires, or the wrong pins
  no-power       the line is held low
  floating       the line follows whatever is near: no ground
  no-power-up    the debug power domain never answers
  wrong-chip     the identification is that of an RP2040
  wait           every access waits
  memory-faults  every memory access faults
  parity         every 50th read arrives spoilt
  locked         debugging is fused off
  secure-locked  Secure debugging is fused off
  vanish         the way to the port breaks soon`,
		Example: `  sudo stem-hw sim board --boards 2 --probe
  stem-hw sim board app.elf --probe --tcp
  stem-hw sim board --tcp --fault unplug@3s+1s --fault power-loss:erase@5
  stem-hw sim board app.elf --jtag-bitbang :9824
  stem-hw sim board --dap-tcp :4441 --trouble parity`,
		Args: atMostArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.simBoard(cmd.Context(), args, &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.attach, "attach", false, "attach to this machine's kernel; the default if nothing else is asked for")
	fl.BoolVar(&f.tcp, "tcp", false, "offer the USB devices over USB/IP at a free port of the loopback interface")
	fl.StringVar(&f.usbip, "usbip", "", "offer the USB devices over USB/IP at this `ADDRESS`")
	fl.IntVar(&f.boards, "boards", 1, "`NUMBER` of boards")
	fl.BoolVar(&f.probe, "probe", false, "a Debug Probe for each board")
	fl.StringSliceVar(&f.serials, "serial", nil, "serial `NUMBER` of a board, 16 hexadecimal digits; may be repeated, in order")
	fl.StringSliceVar(&f.probeSerials, "probe-serial", nil, "serial `NUMBER` of a probe; may be repeated, in order")
	fl.IntSliceVar(&f.ports, "usb-port", nil, "`NUMBER` of the USB port of a device, board before probe; may be repeated, in order")
	fl.StringVar(&f.jtag, "jtag-bitbang", "", "serve OpenOCD's remote_bitbang for JTAG at this `ADDRESS`")
	fl.StringVar(&f.swd, "swd-bitbang", "", "serve OpenOCD's remote_bitbang for SWD at this `ADDRESS`")
	fl.StringVar(&f.dap, "dap-tcp", "", "serve CMSIS-DAP over TCP at this `ADDRESS`")
	fl.StringVar(&f.dapVersion, "dap", "v2", "`VERSION` of CMSIS-DAP that probes speak over USB: v2, v1 (HID) or both")
	fl.IntVar(&f.dapPackets, "dap-packets", 6, "`NUMBER` of packets that the probe holds")
	fl.StringVar(&f.arch, "arch", "", "`ARCHITECTURE` of the cores without FILE: arm (as a new chip) or riscv")
	fl.StringVar(&f.speed, "speed", "max", "`SPEED` of USB and flash: max, or real as on hardware")
	fl.StringSliceVar(&f.faults, "fault", nil, "make a `FAULT` happen; may be repeated")
	fl.StringSliceVar(&f.trouble, "trouble", nil, "make the debug port fail in this `WAY`; may be repeated")
	return cmd
}

// portServer is one way to the debug port.
type portServer struct {
	name    string
	address string
	serve   func(io.ReadWriter, debugport.Do) error
	// accept, if set, takes the place of serving one client after the other.
	accept func(context.Context, net.Listener) error
}

// boardResult says which boards there are and where they are served.
type boardResult struct {
	Machine   string            `json:"machine"`
	Simulated bool              `json:"simulated"`
	Boards    []boardRow        `json:"boards"`
	Addresses map[string]string `json:"addresses,omitempty"`
	// List is the command that shows the USB devices to another host, Attach are
	// those that attach them.
	List   string   `json:"list,omitempty"`
	Attach []string `json:"attach,omitempty"`
	order  []string
}

// boardRow is one board.
type boardRow struct {
	Serial string `json:"serial"`
	// Port is the USB bus id, Probe and ProbePort those of its probe.
	Port      string `json:"port,omitempty"`
	Probe     string `json:"probe,omitempty"`
	ProbePort string `json:"probe_port,omitempty"`
}

func (boardResult) Kind() string { return "sim-board" }

func (b boardResult) Text(t *ui.Text) {
	for _, r := range b.Boards {
		if r.Port != "" {
			t.Linef("%-13s %s  usb %s", "board", r.Serial, r.Port)
		}
		if r.ProbePort != "" {
			t.Linef("%-13s %s  usb %s", "probe", r.Probe, r.ProbePort)
		}
	}
	for _, name := range b.order {
		t.Linef("%-13s %s", name, b.Addresses[name])
	}
	if b.List != "" {
		t.Linef("%-13s %s", "list", b.List)
	}
	for _, c := range b.Attach {
		t.Linef("%-13s %s", "attach", c)
	}
}

func (a *app) simBoard(ctx context.Context, args []string, f *boardFlags) error {
	trouble, err := parseTrouble(f.trouble)
	if err != nil {
		return err
	}
	o, err := f.benchOptions(trouble)
	if err != nil {
		return err
	}
	var plug *plugger
	if f.attach || !f.debugPort() && f.usbip == "" && !f.tcp {
		if plug, err = a.newPlugger(f, &o); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		p, err := openProgram(args[0], sim.MachineRP2350)
		if err != nil {
			return err
		}
		o.Program = p.image
	}
	out := newBoardOutput(a.ui, f.boards)
	o.Output = out.print
	o.Notice = func(_ int, n machine.Notice) { a.ui.Verbose(1, "note: %s", n.Text) }
	b, err := bench.New(o)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return a.serveBench(ctx, b, plug, trouble, f)
}

// benchOptions are what the flags say of the boards.
func (f *boardFlags) benchOptions(trouble boardTrouble) (o bench.Options, err error) {
	if f.dapPackets < 1 || f.dapPackets > 64 {
		u := faults.Usage("--dap-packets is out of range")
		u.Seen, u.Wanted = fmt.Sprint(f.dapPackets), "1 to 64"
		return o, u
	}
	if f.boards < 1 || f.boards > bench.MaxBoards {
		u := faults.Usage("--boards is out of range")
		u.Seen, u.Wanted = fmt.Sprint(f.boards), fmt.Sprintf("1 to %d", bench.MaxBoards)
		return o, u
	}
	if f.boards > 1 && f.debugPort() {
		u := faults.Usage("the debug port of one board only can be served")
		u.Seen, u.Wanted = fmt.Sprintf("--boards %d", f.boards), "one board, or USB alone"
		u.Try = []string{"give each board a probe: --probe"}
		return o, u
	}
	if f.speed != "max" && f.speed != "real" {
		u := faults.Usage("there is no speed %q", f.speed)
		u.Wanted = "max or real"
		return o, u
	}
	v := virtual.DAPVersion(f.dapVersion)
	if v != virtual.DAPv1 && v != virtual.DAPv2 && v != virtual.DAPBoth {
		u := faults.Usage("there is no CMSIS-DAP %q", f.dapVersion)
		u.Wanted = "v1, v2 or both"
		return o, u
	}
	arch, err := f.boardArch()
	if err != nil {
		return o, err
	}
	hits, err := virtual.ParseFaults(f.faults)
	if err != nil {
		return o, err
	}
	return bench.Options{
		Boards: f.boards, Probe: f.probe, Serials: f.serials, ProbeSerials: f.probeSerials, Ports: f.ports,
		Arch: arch, Fuse: trouble.fuse, Trouble: trouble.Trouble, Faults: hits, RealTime: f.speed == "real",
		DAP: virtual.ProbeOptions{Version: v, Packets: f.dapPackets}, Unplugged: !f.usb(),
	}, nil
}

// serveBench lets the boards run and serves them until ctx ends.
func (a *app) serveBench(ctx context.Context, b *bench.Bench, plug *plugger, trouble boardTrouble, f *boardFlags) error {
	u := b.Units[0]
	servers := []portServer{
		{name: "jtag-bitbang", address: f.jtag, serve: (&debugport.Bitbang{Chain: debugport.NewJTAG(u.DP)}).Serve},
		{name: "swd-bitbang", address: f.swd, serve: (&debugport.Bitbang{Line: u.Line}).Serve},
		{name: "dap-tcp", address: f.dap, serve: func(rw io.ReadWriter, do debugport.Do) error { return debugport.ServeDAP(rw, u.DAP, do) }},
	}
	if trouble.vanish {
		for i, s := range servers {
			after := int64(vanishBits)
			if s.name == "dap-tcp" {
				after = vanishPackets
			}
			servers[i].serve = func(rw io.ReadWriter, do debugport.Do) error {
				return s.serve(debugport.Vanish(rw, after), do)
			}
		}
	}
	address := f.usbip
	if address == "" && f.tcp {
		address = ":0"
	}
	servers = append(servers, portServer{name: "usbip", address: address, accept: func(ctx context.Context, l net.Listener) error {
		return b.Server.Accept(ctx, l, func(err error) { a.ui.Verbose(1, "USB/IP: %v", err) })
	}})
	return a.servePorts(ctx, b, plug, servers)
}

// servePorts listens, says where, and serves until ctx ends.
func (a *app) servePorts(ctx context.Context, b *bench.Bench, plug *plugger, servers []portServer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res := boardResult{Machine: sim.MachineRP2350, Simulated: true, Boards: boardRows(b), Addresses: map[string]string{}}
	done := make(chan error)
	n := 0
	serve := func(f func() error) {
		n++
		go func() { done <- f() }()
	}
	var err error
	for _, s := range servers {
		if s.address == "" {
			continue
		}
		var l net.Listener
		if l, err = listenTCP(s.address); err != nil {
			break
		}
		res.Addresses[s.name] = l.Addr().String()
		res.order = append(res.order, s.name)
		if s.name == "usbip" {
			res.List, res.Attach = usbCommands(l.Addr().String(), b)
		}
		serve(func() error {
			if s.accept != nil {
				return s.accept(ctx, l)
			}
			return debugport.Accept(ctx, l, func(rw io.ReadWriter) error { return s.serve(rw, b.Units[0].Do) })
		})
	}
	if err == nil {
		err = a.ui.Event(res)
	}
	if err == nil {
		serve(func() error { return b.Run(ctx) })
		serve(func() error { return a.serveStats(ctx, b) })
		if plug != nil {
			serve(func() error { return plug.keep(ctx, b) })
		}
	} else {
		cancel()
	}
	for range n {
		if e := <-done; err == nil {
			err = e
		}
		cancel()
	}
	return err
}

// boardRows are the boards of a bench.
func boardRows(b *bench.Bench) (rows []boardRow) {
	for _, u := range b.Units {
		r := boardRow{Serial: u.Serial}
		if !u.Unplugged {
			r.Port = u.Port.BusID
		}
		if u.Probe != nil {
			r.Probe, r.ProbePort = u.ProbeSerial, u.ProbePort.BusID
		}
		rows = append(rows, r)
	}
	return rows
}

// listenTCP listens at host:port, on the loopback interface without a host.
func listenTCP(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		u := faults.Usage("this is no address")
		u.Seen, u.Wanted = fmt.Sprintf("%q", address), ":9824 or 127.0.0.1:9824"
		return nil, u
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy,
			Summary: "cannot listen", Err: err, Try: []string{"use :0 for a free port"},
		}
	}
	return l, nil
}
