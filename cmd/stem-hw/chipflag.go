package main

import (
	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// chipRevisions are the values of --chip.
var chipRevisions = map[string]hazard3.Revision{
	"rp2350-a2": hazard3.A2, "rp2350-a3": hazard3.A3, "rp2350-a4": hazard3.A4,
}

// defaultChip is the silicon that is simulated unless another is asked for.
const defaultChip = "rp2350-a2"

// chipFlag adds --chip.
func chipFlag(cmd *cobra.Command, p *string) {
	choiceFlag(cmd, p, "chip", defaultChip, "the simulated silicon: rp2350-a2, rp2350-a3 or rp2350-a4",
		"rp2350-a2", "rp2350-a3", "rp2350-a4")
}

// revision returns the silicon for --chip on a machine; lasting says that the
// program runs on a board that exists already and keeps its own.
func revision(chip, machine string, lasting bool) (hazard3.Revision, error) {
	if chip == defaultChip {
		return hazard3.A2, nil
	}
	if machine != sim.MachineRP2350 {
		u := faults.Usage("the machine %s is no RP2350", machine)
		u.Seen, u.Wanted = "--chip "+chip, "no --chip"
		return 0, u
	}
	if lasting {
		u := faults.Usage("a board that lasts keeps its silicon")
		u.Seen, u.Wanted = "--chip "+chip, "no board (a simulated one is made for the run), or no --chip"
		return 0, u
	}
	return chipRevisions[chip], nil
}
