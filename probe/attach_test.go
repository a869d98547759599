package probe_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
)

func TestAttach(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			r := probed.New(t, probed.Board{Arch: arch})
			tg := r.MustOpen(probe.Options{})
			c := tg.Chip()
			if c.ID != "7A3C51E80B29D4F6" || c.Revision != "A2" || c.ROM != 2 || c.Arch != [2]image.Arch{arch, arch} || !c.Dormant {
				t.Errorf("the chip is %+v", c)
			}
		})
	}
}
