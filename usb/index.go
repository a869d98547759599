package usb

import (
	"context"
	"strings"
)

// index knows which USB devices there are and when that changes.
type index interface {
	// devices returns folders below /sys.
	devices() ([]string, error)
	// watch sends when something changed; the channel ends with ctx, or when
	// nothing more will be heard.
	watch(ctx context.Context) (<-chan struct{}, error)
}

// isDeviceName tells a device ("3-1.2") from an interface ("3-1.2:1.0") and a
// root hub ("usb3").
func isDeviceName(name string) bool {
	bus, ports, ok := strings.Cut(name, "-")
	return ok && bus != "" && ports != "" && strings.Trim(bus, "0123456789") == "" && strings.Trim(ports, "0123456789.") == ""
}
