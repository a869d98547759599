//go:build linux

package main

import (
	"strings"
	"testing"
)

func TestComplaints(t *testing.T) {
	tests := []struct {
		name, log string
		want      []string
	}{
		{"healthy", "PCI: if necessary, use \"pci=nocrs\" and report a bug\nvhci_hcd: vhci_device speed not set\n" +
			"vhci_hcd: sendmsg failed!, ret=-32 for 48\nusb 1-1: USB disconnect, device number 2", nil},
		{"a warning with its trace", "usb 1-1: new device\nWARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1\nCall Trace:\n f+0x1", []string{"WARNING: CPU", "f+0x1"}},
		{"a bug", "BUG: kernel NULL pointer dereference", []string{"BUG:"}},
		{"a task that hangs", "INFO: task usb-storage:12 blocked for more than 120 seconds.", []string{"blocked for more"}},
		{"a transfer of nobody's", "vhci_hcd: cannot find a urb of seqnum 5 max seqnum 9", []string{"cannot find"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := complaints(strings.Split(tt.log, "\n"))
			if len(tt.want) == 0 && got != "" {
				t.Errorf("complains of %q", got)
			}
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q lacks %q", got, w)
				}
			}
		})
	}
}

// TestKindsOfTests sees which boots the tests of a file want.
func TestKindsOfTests(t *testing.T) {
	tests := []struct {
		src            string
		plain, systemd bool
	}{
		{"func TestRigList(t *testing.T) {", true, false},
		{"func TestRigSync(t *testing.T) {", true, false},
		{"func TestRigSerial(t *testing.T) {", true, false},
		{"func TestRigSystemdUser(t *testing.T) {", false, true},
		{"func TestRig(t *testing.T) {", true, false},
		{"func TestSystemd(t *testing.T) {", false, false},
	}
	for _, tt := range tests {
		plain, systemd := kinds([]byte("package x\n\n" + tt.src))
		if plain != tt.plain || systemd != tt.systemd {
			t.Errorf("%s: %v, %v", tt.src, plain, systemd)
		}
	}
}
