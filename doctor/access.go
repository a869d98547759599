package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/board"
	udevrules "github.com/stem-hw/stem-hw/udev-rules"
	"github.com/stem-hw/stem-hw/usb"
)

const installRules = "sudo stem-hw udev install"

func usbBuilt(_ context.Context, h *Host) []Finding {
	if h.USB {
		return fine("usb", fmt.Sprintf("%d boards and probes", len(h.Devices)))
	}
	return []Finding{{"usb", Trouble, Access, "this stem-hw was built without USB", "make build CGO_ENABLED=1", nil}}
}

// wsl: a Linux under Windows has the USB only when usbipd gives it a device.
func wsl(_ context.Context, h *Host) []Finding {
	version := h.read("proc/version")
	if !strings.Contains(strings.ToLower(version), "microsoft") {
		return nil
	}
	if !strings.Contains(version, "WSL2") && !strings.Contains(version, "microsoft-standard") {
		return []Finding{{"wsl", Trouble, Access, "WSL 1, which has no USB", "in PowerShell: wsl --set-version Debian 2", nil}}
	}
	if len(h.Devices) > 0 {
		return fine("wsl", "WSL 2 with boards attached")
	}
	if !h.exists("sys/bus/usb/devices/usb1") && !h.exists("sys/devices/platform/vhci_hcd.0") {
		return []Finding{{"wsl", Trouble, Access, "WSL 2 without usbipd: no USB reaches this Linux",
			"in PowerShell: winget install usbipd; usbipd list; usbipd bind --busid BUSID; usbipd attach --wsl --busid BUSID --auto-attach", nil}}
	}
	return []Finding{{"wsl", Remark, Access, "WSL 2, and no board is attached",
		"in PowerShell: usbipd list; usbipd attach --wsl --busid BUSID --auto-attach", nil}}
}

// rules: the installed udev rules are the ones of this program.
func rules(_ context.Context, h *Host) []Finding {
	where := usb.RulesInstalled(h.Root)
	switch {
	case where == "" && h.UID == 0 && len(h.Devices) == 0:
		return []Finding{{"udev rules", Remark, Access, udevrules.File + " is not installed; root needs no rules, people do", "stem-hw udev install", nil}}
	case where == "":
		return []Finding{{"udev rules", Trouble, Access, udevrules.File + " is not installed", installRules, nil}}
	}
	now, err := fs.ReadFile(h.Root, where[1:])
	switch {
	case err != nil:
		return []Finding{{"udev rules", Remark, Access, where + " cannot be read", "sudo chmod 0644 " + where, nil}}
	case !bytes.Equal(now, h.RulesNow):
		return []Finding{{"udev rules", Trouble, Access, where + " is of another version of stem-hw", installRules, nil}}
	}
	return fine("udev rules", where)
}

// groups: who comes by ssh, and every daemon, is let in by groups alone.
func groups(_ context.Context, h *Host) (out []Finding) {
	if h.UID == 0 {
		return nil
	}
	file := h.read("etc/group")
	for _, g := range []string{udevrules.GroupUSB, udevrules.GroupPort} {
		name := "group " + g
		switch {
		case h.in(g):
			out = append(out, fine(name, h.User+" is in it")...)
		case slices.Contains(h.Member, g):
			out = append(out, Finding{name, Trouble, Access, h.User + " is in it since the last login", "log out and in again, or: newgrp " + g, nil})
		case !hasGroup(file, g):
			out = append(out, Finding{name, Remark, Access, "this machine has no such group; the person at it is let in all the same (uaccess)",
				fmt.Sprintf("sudo groupadd --system %s && sudo usermod -aG %s %s", g, g, h.User), nil})
		default:
			out = append(out, Finding{name, Remark, Access, h.User + " is not in it; the person at the machine is let in all the same (uaccess), who comes by ssh is not",
				fmt.Sprintf("sudo usermod -aG %s %s", g, h.User), nil})
		}
	}
	return out
}

func hasGroup(file, name string) bool {
	for line := range strings.Lines(file) {
		if strings.HasPrefix(line, name+":") {
			return true
		}
	}
	return false
}

// boards: each node of what is plugged in may be opened.
func boards(_ context.Context, h *Host) (out []Finding) {
	installed := usb.RulesInstalled(h.Root) != ""
	for _, d := range h.Devices {
		nodes := []usb.Node{d.Node}
		for _, t := range d.TTYs {
			nodes = append(nodes, t.Access)
		}
		name := "usb " + d.Port
		bad := slices.IndexFunc(nodes, func(n usb.Node) bool { return !n.Access })
		if bad < 0 {
			out = append(out, fine(name, d.Name+" may be opened")...)
			continue
		}
		n := nodes[bad]
		f := Finding{name, Trouble, Access, "no access: " + n.String(), installRules, nil}
		switch {
		case n.Missing:
			f.Mend = "give the device to this container, or plug it in again"
		case installed && n.Perm&0o060 == 0o060 && n.Group != "root":
			f.Mend = fmt.Sprintf("sudo usermod -aG %s %s, then log in again", n.Group, h.User)
		case installed:
			f.Mend = "sudo udevadm trigger --action=change /sys/" + d.Syspath
		}
		out = append(out, f)
	}
	return out
}

// modemManager asks new serial ports whether they are modems, in the middle of
// what a program says.
func modemManager(_ context.Context, h *Host) []Finding {
	switch {
	case !h.process("ModemManager"):
		return nil
	case usb.RulesInstalled(h.Root) == "":
		return []Finding{{"ModemManager", Trouble, Access, "it runs, and talks to every new serial port", installRules, nil}}
	}
	return fine("ModemManager", "it runs and is told to keep off")
}

// autosuspend puts idle devices to sleep.
func autosuspend(_ context.Context, h *Host) (out []Finding) {
	for _, d := range h.Devices {
		if d.Role != board.RoleProbe {
			continue
		}
		file := path.Join("sys", d.Syspath, "power/control")
		if strings.TrimSpace(h.read(file)) != "auto" {
			continue
		}
		f := Finding{"autosuspend", Remark, Access, "the probe at usb " + d.Port + " may be put to sleep", installRules, nil}
		if usb.RulesInstalled(h.Root) != "" {
			f.Mend = "echo on | sudo tee /" + file
		}
		out = append(out, f)
	}
	return out
}
