package openocd

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
)

// AdapterKind is how an OpenOCD gets to the wires.
type AdapterKind string

// The kinds.
const (
	// USB is a CMSIS-DAP probe by its serial number.
	USB AdapterKind = "usb"
	// TCP is CMSIS-DAP over TCP.
	TCP AdapterKind = "tcp"
	// SWDBitbang and JTAGBitbang are remote_bitbang. The chip itself has no JTAG:
	// it is a simulation's, or DTM's.
	SWDBitbang  AdapterKind = "swd"
	JTAGBitbang AdapterKind = "jtag"
)

// Adapter is what an OpenOCD reaches the chip through.
type Adapter struct {
	Kind AdapterKind
	// Serial is the probe's, exactly; empty takes the only one there is.
	Serial string
	// Host and Port are for the other kinds. A Host that is an absolute path is a
	// Unix socket.
	Host, Port string
}

// Only restricts all to those that were named, if there are any: what a person
// names is taken or refused, but never replaced.
func Only(all []Abilities) []Abilities {
	var named []Abilities
	for _, a := range all {
		if a.Where == "$OPENOCD" {
			named = append(named, a)
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}

// order is whose OpenOCD is taken first.
var order = []Kind{KindFork, KindUpstream, KindStock}

// Choose picks an OpenOCD for an architecture behind an adapter. For RISC-V
// through SWD it is one that can; the fault says why not, and what can.
func Choose(all []Abilities, arch image.Arch, ad Adapter) (Abilities, error) {
	all = Only(all)
	if len(all) == 0 {
		return Abilities{}, &faults.Fault{
			Code: faults.CodeMissingTool, Status: faults.StatusMissingTool,
			Summary: "there is no OpenOCD on this machine", Wanted: "openocd on the PATH, in ~/.pico-sdk, in /opt or in $OPENOCD",
			Try: []string{"sudo apt-get install openocd", "without it: --via probe"},
		}
	}
	var no []string
	for _, kind := range order {
		for _, a := range all {
			if a.Kind != kind {
				continue
			}
			why := cannot(a, arch, ad)
			if why == "" {
				return a, nil
			}
			no = append(no, fmt.Sprintf("%s, version %s: %s", a.Path, a.Version, why))
		}
	}
	for _, a := range all {
		if a.Kind == KindOld {
			no = append(no, fmt.Sprintf("%s, version %s: knows no access ports as the RP2350 has them (ADIv6, from 0.12 on)", a.Path, a.Version))
		}
	}
	f := &faults.Fault{
		Code: faults.CodeNotSupported, Status: faults.StatusTarget,
		Summary: "no OpenOCD on this machine reaches the chip this way", Details: no,
		Wanted: "an OpenOCD for " + archText(arch) + " through " + ad.text(),
		Try:    []string{"stem-hw openocd info", "stem-hw's own engine needs none: --via probe"},
	}
	if arch == image.ArchRISCV && ad.Kind != JTAGBitbang {
		f.Summary = "no OpenOCD on this machine reaches Hazard3 through SWD"
		f.Try = []string{
			"stem-hw's own engine does: --via probe",
			"--via openocd with a verb: stem-hw then presents the cores to OpenOCD as JTAG",
			"install Raspberry Pi's OpenOCD, and name it in $OPENOCD",
		}
	}
	return Abilities{}, f
}

func archText(a image.Arch) string {
	if a == image.ArchRISCV {
		return "Hazard3 (RISC-V)"
	}
	return "Cortex-M33 (Arm)"
}

// text names an adapter's kind.
func (a Adapter) text() string {
	switch a.Kind {
	case TCP:
		return "CMSIS-DAP over TCP"
	case SWDBitbang:
		return "SWD, bit by bit"
	case JTAGBitbang:
		return "JTAG, bit by bit"
	}
	return "a CMSIS-DAP probe"
}

// cannot says why an OpenOCD does not do, "" if it does.
func cannot(a Abilities, arch image.Arch, ad Adapter) string {
	need := "cmsis-dap"
	if ad.Kind == SWDBitbang || ad.Kind == JTAGBitbang {
		need = "remote_bitbang"
	}
	switch {
	case !has(a.Adapters, need):
		return "was built without the adapter driver " + need
	case ad.Kind == TCP && !a.TCP:
		return "knows no CMSIS-DAP over TCP"
	case ad.Kind == SWDBitbang && !a.Bitbang:
		return "knows no SWD over remote_bitbang"
	case arch == image.ArchRISCV && ad.Kind != JTAGBitbang && !a.RISCVSWD:
		return "its riscv targets know JTAG alone and take no -dap"
	case arch == image.ArchARM && ad.Kind == JTAGBitbang:
		return "there is no Cortex-M33 on a JTAG chain of this chip"
	}
	return ""
}

func has(words []string, w string) bool {
	for _, x := range words {
		if strings.EqualFold(x, w) {
			return true
		}
	}
	return false
}
