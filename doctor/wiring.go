package doctor

import (
	"context"

	"github.com/stem-hw/stem-hw/board"
)

// Wiring is how a Debug Probe is connected to a Pico 2 (Raspberry Pi, Debug Probe
// documentation, "Getting started"; Pico 2 datasheet, pinout).
var Wiring = []string{
	"   Debug Probe                              Pico 2",
	"   D  o SC  orange --------------------->   SWCLK   three pads at the edge",
	"      o GND black  --------------------->   GND     away from the USB plug",
	"      o SD  yellow <-------------------->   SWDIO",
	"   U  o TX  orange --------------------->   GP1     UART0 RX, pin 2",
	"      o GND black  --------------------->   GND     pin 3",
	"      o RX  yellow <---------------------   GP0     UART0 TX, pin 1",
	"",
	"   The probe gives no power: the Pico 2 needs its own USB cable, or 5 V at",
	"   VSYS (pin 39). A second Pico as the probe: GP2 is SC, GP3 SD, GP4 TX, GP5 RX.",
}

// wiring draws how a probe that is plugged in is connected.
func wiring(_ context.Context, h *Host) []Finding {
	for _, d := range h.Devices {
		if d.Role == board.RoleProbe {
			return []Finding{{"wiring", Fine, Other, "a probe is connected like this:", "", Wiring}}
		}
	}
	return nil
}
