package rig

import (
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig/wire"
	"github.com/stem-hw/stem-hw/sim/virtual/vhci"
)

// Board describes a board. The zero value is a new Pico 2: Arm, an empty flash
// of 4 MiB, a serial number of its own.
type Board struct {
	// Serial is the chip's identity, 16 hexadecimal digits.
	Serial string
	// Arch is arm or riscv: what the cores are after power-up.
	Arch string
	// FlashSize is in bytes, a power of two.
	FlashSize uint32
	// Flash is what the flash holds from its begin; Firmware is a program (the
	// contents of an ELF, UF2, HEX or BIN file) that is put into it.
	Flash, Firmware []byte
	// OTP are raw rows of the fuses that are programmed.
	OTP map[int]uint32
	// Button holds the BOOTSEL button down.
	Button bool
	// Probe gives the board a Debug Probe on its debug port and UART0.
	Probe bool
	// ProbeSerial is the probe's serial number, ProbePackets how many packets it
	// holds.
	ProbeSerial  string
	ProbePackets int
	// ProbeDAP is the version of CMSIS-DAP: v2 if empty, v1 (HID) or both.
	ProbeDAP string
	// Trouble is what is wrong with the debug port: debugport.TroubleNames.
	Trouble []string
	// Faults happen to the board or, with "probe/" in front, its probe, in the
	// words of `sim board --fault`; times count from power-up.
	Faults []string
	// RealTime makes everything take the time that it takes on hardware.
	RealTime bool
}

// Handle is a board of the host in a test's hands.
type Handle struct {
	// Serial is the board's, ProbeSerial its probe's.
	Serial, ProbeSerial string

	t         testing.TB
	link      *link
	id        int
	port      int
	probePort int
}

// Stats is what a board has been through.
type Stats = wire.Stats

// NewBoard makes a board without power. With the test it ends.
func NewBoard(t testing.TB, b Board) *Handle {
	t.Helper()
	need(t)
	l, err := theLink()
	if err != nil {
		t.Fatal(err)
	}
	if b.Serial == "" {
		b.Serial = serialOf(t.Name(), "board")
	}
	if b.ProbeSerial == "" {
		b.ProbeSerial = serialOf(t.Name(), "probe")
	}
	r, err := l.call(wire.Request{Op: "new", Board: &wire.Board{
		Serial: b.Serial, Arch: b.Arch, FlashSize: b.FlashSize, Flash: b.Flash, Firmware: b.Firmware, OTP: b.OTP,
		Button: b.Button, Probe: b.Probe, ProbeSerial: b.ProbeSerial, ProbePackets: b.ProbePackets,
		ProbeDAP: b.ProbeDAP, Trouble: b.Trouble, Faults: b.Faults, RealTime: b.RealTime,
	}})
	if err != nil {
		t.Fatalf("a board: %v", err)
	}
	h := &Handle{Serial: b.Serial, ProbeSerial: b.ProbeSerial, t: t, link: l, id: r.ID}
	t.Cleanup(func() {
		if _, err := l.call(wire.Request{Op: "close", ID: h.id}); err != nil {
			t.Errorf("a board: %v", err)
		}
		h.awaitGone(h.port)
		h.awaitGone(h.probePort)
	})
	return h
}

// ask makes a request for the board.
func (h *Handle) ask(q wire.Request) wire.Reply {
	h.t.Helper()
	q.ID = h.id
	r, err := h.link.call(q)
	if err != nil {
		h.t.Fatalf("%s: %v", q.Op, err)
	}
	return r
}

// Plug gives the board power and plugs it into a port, without waiting for what
// becomes of it: WaitBootsel, WaitProgram and Wait do.
func (h *Handle) Plug(port int) {
	h.t.Helper()
	h.ask(wire.Request{Op: "plug", What: wire.PlugBoard, Port: port})
	h.port = port
}

// Unplug pulls it out and waits until the kernel has seen it.
func (h *Handle) Unplug() {
	h.t.Helper()
	h.ask(wire.Request{Op: "unplug", What: wire.PlugBoard})
	h.awaitGone(h.port)
	h.port = 0
}

// PlugProbe plugs the Debug Probe into a port and waits for it.
func (h *Handle) PlugProbe(port int) *Device {
	h.t.Helper()
	h.ask(wire.Request{Op: "plug", What: wire.PlugProbe, Port: port})
	h.probePort = port
	return WaitDevice(h.t, PathOf(h.t, port), "2e8a:000c")
}

// UnplugProbe pulls it out and waits until the kernel has seen it.
func (h *Handle) UnplugProbe() {
	h.t.Helper()
	h.ask(wire.Request{Op: "unplug", What: wire.PlugProbe})
	h.awaitGone(h.probePort)
	h.probePort = 0
}

// Power gives the board power from elsewhere than its plug, or takes it away
// without pulling the plug.
func (h *Handle) Power(on bool) {
	h.t.Helper()
	h.ask(wire.Request{Op: "power", On: on})
}

// Fault lets a cable be pulled at a time that counts from now: "unplug@1s+1s",
// "probe/unplug@0s+1s". The board must have power.
func (h *Handle) Fault(text string) {
	h.t.Helper()
	h.ask(wire.Request{Op: "fault", What: text})
}

// Button holds the BOOTSEL button or lets it go; the boot ROM looks at power-up.
func (h *Handle) Button(down bool) {
	h.t.Helper()
	h.ask(wire.Request{Op: "button", On: down})
}

// Flash reads the flash chip at an address of the bus (0x10000000…) or an offset.
func (h *Handle) Flash(addr uint32, n int) []byte {
	h.t.Helper()
	return h.ask(wire.Request{Op: "flash", Addr: addr, Size: n}).Data
}

// OTP reads raw rows of the fuses, four bytes each.
func (h *Handle) OTP(row, n int) []byte {
	h.t.Helper()
	return h.ask(wire.Request{Op: "otp", Addr: uint32(row), Size: n}).Data
}

// Stats tells what the board has been through.
func (h *Handle) Stats() Stats {
	h.t.Helper()
	return *h.ask(wire.Request{Op: "stats"}).Stats
}

// Printed is all the program has printed, on UART0 and by semihosting.
func (h *Handle) Printed() string {
	h.t.Helper()
	return string(h.ask(wire.Request{Op: "printed"}).Data)
}

// Type sends bytes to UART0 of the program.
func (h *Handle) Type(p []byte) {
	h.t.Helper()
	h.ask(wire.Request{Op: "type", Data: p})
}

// Path is what the device at the board's port is called in /sys/bus/usb/devices.
func (h *Handle) Path() string {
	h.t.Helper()
	return PathOf(h.t, h.port)
}

// ProbePath is that of the probe.
func (h *Handle) ProbePath() string {
	h.t.Helper()
	return PathOf(h.t, h.probePort)
}

// WaitBootsel waits until the board is in BOOTSEL mode as the kernel sees it.
func (h *Handle) WaitBootsel() *Device {
	h.t.Helper()
	return WaitDevice(h.t, h.Path(), "2e8a:000f")
}

// WaitProgram waits until it is something else than BOOTSEL mode.
func (h *Handle) WaitProgram() *Device {
	h.t.Helper()
	return waitDevice(h.t, h.Path(), "a program's device", func(d *Device) bool { return d.ID() != "2e8a:000f" })
}

// WaitAgain waits until the board is back at its port under another device number
// than num. Between a restart and that it is gone, but perhaps for too short a
// time to see.
func (h *Handle) WaitAgain(num int) *Device {
	h.t.Helper()
	return waitDevice(h.t, h.Path(), "the board under another number", func(d *Device) bool { return d.Num() != num })
}

// WaitGone waits until nothing is at the board's port.
func (h *Handle) WaitGone() {
	h.t.Helper()
	h.awaitGone(h.port)
}

// WaitPrinted waits until the program has printed text.
func (h *Handle) WaitPrinted(text string) {
	h.t.Helper()
	Wait(h.t, "the board prints "+text, func() bool { return contains(h.Printed(), text) })
}

func (h *Handle) awaitGone(port int) {
	h.t.Helper()
	if port == 0 {
		return
	}
	WaitFree(h.t, port)
}

// WaitFree waits until nothing is at a port and it can be used again.
func WaitFree(t testing.TB, port int) {
	t.Helper()
	p := portOf(t, port)
	Wait(t, p.Device+" is gone", func() bool { return !exists(sysfs+p.Device) && portOf(t, port).Free })
	Settle(t)
}

// portOf is a port of the kernel's controller.
func portOf(t testing.TB, port int) vhci.Port {
	t.Helper()
	c, err := vhci.Open(vhci.DefaultSysfs)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := c.Ports()
	if err != nil {
		t.Fatal(err)
	}
	if port < 1 || port > len(ports) {
		t.Fatalf("there is no port %d; there are 1 to %d", port, len(ports))
	}
	return ports[port-1]
}

// PathOf is what a device at a port is called in /sys/bus/usb/devices: 1-3.
func PathOf(t testing.TB, port int) string {
	t.Helper()
	return portOf(t, port).Device
}
