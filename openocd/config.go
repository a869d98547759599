package openocd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stem-hw/stem-hw/image"
)

// Setup is what a configuration is for.
type Setup struct {
	With    Abilities
	Adapter Adapter
	Arch    image.Arch
	// Clock of the wires in kHz.
	Clock uint32
	// Apart leaves the cores out of a group: each is halted and resumed for itself.
	Apart bool
}

// chip is the name of the chip in configurations.
const chip = "rp2350"

// names are the targets of an architecture.
func names(arch image.Arch) [2]string {
	if arch == image.ArchRISCV {
		return [2]string{chip + ".rv0", chip + ".rv1"}
	}
	return [2]string{chip + ".cm0", chip + ".cm1"}
}

// Config generates the configuration: lines of commands for before init.
func Config(s Setup) []string {
	lines := adapter(s)
	if s.Adapter.Kind == JTAGBitbang {
		return append(lines, jtagTargets(s)...)
	}
	lines = append(lines, "transport select swd", fmt.Sprintf("adapter speed %d", s.Clock))
	if s.With.Config != "" {
		return append(lines, brought(s)...)
	}
	return append(lines, stockTargets(s)...)
}

// adapter are the lines for the way to the wires.
func adapter(s Setup) []string {
	a := s.Adapter
	switch a.Kind {
	case TCP:
		return []string{
			"adapter driver cmsis-dap", "cmsis-dap backend tcp",
			"cmsis-dap tcp host " + quote(a.Host), "cmsis-dap tcp port " + quote(a.Port),
		}
	case SWDBitbang, JTAGBitbang:
		lines := []string{"adapter driver remote_bitbang", "remote_bitbang host " + quote(a.Host)}
		if filepath.IsAbs(a.Host) {
			return append(lines, "remote_bitbang port 0") // a Unix socket
		}
		return append(lines, "remote_bitbang port "+quote(a.Port))
	}
	lines := []string{"adapter driver cmsis-dap"}
	if a.Serial != "" {
		lines = append(lines, "adapter serial "+quote(a.Serial))
	}
	return lines
}

// brought uses the configuration of the chip that an OpenOCD brings.
func brought(s Setup) []string {
	cores := "{cm0 cm1}"
	if s.Arch == image.ArchRISCV {
		cores = "{rv0 rv1}"
	}
	lines := []string{"set USE_CORE " + cores}
	if s.Apart {
		lines = append(lines, "set USE_SMP 0")
	}
	lines = append(lines, "source [find target/rp2350.cfg]")
	if s.Arch == image.ArchRISCV {
		lines = append(lines, exposed(s.Arch)...)
	}
	return lines
}

// stockTargets describe the chip to an OpenOCD that does not know it (RP2350
// datasheet 3.5: DPIDR, access ports).
func stockTargets(s Setup) []string {
	n := names(s.Arch)
	lines := []string{
		"swd newdap rp2350 cpu -expected-id 0x4c013477",
		"dap create rp2350.dap -adiv6 -chain-position rp2350.cpu",
	}
	for i, ap := range []string{"0x2000", "0x4000"} {
		lines = append(lines, fmt.Sprintf("target create %s cortex_m -dap rp2350.dap -ap-num %s", n[i], ap))
	}
	for _, t := range n {
		lines = append(lines, t+" cortex_m reset_config sysresetreq")
	}
	return append(lines, group(s, n)...)
}

// group joins the cores, unless they are to be apart.
func group(s Setup, n [2]string) []string {
	if s.Apart {
		return []string{"targets " + n[0]}
	}
	return []string{
		n[0] + " configure -rtos hwthread", n[1] + " configure -rtos hwthread",
		"target smp " + n[0] + " " + n[1], "targets " + n[0],
	}
}

// jtagTargets describe the harts behind a RISC-V JTAG transport.
func jtagTargets(s Setup) []string {
	n := names(image.ArchRISCV)
	lines := []string{
		"transport select jtag",
		fmt.Sprintf("adapter speed %d", s.Clock),
		fmt.Sprintf("jtag newtap rp2350 rv -irlen 5 -expected-id 0x%08x", idcode),
	}
	for i, t := range n {
		lines = append(lines, fmt.Sprintf("target create %s riscv -chain-position rp2350.rv -coreid %d", t, i))
	}
	for _, t := range n {
		lines = append(lines, t+" "+noTranslation(s.With))
	}
	return append(append(lines, exposed(image.ArchRISCV)...), group(s, n)...)
}

// noTranslation turns the search for page tables off, which Hazard3 has not.
func noTranslation(a Abilities) string {
	if a.Kind == KindUpstream {
		return "riscv virt2phys_mode off"
	}
	return "riscv set_enable_virt2phys off"
}

// exposed shows the control registers that are Hazard3's own (Wren6991/Hazard3
// hdl/hazard3_csr_addr.vh).
func exposed(arch image.Arch) (lines []string) {
	for _, t := range names(arch) {
		lines = append(lines, t+" riscv expose_csrs 3024,3040-3045,3056,3071")
	}
	return lines
}

// Text is a configuration as a file that a person can use.
func Text(s Setup) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# RP2350, %s, through %s.\n", archText(s.Arch), s.Adapter.text())
	fmt.Fprintf(&b, "# For %s, version %s.\n", s.With.Path, s.With.Version)
	for _, l := range Config(s) {
		b.WriteString(l + "\n")
	}
	return b.String()
}
