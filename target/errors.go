package target

import (
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
)

// ErrRunning is returned by calls that need a halted core.
var ErrRunning = errors.New("core is running")

// Error describes the refused access.
func (e *MemoryError) Error() string {
	verb := "read"
	if e.Write {
		verb = "write"
	}
	return fmt.Sprintf("cannot %s memory at %#08x: %s", verb, e.Addr, e.Why)
}

func unsupported(t Target, what string) error {
	return &faults.Fault{
		Code: faults.CodeNotSupported, Status: faults.StatusTarget,
		Summary: fmt.Sprintf("%s cannot %s", t.Describe().Name, what),
	}
}

// AsHalter returns t's Halter capability or a fault.
func AsHalter(t Target) (Halter, error) {
	if h, ok := t.(Halter); ok {
		return h, nil
	}
	return nil, unsupported(t, "halt its cores")
}

// AsMemory returns t's Memory capability or a fault.
func AsMemory(t Target) (Memory, error) {
	if m, ok := t.(Memory); ok {
		return m, nil
	}
	return nil, unsupported(t, "show its memory")
}

// AsFlasher returns t's Flasher capability or a fault.
func AsFlasher(t Target) (Flasher, error) {
	if f, ok := t.(Flasher); ok {
		return f, nil
	}
	return nil, unsupported(t, "program flash")
}
