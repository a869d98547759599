package gdbserver

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stem-hw/stem-hw/image"
)

// ram is a piece of memory at 0x20000000.
type ram []byte

const ramBase = 0x20000000

func (m ram) read(addr uint32, p []byte) error {
	off := uint64(addr) - ramBase
	if addr < ramBase || off+uint64(len(p)) > uint64(len(m)) {
		return errors.New("bus fault")
	}
	copy(p, m[off:])
	return nil
}

func (m ram) put(addr uint32, words ...uint32) {
	for i, w := range words {
		binary.LittleEndian.PutUint32(m[addr-ramBase+uint32(4*i):], w)
	}
}

// kernel builds the variables of a kernel with two running tasks (SMP) or one,
// a ready one and a blocked one.
func kernel(smp bool) (ram, *freeRTOS) {
	m := make(ram, 0x4000)
	l := defaultLayout
	syms := map[string]symbol{
		"pxReadyTasksLists":  {ramBase + 0x100, 3 * 20},
		"xDelayedTaskList1":  {ramBase + 0x200, 20},
		"xSuspendedTaskList": {ramBase + 0x240, 20},
		"xSchedulerRunning":  {ramBase + 0x280, 4},
	}
	if smp {
		l = smpLayout
		syms["pxCurrentTCBs"] = symbol{ramBase, 8}
		m.put(ramBase, ramBase+0x1000, ramBase+0x1100)
	} else {
		syms["pxCurrentTCB"] = symbol{ramBase, 4}
		m.put(ramBase, ramBase+0x1000)
	}
	m.put(ramBase+0x280, 1)
	list := func(addr uint32, tcbs ...uint32) {
		end := addr + 8
		m.put(addr, uint32(len(tcbs)), end, 0xffffffff, end, end)
		prev := end
		for _, tcb := range tcbs {
			item := tcb + 4
			m.put(prev+4, item)
			m.put(item, 0, end, prev, tcb, addr)
			prev = item
		}
	}
	tcb := func(addr, top, prio uint32, name string) {
		m.put(addr, top)
		m.put(addr+l.priority, prio)
		copy(m[addr-ramBase+l.name:], name)
	}
	tcb(ramBase+0x1000, 0, 2, "main")
	tcb(ramBase+0x1100, 0, 1, "second")
	tcb(ramBase+0x1200, ramBase+0x3000, 1, "ready")
	tcb(ramBase+0x1300, ramBase+0x3100, 2, "slee\x1bper")
	list(ramBase + 0x100)
	list(ramBase+0x114, ramBase+0x1200)
	list(ramBase+0x128, ramBase+0x1000)
	list(ramBase+0x200, ramBase+0x1300)
	list(ramBase + 0x240)
	return m, &freeRTOS{arch: image.ArchRISCV, symbols: syms, layout: l}
}

func TestFreeRTOSTasks(t *testing.T) {
	for _, smp := range []bool{false, true} {
		m, r := kernel(smp)
		got := map[string]task{}
		for _, k := range r.tasks(m.read) {
			got[k.name] = k
		}
		want := 3
		if smp {
			want = 4
			if k := got["second"]; k.core != 1 || k.state != "running" {
				t.Errorf("second: %+v, want running on core 1", k)
			}
		}
		if len(got) != want {
			t.Errorf("smp=%v: %d tasks %v, want %d", smp, len(got), got, want)
		}
		if k := got["main"]; k.core != 0 || k.priority != 2 {
			t.Errorf("main: %+v, want core 0 with priority 2", k)
		}
		if k := got["ready"]; k.core != -1 || k.state != "ready" {
			t.Errorf("ready: %+v", k)
		}
		if k, ok := got["slee?per"]; !ok || k.state != "blocked" {
			t.Errorf("the blocked task is not there with a clean name: %v", got)
		}
	}
}

func TestFreeRTOSBeforeTheScheduler(t *testing.T) {
	m, r := kernel(false)
	m.put(ramBase+0x280, 0)
	if ks := r.tasks(m.read); len(ks) != 0 {
		t.Errorf("tasks before the scheduler runs: %v", ks)
	}
}

func TestFreeRTOSCorruptLists(t *testing.T) {
	for name, spoil := range map[string]func(m ram){
		"item points to itself":    func(m ram) { m.put(ramBase+0x1204+4, ramBase+0x1204) },
		"count beyond all bounds":  func(m ram) { m.put(ramBase+0x114, 0x7fffffff) },
		"link to nowhere":          func(m ram) { m.put(ramBase+0x1204+4, 0x99999998) },
		"odd link":                 func(m ram) { m.put(ramBase+0x1204+4, ramBase+0x1001) },
		"owner is no TCB":          func(m ram) { m.put(ramBase+0x1204+12, 0x40000000) },
		"current task is no TCB":   func(m ram) { m.put(ramBase, 0xdeadbeec) },
		"everything is all ones":   func(m ram) { fill(m, 0xff) },
		"everything is four zeros": func(m ram) { fill(m[0x100:0x300], 0) },
	} {
		t.Run(name, func(t *testing.T) {
			m, r := kernel(false)
			spoil(m)
			if n := len(r.tasks(m.read)); n > maxTasks {
				t.Errorf("%d tasks", n)
			}
		})
	}
}

func fill(p []byte, b byte) {
	for i := range p {
		p[i] = b
	}
}

func TestFreeRTOSRegisters(t *testing.T) {
	m, r := kernel(false)
	k := &task{top: ramBase + 0x3000}
	// The port for RP2350: pc, x1, x5..x31, nesting, mstatus.
	m.put(k.top, 0x10001234, 0x10000aaa)
	for i := uint32(5); i <= 31; i++ {
		m.put(k.top+4*(i-3), i*0x101)
	}
	m.put(k.top+30*4, 0x1880)
	expect(t, r, m, k, map[int]uint32{32: 0x10001234, 1: 0x10000aaa, 2: k.top + 124, 5: 0x505, 31: 31 * 0x101, 0: 0})
	// The kernel's own port: mstatus comes before x1.
	m.put(k.top, 0x10001234, 0x1880, 0x10000bbb)
	for i := uint32(5); i <= 31; i++ {
		m.put(k.top+4*(i-2), i*0x101)
	}
	expect(t, r, m, k, map[int]uint32{32: 0x10001234, 1: 0x10000bbb, 5: 0x505, 31: 31 * 0x101})
	if _, err := r.register(k, 3, m.read); err == nil {
		t.Error("gp is not saved, but was read")
	}
}

func TestFreeRTOSRegistersArm(t *testing.T) {
	m, r := kernel(false)
	r.arch = image.ArchARM
	k := &task{top: ramBase + 0x3000}
	frame := k.top + 40
	m.put(k.top, 0, 0xfffffffd, 4, 5, 6, 7, 8, 9, 10, 11)
	m.put(frame, 0, 1, 2, 3, 12, 0x14, 0x15, 0x01000000)
	expect(t, r, m, k, map[int]uint32{0: 0, 3: 3, 4: 4, 11: 11, 12: 12, 14: 0x14, 15: 0x15, 25: 0x01000000, 13: frame + 32})
	// With FP context: s16..s31 lie between, and the frame has 26 words.
	m.put(k.top+4, 0xffffffed)
	frame += 64
	m.put(frame, 0x20, 1, 2, 3, 12, 0x14, 0x16, 0x01000200)
	expect(t, r, m, k, map[int]uint32{0: 0x20, 15: 0x16, 13: frame + 104 + 4})
}

func expect(t *testing.T, r *freeRTOS, m ram, k *task, want map[int]uint32) {
	t.Helper()
	for num, v := range want {
		got, err := r.register(k, num, m.read)
		if err != nil || uint32(got) != v {
			t.Errorf("register %d = %#x, %v, want %#x", num, got, err, v)
		}
	}
}
