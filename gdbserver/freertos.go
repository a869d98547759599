package gdbserver

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/image"
)

// reader reads the target's memory.
type reader func(addr uint32, p []byte) error

// task is one task of the RTOS.
type task struct {
	id       int
	tcb      uint32
	name     string
	state    string // "ready", "blocked", "suspended", "deleted"
	priority uint32
	core     int    // core it runs on, or -1
	top      uint32 // saved stack pointer
}

// symbol is a variable of the kernel.
type symbol struct {
	addr, size uint32
}

// Bounds for lists that may be corrupt: no kernel on 520 KiB of RAM has more.
const (
	maxTasks      = 256
	maxPriorities = 64
	maxCores      = 2
	maxName       = 64
)

// freeRTOS finds the tasks of a FreeRTOS kernel, single core or SMP, from its
// own variables (FreeRTOS-Kernel, tasks.c: pxCurrentTCB or pxCurrentTCBs, and
// the lists of tasks by state).
type freeRTOS struct {
	arch    image.Arch
	symbols map[string]symbol
	layout  tcbLayout
	fromELF bool // the symbols are those of the program's file, with sizes
}

// kernelSymbols are the variables that are looked up, the deciding ones first.
var kernelSymbols = []string{
	"pxCurrentTCB", "pxCurrentTCBs", "uxCurrentNumberOfTasks", "pxReadyTasksLists",
	"xDelayedTaskList1", "xDelayedTaskList2", "xPendingReadyList", "xSuspendedTaskList",
	"xTasksWaitingTermination", "xSchedulerRunning",
}

// newFreeRTOS looks for the kernel in an ELF; nil if it is not there.
func newFreeRTOS(file []byte, arch image.Arch) *freeRTOS {
	if len(file) == 0 {
		return nil
	}
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil
	}
	syms, err := f.Symbols()
	if err != nil {
		return nil
	}
	r := &freeRTOS{arch: arch, symbols: make(map[string]symbol), layout: defaultLayout, fromELF: true}
	for _, s := range syms {
		// Link-time optimisation may give a static variable a suffix.
		name, _, _ := strings.Cut(s.Name, ".")
		if slices.Contains(kernelSymbols, name) {
			r.symbols[name] = symbol{uint32(s.Value), uint32(s.Size)}
		}
	}
	if !r.present() {
		return nil
	}
	r.layout = readLayout(f, len(r.currentTCBs()) > 1)
	return r
}

// present reports whether enough of a kernel is known.
func (r *freeRTOS) present() bool {
	return r != nil && len(r.currentTCBs()) > 0 && r.symbols["pxReadyTasksLists"].addr != 0
}

// wanted returns the symbol to ask gdb for after name.
func (r *freeRTOS) wanted(name string) string {
	if r != nil && len(r.symbols) >= len(kernelSymbols) {
		return ""
	}
	i := slices.Index(kernelSymbols, name)
	if i+1 < len(kernelSymbols) {
		return kernelSymbols[i+1]
	}
	return ""
}

// currentTCBs returns the addresses of the pointers to the running tasks, one
// for each core.
func (r *freeRTOS) currentTCBs() []uint32 {
	if s := r.symbols["pxCurrentTCB"]; s.addr != 0 {
		return []uint32{s.addr}
	}
	s := r.symbols["pxCurrentTCBs"]
	if s.addr == 0 {
		return nil
	}
	n := s.size / 4
	if n == 0 || n > maxCores {
		n = maxCores
	}
	var as []uint32
	for i := range n {
		as = append(as, s.addr+4*i)
	}
	return as
}

func (m reader) word(addr uint32) (uint32, bool) {
	var b [4]byte
	if addr&3 != 0 || m(addr, b[:]) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[:]), true
}

// tasks reads all tasks. Whatever is corrupt is left out: an unreadable
// pointer, a loop, a list longer than any can be.
func (r *freeRTOS) tasks(m reader) []task {
	if !r.present() {
		return nil
	}
	if s := r.symbols["xSchedulerRunning"]; s.addr != 0 {
		if v, ok := m.word(s.addr); !ok || v != 1 {
			return nil
		}
	}
	var out []task
	seen := make(map[uint32]bool)
	add := func(tcb uint32, state string, core int) {
		if tcb == 0 || seen[tcb] || len(out) >= maxTasks {
			return
		}
		k, ok := r.readTask(m, tcb)
		if !ok {
			return
		}
		seen[tcb] = true
		k.state, k.core = state, core
		out = append(out, k)
	}
	for core, addr := range r.currentTCBs() {
		if tcb, ok := m.word(addr); ok {
			add(tcb, "running", core)
		}
	}
	size := r.listSize()
	priorities := r.symbols["pxReadyTasksLists"].size / size
	if priorities == 0 || priorities > maxPriorities {
		priorities = maxPriorities
		if r.symbols["pxReadyTasksLists"].size == 0 {
			priorities = r.countPriorities(m, size)
		}
	}
	for i := range priorities {
		r.walk(m, r.symbols["pxReadyTasksLists"].addr+i*size, func(tcb uint32) { add(tcb, "ready", -1) })
	}
	for _, l := range []struct{ name, state string }{
		{"xPendingReadyList", "ready"}, {"xDelayedTaskList1", "blocked"}, {"xDelayedTaskList2", "blocked"},
		{"xSuspendedTaskList", "suspended"}, {"xTasksWaitingTermination", "deleted"},
	} {
		if s := r.symbols[l.name]; s.addr != 0 {
			r.walk(m, s.addr, func(tcb uint32) { add(tcb, l.state, -1) })
		}
	}
	return out
}

// listSize is sizeof(List_t): 20 bytes with mini list items, 28 without.
func (r *freeRTOS) listSize() uint32 {
	for _, name := range []string{"xSuspendedTaskList", "xPendingReadyList", "xDelayedTaskList1"} {
		if n := r.symbols[name].size; n == 20 || n == 28 {
			return n
		}
	}
	return 20
}

// countPriorities counts well-formed lists where the symbol's size is unknown:
// an empty or full list has its index inside itself or in RAM, and its end
// marker holds the largest value.
func (r *freeRTOS) countPriorities(m reader, size uint32) uint32 {
	base := r.symbols["pxReadyTasksLists"].addr
	n := uint32(0)
	for n < maxPriorities {
		end, ok := m.word(base + n*size + 8)
		if !ok || end != 0xffffffff {
			break
		}
		n++
	}
	return n
}

// walk calls f with the owner of each item of the list at addr.
func (r *freeRTOS) walk(m reader, addr uint32, f func(tcb uint32)) {
	count, ok := m.word(addr)
	if !ok || count > maxTasks {
		return
	}
	end := addr + 8 // xListEnd
	item, ok := m.word(end + 4)
	for i := uint32(0); ok && i < count && item != end && item != 0; i++ {
		owner, okOwner := m.word(item + 12)
		if !okOwner {
			return
		}
		f(owner)
		item, ok = m.word(item + 4)
	}
}

// readTask reads a task control block.
func (r *freeRTOS) readTask(m reader, tcb uint32) (task, bool) {
	top, ok := m.word(tcb)
	if !ok {
		return task{}, false
	}
	prio, ok := m.word(tcb + r.layout.priority)
	if !ok {
		return task{}, false
	}
	name := make([]byte, min(r.layout.nameLen, maxName))
	if m(tcb+r.layout.name, name) != nil {
		return task{}, false
	}
	return task{tcb: tcb, name: cleanName(name), priority: prio, core: -1, top: top}, true
}

// cleanName makes a name from memory fit for a terminal.
func cleanName(p []byte) string {
	if i := bytes.IndexByte(p, 0); i >= 0 {
		p = p[:i]
	}
	if len(p) == 0 {
		return "task"
	}
	return strings.Map(func(c rune) rune {
		if c < 0x20 || c >= 0x7f {
			return '?'
		}
		return c
	}, string(p))
}
