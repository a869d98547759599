//go:build peers

package main

import (
	"os/exec"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
)

// stockOpenOCD is the machine's OpenOCD.
func stockOpenOCD(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("openocd")
	if err != nil {
		t.Skip("openocd is not installed (scripts/setup peers)")
	}
	return path
}

// TestPeerOpenOCDVerbs does every verb through the machine's OpenOCD, which reaches
// RISC-V over JTAG.
func TestPeerOpenOCDVerbs(t *testing.T) {
	r := probed.New(t, probed.Board{Arch: image.ArchRISCV})
	doVerbs(t, stockOpenOCD(t), "jtag:"+r.ListenJTAG(), openocdVerbs(t, "riscv"))
}

// TestPeerOpenOCDThroughDTM does the same through SWD, which that OpenOCD cannot:
// the cores are presented to it as JTAG.
func TestPeerOpenOCDThroughDTM(t *testing.T) {
	r := probed.New(t, probed.Board{Arch: image.ArchRISCV})
	doVerbs(t, stockOpenOCD(t), "tcp:"+r.Listen(), openocdVerbs(t, "riscv"))
}
