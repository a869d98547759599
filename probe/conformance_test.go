package probe_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
)

// must are the capabilities of a chip behind a probe.
var must = []targettest.Capability{targettest.Halter, targettest.Memory, targettest.Flasher}

func TestConformance(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			targettest.Run(t, targettest.Case{
				New: func(t *testing.T) target.Target {
					return probed.New(t, probed.Board{Arch: arch}).MustOpen(probe.Options{})
				},
				Must: must, At: 0x20000000, Arch: arch, Flash: 0x10000000,
			})
		})
	}
}
