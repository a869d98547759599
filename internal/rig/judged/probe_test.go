//go:build rig

package judged

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// pyocd is that of the later system.
func pyocd(args ...string) []string { return rig.Later("pyocd", args...) }

// TestRigProbe lets OpenOCD and pyOCD find the Debug Probe and read what it says
// of itself, with and without a target behind it.
func TestRigProbe(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{Probe: true, ProbeSerial: "E6614103E7452D2F"})
	other := rig.NewBoard(t, rig.Board{Probe: true, ProbeSerial: "E6616408432F8521"})
	b.PlugProbe(1)
	other.PlugProbe(2)

	line := pyocd("list", "--probes")
	out := rig.Run(t, line[0], line[1:]...)
	wants(t, "pyocd list", out, "E6614103E7452D2F", "E6616408432F8521", "Debug Probe (CMSIS-DAP)")

	openocd := func(serial string) string {
		r := rig.Try(t, "openocd", "-c", "adapter driver cmsis-dap", "-c", "cmsis_dap_backend usb_bulk",
			"-c", "adapter serial "+serial, "-c", "transport select swd", "-c", "adapter speed 1000",
			"-c", "swd newdap rp2350 cpu -expected-id 0x4c013477", "-c", "dap create rp2350.dap -chain-position rp2350.cpu -adiv6",
			"-c", "init", "-c", "rp2350.dap info", "-c", "shutdown")
		return r.All()
	}
	info := []string{
		"Using CMSIS-DAPv2 interface with VID:PID=0x2e8a:0x000c, serial=E6614103E7452D2F",
		"CMSIS-DAP: SWD supported", "CMSIS-DAP: FW Version = 2.0.0", "CMSIS-DAP: Serial# = E6614103E7452D2F",
		"CMSIS-DAP: Interface ready",
	}
	dead := openocd("E6614103E7452D2F")
	wants(t, "openocd without a target", dead, append(info, "Error connecting DP")...)

	b.Power(true)
	alive := openocd("E6614103E7452D2F")
	wants(t, "openocd with a target", alive, append(info, "SWD DPIDR 0x4c013477")...)
}

// TestRigProbeSerial carries bytes between the probe's terminal and UART0.
func TestRigProbeSerial(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{Probe: true, Firmware: read(t, "../../../examples/echo/echo.elf")})
	tty := b.PlugProbe(1).WaitTTY(t)
	rig.Run(t, "stty", "-F", tty, "raw", "-echo", "115200")
	f, err := os.OpenFile(tty, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b.Plug(2)
	var heard strings.Builder
	lines := bufio.NewReader(f)
	hear := func(text string) {
		t.Helper()
		if err := f.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(heard.String(), text) {
			c, err := lines.ReadByte()
			if err != nil {
				t.Fatalf("waiting for %q: %v; heard %q", text, err, heard.String())
			}
			heard.WriteByte(c)
		}
	}
	hear("type something")
	if _, err := f.WriteString("over the probe\r"); err != nil {
		t.Fatal(err)
	}
	hear("OVER THE PROBE")
}
