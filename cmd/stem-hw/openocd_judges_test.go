//go:build judges

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
)

// TestJudgesOpenOCDVerbs does every verb through each OpenOCD of $OPENOCD, on both
// architectures, over CMSIS-DAP where it knows that over TCP, else over the wires
// of SWD.
func TestJudgesOpenOCDVerbs(t *testing.T) {
	for _, path := range strings.Fields(os.Getenv("OPENOCD")) {
		t.Run(path, func(t *testing.T) {
			t.Run("arm", func(t *testing.T) {
				r := probed.New(t, probed.Board{Arch: image.ArchARM})
				doVerbs(t, path, judgedProbe(t, path, r), openocdVerbs(t, "arm"))
			})
			t.Run("riscv", func(t *testing.T) {
				r := probed.New(t, probed.Board{Arch: image.ArchRISCV})
				doVerbs(t, path, judgedProbe(t, path, r), openocdVerbs(t, "riscv"))
			})
		})
	}
}

// judgedProbe is the board's address for an OpenOCD.
func judgedProbe(t *testing.T, path string, r *probed.Rig) string {
	t.Helper()
	_, said := saysWith(t, path, "openocd", "info", "--json")
	if strings.Contains(said, `"cmsis_dap_tcp": true`) {
		return "tcp:" + r.Listen()
	}
	return "swd:" + r.ListenSWD()
}
