//go:build rig

package judged

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig"
)

func checkProperties(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %s is %q, want %q", what, k, got[k], v)
		}
	}
}

// link is where a link of udev's leads, "" if there is none.
func link(path string) string {
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return p
}

// TestRigUdev looks at what udev makes of a board in BOOTSEL mode, and of a
// Debug Probe.
func TestRigUdev(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{Serial: "A1B2C3D4E5F60718", Probe: true, ProbeSerial: "E6614103E7452D2F"})
	b.Plug(1)
	d := b.WaitBootsel()
	checkProperties(t, "the board", d.Properties(t), map[string]string{
		"ID_VENDOR_ID": "2e8a", "ID_MODEL_ID": "000f", "ID_VENDOR": "Raspberry_Pi", "ID_MODEL": "RP2350_Boot",
		"ID_SERIAL": "Raspberry_Pi_RP2350_Boot_A1B2C3D4E5F60718", "ID_SERIAL_SHORT": "A1B2C3D4E5F60718",
		"ID_USB_INTERFACES": ":080650:ff0000:", "ID_PATH": "platform-vhci_hcd.0-usb-0:1",
		"DEVNAME": d.Node(), "DEVTYPE": "usb_device", "ID_REVISION": "0100",
	})
	checkNode(t, d.Node(), "plugdev")
	part := d.WaitPartition(t)
	for path, want := range map[string]string{
		"/dev/disk/by-id/usb-RPI_RP2350_A1B2C3D4E5F60718-0:0":               strings.TrimSuffix(part, "1"),
		"/dev/disk/by-id/usb-RPI_RP2350_A1B2C3D4E5F60718-0:0-part1":         part,
		"/dev/disk/by-path/platform-vhci_hcd.0-usb-0:1:1.0-scsi-0:0:0:0":    strings.TrimSuffix(part, "1"),
		"/dev/disk/by-label/RP2350":                                         part,
		"/sys/bus/usb/devices/" + d.Name + ":1.0/driver":                    "/sys/bus/usb/drivers/usb-storage",
		"/sys/bus/usb/devices/" + d.Name + ":1.0/driver/" + d.Name + ":1.0": link("/sys/bus/usb/devices/" + d.Name + ":1.0"),
	} {
		if got := link(path); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
	checkProperties(t, "the drive", rig.Properties(t, part), map[string]string{
		"ID_FS_TYPE": "vfat", "ID_FS_LABEL": "RP2350", "ID_PART_ENTRY_SCHEME": "dos", "ID_PART_ENTRY_TYPE": "0xe",
		"ID_PART_ENTRY_NUMBER": "1", "ID_BUS": "usb", "ID_VENDOR": "RPI", "ID_MODEL": "RP2350",
	})

	p := b.PlugProbe(2)
	checkProperties(t, "the probe", p.Properties(t), map[string]string{
		"ID_VENDOR_ID": "2e8a", "ID_MODEL_ID": "000c", "ID_MODEL": "Debug_Probe__CMSIS-DAP_",
		"ID_SERIAL_SHORT": "E6614103E7452D2F", "ID_USB_INTERFACES": ":ff0000:020200:0a0000:",
		"ID_PATH": "platform-vhci_hcd.0-usb-0:2",
	})
	tty := p.WaitTTY(t)
	// OpenOCD's rule gives the terminal of what calls itself CMSIS-DAP to plugdev.
	checkNode(t, tty, "plugdev")
	checkProperties(t, "its terminal", rig.Properties(t, tty), map[string]string{
		"ID_USB_DRIVER": "cdc_acm", "ID_USB_INTERFACE_NUM": "01", "ID_SERIAL_SHORT": "E6614103E7452D2F",
	})
	const byID = "/dev/serial/by-id/usb-Raspberry_Pi_Debug_Probe__CMSIS-DAP__E6614103E7452D2F-if01"
	if got := link(byID); got != tty {
		t.Errorf("%s leads to %q, want %s", byID, got, tty)
	}
	if strings.TrimSpace(rig.Run(t, "lsusb", "-d", "2e8a:000f")) == "" {
		t.Error("lsusb does not show the board")
	}
}

func checkNode(t *testing.T, path, group string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if m := info.Mode().Perm(); m != 0o660 {
		t.Errorf("%s has mode %o, want 660", path, m)
	}
	gid := info.Sys().(*syscall.Stat_t).Gid
	line := rig.Run(t, "getent", "group", group)
	if f := strings.Split(strings.TrimSpace(line), ":"); len(f) < 3 || f[2] != strconv.Itoa(int(gid)) {
		t.Errorf("%s has group %d, want %s", path, gid, line)
	}
}
