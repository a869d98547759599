package periph

import "reflect"

// Stateless are the types inside the peripherals that hold nothing a snapshot
// needs: who listens, tables, and the registers' layout.
func Stateless() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[pinWatcher](), reflect.TypeFor[lazyFunc](), reflect.TypeFor[Probe](),
		reflect.TypeFor[Attachment](), reflect.TypeFor[Config](), reflect.TypeFor[gatedBlock](),
	}
}

// CatchUp brings the machines up to the present cycle.
func (p *PIO) CatchUp() { p.catchUp() }
