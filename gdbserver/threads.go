package gdbserver

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/image"
)

// firstTask is the thread id of the first RTOS task; smaller ones are cores.
const firstTask = 0x100

// errNotSaved is a register that the RTOS does not save for a task that does
// not run.
var errNotSaved = errors.New("not saved while the task does not run")

// threadModel says what a thread is. Without an RTOS a thread is a core, its
// id the core's number plus one. With one, tasks are threads: the task that a
// core runs stands for the core, the others have the registers that the RTOS
// saved on their stacks.
type threadModel struct {
	c        *conn
	selected int
	rtos     *freeRTOS // nil without an RTOS

	fresh bool // tasks are those of the present stop
	tasks []task
	ids   map[uint32]int // thread id of a task, by the address of its TCB
	next  int
}

func newThreadModel(c *conn) threadModel {
	t := threadModel{c: c, selected: 1, ids: make(map[uint32]int), next: firstTask}
	if c.s.opt.RTOS != "none" {
		t.rtos = newFreeRTOS(c.s.opt.ELF, c.describe().Arch)
	}
	return t
}

// forget drops what was read from the target's memory: it may have changed.
func (t *threadModel) forget() { t.fresh, t.tasks = false, nil }

// refresh reads the tasks of this stop.
func (t *threadModel) refresh(ctx context.Context) {
	if t.fresh || t.rtos == nil || t.c.running {
		return
	}
	t.fresh = true
	t.tasks = t.rtos.tasks(func(addr uint32, p []byte) error {
		return t.c.s.memory.ReadMemory(ctx, 0, addr, p)
	})
	for i := range t.tasks {
		id, known := t.ids[t.tasks[i].tcb]
		if !known {
			id = t.next
			t.next++
			t.ids[t.tasks[i].tcb] = id
		}
		t.tasks[i].id = id
	}
}

// task finds a task by its thread id.
func (t *threadModel) task(id int) *task {
	t.refresh(context.Background())
	for i := range t.tasks {
		if t.tasks[i].id == id {
			return &t.tasks[i]
		}
	}
	return nil
}

// core returns the core that thread id runs on, or -1.
func (t *threadModel) core(id int) int {
	if id < firstTask {
		if id < 1 || id > len(t.c.describe().Cores) {
			return -1
		}
		return id - 1
	}
	if k := t.task(id); k != nil {
		return k.core
	}
	return -1
}

// ofCore returns the thread that core runs.
func (t *threadModel) ofCore(core int) int {
	t.refresh(context.Background())
	for i := range t.tasks {
		if t.tasks[i].core == core {
			return t.tasks[i].id
		}
	}
	return core + 1
}

func (t *threadModel) alive(id int) bool {
	return t.core(id) >= 0 || t.task(id) != nil
}

// list returns all threads: for each core its own or its task's, then the
// tasks that do not run.
func (t *threadModel) list(ctx context.Context) []int {
	t.refresh(ctx)
	var ids []int
	for _, core := range t.c.describe().Cores {
		ids = append(ids, t.ofCore(core.ID))
	}
	for i := range t.tasks {
		if t.tasks[i].core < 0 {
			ids = append(ids, t.tasks[i].id)
		}
	}
	return ids
}

// extra is the text that gdb shows behind a thread.
func (t *threadModel) extra(id int) string {
	cores := t.c.describe().Cores
	if k := t.task(id); k != nil {
		if k.core >= 0 {
			return fmt.Sprintf("%s, running on core %d, priority %d", k.name, k.core, k.priority)
		}
		return fmt.Sprintf("%s, %s, priority %d", k.name, k.state, k.priority)
	}
	if core := t.core(id); core >= 0 && core < len(cores) {
		return cores[core].Name
	}
	return ""
}

// xml is the thread list of qXfer:threads.
func (t *threadModel) xml(ctx context.Context) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><threads>`)
	for _, id := range t.list(ctx) {
		fmt.Fprintf(&b, `<thread id="%x"`, id)
		if core := t.core(id); core >= 0 {
			fmt.Fprintf(&b, ` core="%d"`, core)
		}
		if k := t.task(id); k != nil {
			fmt.Fprintf(&b, ` name="%s"`, escapeXML(k.name))
		}
		fmt.Fprintf(&b, `>%s</thread>`, escapeXML(t.extra(id)))
	}
	b.WriteString("</threads>")
	return b.String()
}

// readRegister reads a register of the selected thread.
func (t *threadModel) readRegister(ctx context.Context, num int) (uint64, error) {
	if core := t.core(t.selected); core >= 0 {
		return t.c.s.halter.ReadRegister(ctx, core, num)
	}
	k := t.task(t.selected)
	if k == nil {
		return 0, fmt.Errorf("no thread %x", t.selected)
	}
	return t.rtos.register(k, num, func(addr uint32, p []byte) error {
		return t.c.s.memory.ReadMemory(ctx, 0, addr, p)
	})
}

// writeRegister writes a register of the selected thread. A task that does not
// run keeps its registers in memory, where the RTOS will load them from.
func (t *threadModel) writeRegister(ctx context.Context, num int, v uint64) error {
	if core := t.core(t.selected); core >= 0 {
		return t.c.s.halter.WriteRegister(ctx, core, num, v)
	}
	k := t.task(t.selected)
	if k == nil {
		return fmt.Errorf("no thread %x", t.selected)
	}
	addr, ok, err := t.rtos.saved(k, num, func(addr uint32, p []byte) error {
		return t.c.s.memory.ReadMemory(ctx, 0, addr, p)
	})
	if err != nil {
		return err
	}
	if !ok {
		return errNotSaved
	}
	return t.c.s.memory.WriteMemory(ctx, 0, addr, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
}

// symbolReply serves qSymbol: where no ELF is known, gdb is asked for the
// addresses of the kernel's variables, one after the other.
func (t *threadModel) symbolReply(arg string) error {
	value, name, _ := strings.Cut(arg, ":")
	if t.c.s.opt.RTOS == "none" || t.rtos != nil && t.rtos.fromELF {
		return t.c.sendString("OK")
	}
	if name != "" && value != "" {
		sym, okName := unhex(name)
		v, okValue := parseHex(value, 32)
		if okName && okValue && slices.Contains(kernelSymbols, string(sym)) {
			if t.rtos == nil {
				t.rtos = &freeRTOS{arch: t.c.describe().Arch, symbols: make(map[string]symbol), layout: defaultLayout}
			}
			t.rtos.symbols[string(sym)] = symbol{addr: uint32(v)}
			t.forget()
		}
	}
	if next := t.rtos.wanted(string(mustUnhex(name))); next != "" && t.c.describe().Arch != image.ArchUnknown {
		return t.c.sendString("qSymbol:" + hex.EncodeToString([]byte(next)))
	}
	return t.c.sendString("OK")
}

func mustUnhex(s string) []byte {
	p, _ := unhex(s)
	return p
}
