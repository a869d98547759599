package hazard3

import (
	"reflect"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// Stateless are the types inside a Core that hold nothing a snapshot needs:
// decoded code, windows on memory, and what a debugger set. See Refresh.
func Stateless() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[codeCache](), reflect.TypeFor[inst](), reflect.TypeFor[block](),
		reflect.TypeFor[window](), reflect.TypeFor[bus.Window](), reflect.TypeFor[map[uint32]struct{}](),
	}
}

// Refresh must be called after the state of a core was set from outside: what
// is derived from it is made again.
func (c *Core) Refresh() {
	c.code.drop()
	c.permissionsChanged()
	c.updateIRQ()
}
