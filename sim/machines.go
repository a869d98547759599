package sim

import (
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/testbench"
)

// builder returns what makes the machine that the options name.
func builder(opt Options) (func() (machine.Machine, error), error) {
	switch opt.Machine {
	case MachineRP2350:
		return func() (machine.Machine, error) {
			return rp2350.New(rp2350.Options{Arch: opt.Arch, Revision: opt.Revision}), nil
		}, nil
	case MachineHazard3TB:
		harts := max(opt.Harts, 1)
		if harts > 2 {
			return nil, faults.Usage("%s has one or two harts", MachineHazard3TB)
		}
		return func() (machine.Machine, error) { return testbench.NewHazard3(harts), nil }, nil
	case MachineRISCVTests:
		return func() (machine.Machine, error) { return testbench.NewRISCVTests(), nil }, nil
	}
	return nil, fmt.Errorf("no machine is called %q", opt.Machine)
}
