package arch

// A group is a layer of the house. Packages may import their own group and the
// groups listed in below, nothing else of this module.
type group struct {
	name string
	// dirs are the top folders of the module that belong to the group.
	dirs []string
	// below are the groups it may import.
	below []string
}

// groups is the house from the top of the stack to the bottom.
var groups = []group{
	{"cmd", []string{"cmd"}, []string{"asks", "session", "sim", "reach", "written", "plugged", "support", "faults"}},
	{"asks", []string{"mcp", "dap", "agent", "job", "doctor"}, []string{"session", "reach", "written", "plugged", "support", "faults"}},
	{"session", []string{"session", "card", "container"}, []string{"sim", "reach", "written", "plugged", "support", "faults"}},
	{"sim", []string{"sim"}, []string{"reach", "written", "plugged", "support", "faults"}},
	{"reach", []string{"target", "bootsel", "probe", "openocd", "gdbserver", "gdbsync", "console"}, []string{"written", "plugged", "support", "faults"}},
	{"written", []string{"image", "uf2"}, []string{"support", "faults"}},
	{"plugged", []string{"board", "usb", "udev-rules", "profiles"}, []string{"support", "faults"}},
	{"support", []string{"child", "symbols", "semihost", "ui"}, []string{"faults"}},
	{"faults", []string{"faults"}, nil},
	// The project's own tools: nothing may import them.
	{"tools", []string{"internal"}, []string{"sim", "reach", "written", "support", "faults"}},
	{"examples", []string{"examples"}, []string{"support", "faults"}},
}

// onlyIn says which outside packages belong to one place alone.
var onlyIn = []struct {
	prefix string // import path of the outside package
	dirs   []string
	why    string
}{
	{"github.com/spf13/cobra", []string{"cmd", "internal/docs"}, "only cmd knows the command line"},
	{"github.com/google/gousb", []string{"usb"}, "cgo lives in usb alone"},
	{"github.com/jochenvg/go-udev", []string{"usb"}, "cgo lives in usb alone"},
	{"go.bug.st/serial", []string{"console", "usb"}, "serial ports are opened by console alone"},
	{"github.com/containers/podman", []string{"container"}, "podman lives in container alone"},
}

// forbidden are single edges that the groups would allow.
var forbidden = []struct{ from, to, why string }{
	{"sim/bus", "sim/hazard3", "the contract must not know a core"},
	{"sim/bus", "sim/machine", "the contract must not know a machine"},
	{"sim/hazard3", "sim/rp2350", "a core must not know the chip around it"},
	{"sim/rp2350/periph", "sim/hazard3", "a peripheral must not know the core"},
	{"target", "gdbserver", "target must not know who asks"},
}
