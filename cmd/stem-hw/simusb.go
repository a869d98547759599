package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/virtual"
	"github.com/stem-hw/stem-hw/sim/virtual/bench"
	"github.com/stem-hw/stem-hw/sim/virtual/vhci"
	"github.com/stem-hw/stem-hw/ui"
)

// usbPorts are the ports of a bench in order.
func usbPorts(b *bench.Bench) (ports []*virtual.Port) {
	for _, u := range b.Units {
		ports = append(ports, u.Port)
		if u.ProbePort != nil {
			ports = append(ports, u.ProbePort)
		}
	}
	return ports
}

// usbCommands are what shows boards and probes to a Linux host, and attaches them.
func usbCommands(address string, b *bench.Bench) (list string, commands []string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil
	}
	list = fmt.Sprintf("usbip --tcp-port %s list -r %s", port, host)
	for _, p := range usbPorts(b) {
		commands = append(commands, fmt.Sprintf("sudo usbip --tcp-port %s attach -r %s -b %s", port, host, p.BusID))
	}
	return list, commands
}

// plugger attaches boards to this machine's kernel.
type plugger struct {
	ui      *ui.UI
	host    *vhci.Controller
	devices string            // sysfs's list of devices
	ports   map[int]vhci.Port // by number of a virtual.Port
}

// newPlugger looks for the kernel's virtual host controller and chooses ports.
func (a *app) newPlugger(f *boardFlags, o *bench.Options) (*plugger, error) {
	host, err := vhci.Open(vhci.DefaultSysfs)
	if err != nil {
		return nil, &faults.Fault{
			Code: faults.CodeMissingTool, Status: faults.StatusMissingTool,
			Summary: "the boards cannot be attached to this machine", Seen: err.Error(),
			Try: []string{"sudo modprobe vhci-hcd", "stem-hw sim board --tcp      (USB/IP, to attach by hand)", "stem-hw sim board --jtag-bitbang :0"},
		}
	}
	ports, err := host.Ports()
	if err != nil {
		return nil, err
	}
	n := f.boards
	if f.probe {
		n *= 2
	}
	p := &plugger{ui: a.ui, host: host, devices: vhci.DefaultDevices, ports: map[int]vhci.Port{}}
	o.Ports, err = choosePorts(ports, f.ports, n)
	for _, i := range o.Ports {
		p.ports[i] = ports[i-1]
	}
	return p, err
}

// choosePorts takes n free ports, those that were asked for first. They count
// from 1.
func choosePorts(all []vhci.Port, asked []int, n int) (chosen []int, err error) {
	used := map[int]bool{}
	for _, i := range asked {
		if i < 1 || i > len(all) {
			u := faults.Usage("there is no USB port %d", i)
			u.Wanted = fmt.Sprintf("1 to %d", len(all))
			return nil, u
		}
		if !all[i-1].Free || used[i] {
			return nil, &faults.Fault{
				Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: fmt.Sprintf("the USB port %d is in use", i),
				Try: []string{"leave --usb-port away", "usbip port"},
			}
		}
		used[i] = true
		chosen = append(chosen, i)
	}
	for i, p := range all {
		if len(chosen) >= n {
			break
		}
		if p.Free && !used[i+1] {
			chosen = append(chosen, i+1)
		}
	}
	if len(chosen) < n {
		return nil, &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "the kernel's virtual host controller has too few free ports",
			Seen: fmt.Sprint(len(chosen)), Wanted: fmt.Sprint(n), Try: []string{"fewer --boards", "usbip port"},
		}
	}
	return chosen, nil
}

// appearedResult is a device that the kernel has.
type appearedResult struct {
	vhci.Appearance
	// Configured is false for a device that the kernel did not get on with.
	Configured bool `json:"configured"`
}

func (appearedResult) Kind() string { return "sim-board-device" }

func (r appearedResult) Text(t *ui.Text) {
	if !r.Configured {
		t.Linef("%-13s %s, and the kernel does not configure it", "attached", r.Path)
		return
	}
	t.Linef("%-13s %s  %s  %s  %s  %s", "attached", r.Path, r.ID, r.Name, r.Serial, strings.Join(append([]string{r.Node}, r.Nodes...), " "))
}

// freeTime is how long a port may take to be free again.
const freeTime = 10 * time.Second

// keep attaches every port and whatever comes to it later until ctx ends.
func (p *plugger) keep(ctx context.Context, b *bench.Bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var lookers sync.WaitGroup
	defer lookers.Wait()
	all := usbPorts(b)
	done := make(chan error, len(all))
	for _, port := range all {
		go func() {
			done <- b.Server.Keep(ctx, port, func(ctx context.Context) (net.Conn, error) {
				at := p.ports[int(port.Number)]
				conn, err := p.attach(ctx, port, at)
				if err == nil {
					lookers.Add(1)
					go func() {
						defer lookers.Done()
						p.tell(ctx, at.Device)
					}()
				}
				return conn, err
			})
		}()
	}
	var err error
	for range all {
		if e := <-done; err == nil {
			err = e
		}
		cancel()
	}
	return err
}

// attach plugs a device into the kernel's port.
func (p *plugger) attach(ctx context.Context, port *virtual.Port, at vhci.Port) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, freeTime)
	defer cancel()
	err := p.host.AwaitFree(ctx, at.Number)
	var conn net.Conn
	if err == nil {
		conn, err = p.host.Attach(at.Number, port.Bus, port.Number)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = &faults.Fault{
			Code: faults.CodeNoAccess, Status: faults.StatusPermission,
			Summary: "only root can attach boards to this machine", Err: err,
			Try: []string{"sudo stem-hw sim board", "stem-hw sim board --tcp      (USB/IP, to attach by hand)"},
		}
	}
	return conn, err
}

// tell says what appeared.
func (p *plugger) tell(ctx context.Context, device string) {
	if seen, ok := vhci.Await(ctx, p.devices, device); ctx.Err() == nil {
		_ = p.ui.Event(appearedResult{seen, ok})
	}
}

// boardOutput shows what programs print; of several boards each line begins with
// the number of its board.
type boardOutput struct {
	ui     *ui.UI
	boards int
	mu     sync.Mutex
	lines  map[int][]byte
}

func newBoardOutput(u *ui.UI, boards int) *boardOutput {
	return &boardOutput{ui: u, boards: boards, lines: map[int][]byte{}}
}

func (o *boardOutput) print(board int, _ string, p []byte) {
	if o.boards < 2 {
		_, _ = o.ui.Data().Write(p)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	line := append(o.lines[board], p...)
	for {
		i := bytes.IndexByte(line, '\n')
		if i < 0 {
			break
		}
		_, _ = fmt.Fprintf(o.ui.Data(), "%d: %s", board, line[:i+1])
		line = line[i+1:]
	}
	o.lines[board] = line
}
