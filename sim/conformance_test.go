package sim

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
)

// The capabilities that each simulated machine must have.
var (
	withoutFlash = []targettest.Capability{targettest.Halter, targettest.Memory, targettest.Runner}
	withFlash    = append([]targettest.Capability{targettest.Flasher}, withoutFlash...)
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  Options
		at   uint32
		must []targettest.Capability
		arch image.Arch
	}{
		{"fake", Options{Build: func() (machine.Machine, error) { return newFake("fake"), nil }}, fakeRAM, withFlash, image.ArchRISCV},
		{"hazard3-tb", Options{Machine: MachineHazard3TB}, 0x40, withoutFlash, image.ArchRISCV},
		{"hazard3-tb of two harts", Options{Machine: MachineHazard3TB, Harts: 2}, 0x40, withoutFlash, image.ArchRISCV},
		{"rp2350", Options{Machine: MachineRP2350}, 0x20000000, withFlash, image.ArchRISCV},
		{"rp2350 with Arm cores", Options{Machine: MachineRP2350, Arch: image.ArchARM}, 0x20000000, withFlash, image.ArchARM},
		{"rp2350, Arm", Options{Machine: MachineRP2350, Arch: image.ArchARM}, 0x20000000, withFlash, image.ArchARM},
	} {
		t.Run(c.name, func(t *testing.T) {
			targettest.Run(t, targettest.Case{
				New: func(t *testing.T) target.Target {
					tg, err := New(c.opt)
					if err != nil {
						t.Fatal(err)
					}
					return tg
				},
				Must: c.must, At: c.at, Arch: c.arch, Flash: 0x10000000, Deterministic: true,
			})
		})
	}
}
