package main

import (
	"context"
	"fmt"
	"net"

	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/virtual"
	"github.com/stem-hw/stem-hw/ui"
)

// Bus ids of the devices of a simulated board.
const (
	usbBoard = "1-1"
	usbProbe = "1-2"
)

// usbFace is the USB side of a simulated board: the board itself and a Debug
// Probe.
type usbFace struct {
	board  virtual.Port
	probe  virtual.Port
	serial virtual.Serial
}

func newUSBFace() *usbFace {
	return &usbFace{
		board: virtual.Port{BusID: usbBoard, Bus: 1, Number: 1},
		probe: virtual.Port{BusID: usbProbe, Bus: 1, Number: 2},
	}
}

// printed takes what the program printed to the probe's UART.
func (u *usbFace) printed(stream string, p []byte) {
	if stream == "uart0" {
		u.serial.Send(p)
	}
}

// accept serves USB/IP until ctx ends.
func (u *usbFace) accept(out *ui.UI, chip *rp2350.Chip, probe *debugport.Probe, f *boardFlags) func(context.Context, net.Listener, debugport.Do) error {
	return func(ctx context.Context, l net.Listener, do debugport.Do) error {
		board := virtual.NewBoard(chip, &u.board)
		s := &virtual.Server{Do: do}
		s.Add(&u.board)
		s.Add(&u.probe)
		do(func() {
			u.serial.Receive = chip.Input
			u.probe.Plug(virtual.NewProbe(probe, f.serial, f.dapPackets, &u.serial))
		})
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			board.Follow(ctx, do)
		}()
		err := s.Accept(ctx, l, func(err error) { out.Verbose(1, "USB/IP: %v", err) })
		<-followed
		return err
	}
}

// usbCommands are what attaches the board and its probe to a Linux host.
func usbCommands(address string) []string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	attach := func(id string) string {
		return fmt.Sprintf("sudo usbip --tcp-port %s attach -r %s -b %s", port, host, id)
	}
	return []string{attach(usbBoard), attach(usbProbe)}
}
