package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/ui"
)

// boardFlags are the options of sim board.
type boardFlags struct {
	jtag, swd, dap string
	usbip          string
	dapPackets     int
	trouble        []string
	serial         string
	arch           string
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
		Short: "run a simulated Pico 2 with a debug port",
		Long: `Board runs a simulated Raspberry Pi Pico 2, with the program FILE in its flash if
one is given, and lets other people's debuggers reach its debug port until
ctrl-c: OpenOCD over remote_bitbang (SWD and JTAG) or CMSIS-DAP over TCP.
What the program prints goes to standard output.

--usbip offers its USB devices to a Linux kernel: the board (in BOOTSEL mode
without FILE) and a Debug Probe. The commands that attach them are printed.

Addresses without a host are on the loopback interface; :0 takes a free port,
which is printed. The JTAG chain exists in the simulation alone.

--trouble makes the port fail as real wiring and real chips do:
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
		Example: `  stem-hw sim board app.elf --jtag-bitbang :9824
  stem-hw sim board --swd-bitbang :9825 --dap-tcp :4441
  stem-hw sim board --dap-tcp :4441 --trouble parity
  stem-hw sim board --usbip :3240`,
		Args: atMostArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.simBoard(cmd.Context(), args, &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.jtag, "jtag-bitbang", "", "serve OpenOCD's remote_bitbang for JTAG at this `ADDRESS`")
	fl.StringVar(&f.swd, "swd-bitbang", "", "serve OpenOCD's remote_bitbang for SWD at this `ADDRESS`")
	fl.StringVar(&f.dap, "dap-tcp", "", "serve CMSIS-DAP over TCP at this `ADDRESS`")
	fl.StringVar(&f.usbip, "usbip", "", "offer the board's USB devices over USB/IP at this `ADDRESS`")
	fl.IntVar(&f.dapPackets, "dap-packets", 6, "`NUMBER` of packets that the probe holds")
	fl.StringVar(&f.serial, "serial", "E660440C84B2A31E", "serial `NUMBER` of the probe")
	fl.StringVar(&f.arch, "arch", "", "`ARCHITECTURE` of the cores without FILE: arm (as a new chip) or riscv")
	fl.StringSliceVar(&f.trouble, "trouble", nil, "make the debug port fail in this `WAY`; may be repeated")
	return cmd
}

// portServer is one way to the debug port.
type portServer struct {
	name    string
	address string
	serve   func(io.ReadWriter, debugport.Do) error
	// accept, if set, takes the place of serving one client after the other.
	accept func(context.Context, net.Listener, debugport.Do) error
}

// boardResult says where the debug port is served.
type boardResult struct {
	Machine   string            `json:"machine"`
	Simulated bool              `json:"simulated"`
	Addresses map[string]string `json:"addresses"`
	// Attach are the commands that attach the USB devices.
	Attach []string `json:"attach,omitempty"`
	order  []string
}

func (boardResult) Kind() string { return "sim-board" }

func (b boardResult) Text(t *ui.Text) {
	for _, name := range b.order {
		t.Linef("%-13s %s", name, b.Addresses[name])
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
	if f.dapPackets < 1 || f.dapPackets > 64 {
		u := faults.Usage("--dap-packets is out of range")
		u.Seen, u.Wanted = fmt.Sprint(f.dapPackets), "1 to 64"
		return u
	}
	if f.jtag == "" && f.swd == "" && f.dap == "" && f.usbip == "" {
		u := faults.Usage("no way to the board was asked for")
		u.Wanted = "--jtag-bitbang, --swd-bitbang, --dap-tcp or --usbip"
		u.Try = []string{"stem-hw sim board --jtag-bitbang :0"}
		return u
	}
	arch, err := f.boardArch()
	if err != nil {
		return err
	}
	var chip *rp2350.Chip
	var bootsel func(*rp2350.Chip)
	usb := newUSBFace()
	if f.usbip != "" {
		bootsel = func(*rp2350.Chip) {} // the USB face sees it by itself
	}
	made, err := sim.New(sim.Options{
		Machine: sim.MachineRP2350, Speed: sim.SpeedReal, DebugPort: true, Input: true,
		Build: func() (machine.Machine, error) {
			chip = rp2350.New(rp2350.Options{Arch: arch, Bootsel: bootsel})
			trouble.fuse(chip.OTP())
			return chip, nil
		},
		Output: func(stream string, p []byte) {
			usb.printed(stream, p)
			_, _ = a.ui.Data().Write(p)
		},
		Notice: func(n machine.Notice) { a.ui.Verbose(1, "note: %s", n.Text) },
	})
	if err != nil {
		return err
	}
	defer made.Close()
	t := sim.Base(made)
	if len(args) > 0 {
		p, err := openProgram(args[0], sim.MachineRP2350)
		if err != nil {
			return err
		}
		if err := t.Load(ctx, p.image); err != nil {
			return err
		}
	}
	dp := debugport.NewDP(chip.DebugPort())
	dp.Trouble = trouble.Trouble
	line := debugport.NewLine(dp)
	id := debugport.DebugProbe(f.serial)
	id.PacketCount = f.dapPackets
	probe := debugport.NewProbe(id, line)
	servers := []portServer{
		{name: "jtag-bitbang", address: f.jtag, serve: (&debugport.Bitbang{Chain: debugport.NewJTAG(dp)}).Serve},
		{name: "swd-bitbang", address: f.swd, serve: (&debugport.Bitbang{Line: line}).Serve},
		{name: "dap-tcp", address: f.dap, serve: func(rw io.ReadWriter, do debugport.Do) error { return debugport.ServeDAP(rw, probe, do) }},
		{name: "usbip", address: f.usbip, accept: usb.accept(a.ui, chip, probe, f)},
	}
	if err := t.Start(ctx); err != nil {
		return err
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
	return a.servePorts(ctx, t, servers)
}

// servePorts listens, says where, and serves until ctx ends.
func (a *app) servePorts(ctx context.Context, t *sim.Target, servers []portServer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	do := func(f func()) { _ = t.Do(ctx, func(machine.Machine) { f() }) }
	res := boardResult{Machine: sim.MachineRP2350, Simulated: true, Addresses: map[string]string{}}
	done := make(chan error)
	n := 0
	for _, s := range servers {
		if s.address == "" {
			continue
		}
		l, err := listenTCP(s.address)
		if err != nil {
			return err
		}
		res.Addresses[s.name] = l.Addr().String()
		res.order = append(res.order, s.name)
		if s.name == "usbip" {
			res.Attach = usbCommands(l.Addr().String())
		}
		n++
		go func() {
			if s.accept != nil {
				done <- s.accept(ctx, l, do)
				return
			}
			done <- debugport.Accept(ctx, l, func(rw io.ReadWriter) error { return s.serve(rw, do) })
		}()
	}
	err := a.ui.Event(res)
	if err != nil {
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

// boardTrouble is what --trouble asks for.
type boardTrouble struct {
	debugport.Trouble
	// locked: debugging is fused off; secureLocked: Secure debugging alone.
	locked, secureLocked bool
	// vanish: the way to the port breaks in the middle of things.
	vanish bool
}

// fuse programs the fuses of a locked chip: eight copies of CRIT1 (RP2350
// datasheet 3.5.9 and 13.10).
func (t boardTrouble) fuse(fuses *otp.Array) {
	var v uint32
	if t.secureLocked {
		v = 1 << 1
	}
	if t.locked {
		v |= 1 << 2
	}
	for i := range 8 {
		fuses.Program(otp.RowCrit1+i, v)
	}
}

// How many bytes of a client's are taken before its way breaks: enough for it to
// attach. The bit-banging protocols take a byte for each edge.
const (
	vanishBits    = 300_000
	vanishPackets = 12_000
)

// parseTrouble reads --trouble.
func parseTrouble(ways []string) (t boardTrouble, err error) {
	const rp2040 = 0x0bc12477
	set := map[string]func(){
		"dead":          func() { t.Line = debugport.LineHigh },
		"no-power":      func() { t.Line = debugport.LineLow },
		"floating":      func() { t.Line = debugport.LineFloating },
		"no-power-up":   func() { t.NoPowerUp = true },
		"wrong-chip":    func() { t.DPIDR = rp2040 },
		"wait":          func() { t.Wait = true },
		"memory-faults": func() { t.MemoryFaults = true },
		"parity":        func() { t.ParityEvery = 50 },
		"locked":        func() { t.locked = true },
		"secure-locked": func() { t.secureLocked = true },
		"vanish":        func() { t.vanish = true },
	}
	for _, w := range ways {
		f, ok := set[strings.TrimSpace(w)]
		if !ok {
			u := faults.Usage("there is no trouble called %q", w)
			u.Wanted = strings.Join(slices.Sorted(maps.Keys(set)), ", ")
			return t, u
		}
		f()
	}
	return t, nil
}
