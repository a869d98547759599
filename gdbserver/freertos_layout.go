package gdbserver

import (
	"debug/dwarf"
	"debug/elf"
)

// tcbLayout holds the offsets in bytes of what is read from a task control
// block. The stack pointer is always its first word.
type tcbLayout struct {
	priority, name, nameLen uint32
}

// defaultLayout is that of a kernel without memory protection and core
// affinity: two list items of 20 bytes behind the stack pointer, then
// priority, stack and name (FreeRTOS-Kernel, tasks.c, tskTaskControlBlock).
var defaultLayout = tcbLayout{priority: 44, name: 52, nameLen: 16}

// smpLayout has the run state and the attributes before the name.
var smpLayout = tcbLayout{priority: 44, name: 60, nameLen: 16}

// readLayout takes the offsets from debug information, where there is any: the
// kernel's configuration moves them.
func readLayout(f *elf.File, smp bool) tcbLayout {
	l := defaultLayout
	if smp {
		l = smpLayout
	}
	d, err := f.DWARF()
	if err != nil {
		return l
	}
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			return l
		}
		if e.Tag != dwarf.TagStructType {
			continue
		}
		if name, _ := e.Val(dwarf.AttrName).(string); name != "tskTaskControlBlock" {
			continue
		}
		t, err := d.Type(e.Offset)
		if err != nil {
			return l
		}
		if found, ok := fromStruct(t); ok {
			return found
		}
	}
}

// fromStruct reads the offsets of the members that are needed.
func fromStruct(t dwarf.Type) (l tcbLayout, ok bool) {
	s, isStruct := t.(*dwarf.StructType)
	if !isStruct {
		return l, false
	}
	for _, m := range s.Field {
		switch m.Name {
		case "uxPriority":
			l.priority = uint32(m.ByteOffset)
		case "pcTaskName":
			l.name = uint32(m.ByteOffset)
			l.nameLen = uint32(min(max(m.Type.Size(), 1), maxName))
		}
	}
	return l, l.priority != 0 && l.name != 0
}
