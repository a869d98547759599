package debugport

// Self-hosted debug: all access ports but the RP-AP are also on the system bus,
// at the same offsets in a window (RP2350 datasheet 3.5.6). It does not go
// through the debug port, needs no power request, and is not subject to what is
// wrong with the wires.

// WindowRead reads the window; ok is false for a bus fault.
func (a *AccessPorts) WindowRead(off uint32) (v uint32, ok bool) {
	return a.read(off, true, Trouble{})
}

// WindowWrite writes the window; ok is false for a bus fault.
func (a *AccessPorts) WindowWrite(off, v uint32) (ok bool) {
	return a.write(off, v, true, Trouble{})
}

// WindowCore returns the Cortex-M33 whose access port is at an offset of the
// window.
func WindowCore(off uint32) (core int, ok bool) {
	switch off &^ 0xfff {
	case apAHB0:
		return 0, true
	case apAHB1:
		return 1, true
	}
	return 0, false
}

// WindowTarget returns the address that an access at an offset of the window
// makes the Cortex-M33's access port there access in turn.
func (a *AccessPorts) WindowTarget(off uint32) (addr uint32, ok bool) {
	core, ok := WindowCore(off)
	if !ok {
		return 0, false
	}
	a.follow()
	return a.ahb[core].target(off & 0xfff)
}
