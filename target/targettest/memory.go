package targettest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stem-hw/stem-hw/target"
)

func (c Case) memory(t *testing.T) {
	for _, check := range []struct {
		name string
		f    func(*fixture, target.Memory)
	}{
		{"ReadProgram", readProgram},
		{"RoundTrip", roundTrip},
		{"Refused", refused},
		{"CodeIsSeen", codeIsSeen},
		{"NoSuchCore", noSuchCore},
	} {
		t.Run(check.name, func(t *testing.T) {
			c.with(t, func(f *fixture) {
				if err := f.t.Load(f.ctx, f.p.Image); err != nil {
					f.Fatalf("Load: %v", err)
				}
				check.f(f, f.t.(target.Memory))
			})
		})
	}
}

func readProgram(f *fixture, m target.Memory) {
	want := f.p.Image.Segments[0].Data
	for core := range f.desc.Cores {
		got := make([]byte, len(want))
		if err := m.ReadMemory(f.ctx, core, f.p.Entry, got); err != nil {
			f.Fatalf("core %d: %v", core, err)
		}
		if !bytes.Equal(got, want) {
			f.Errorf("core %d sees % x, loaded was % x", core, got, want)
		}
	}
}

func roundTrip(f *fixture, m target.Memory) {
	base := f.p.Data + 4
	for n := 0; n <= 9; n++ {
		for off := range uint32(4) {
			frame := bytes.Repeat([]byte{0xee}, 20)
			if err := m.WriteMemory(f.ctx, 0, base, frame); err != nil {
				f.Fatal(err)
			}
			p := make([]byte, n)
			for i := range p {
				p[i] = byte(0x10*n + i + 1)
			}
			if err := m.WriteMemory(f.ctx, 0, base+off, p); err != nil {
				f.Fatalf("writing %d bytes at offset %d: %v", n, off, err)
			}
			copy(frame[off:], p)
			got := make([]byte, len(frame))
			if err := m.ReadMemory(f.ctx, 0, base, got); err != nil {
				f.Fatal(err)
			}
			if !bytes.Equal(got, frame) {
				f.Fatalf("writing %d bytes at offset %d gives % x, want % x", n, off, got, frame)
			}
		}
	}
}

func refused(f *fixture, m target.Memory) {
	var end uint32
	for _, r := range f.desc.Memory {
		if f.p.Entry-r.Base < r.Size {
			end = r.Base + r.Size
		}
	}
	if end == 0 {
		f.Fatalf("the program's address %#x is in no region of the description", f.p.Entry)
	}
	for _, r := range f.desc.Memory {
		if r.Base == end {
			end = r.Base + r.Size // regions may touch
		}
	}
	for _, write := range []bool{false, true} {
		call := m.ReadMemory
		if write {
			call = m.WriteMemory
		}
		err := call(f.ctx, 0, end-2, make([]byte, 8))
		var me *target.MemoryError
		if !errors.As(err, &me) {
			f.Errorf("write %v over the end of memory at %#x: %v, want a MemoryError", write, end, err)
			continue
		}
		if me.Write != write || me.Why == "" {
			f.Errorf("write %v over the end of memory: incomplete %+v", write, me)
		}
		if me.Addr < end-2 || me.Addr > end {
			f.Errorf("write %v over the end of memory at %#x names the address %#x", write, end, me.Addr)
		}
	}
}

// codeIsSeen changes an instruction that was executed already.
func codeIsSeen(f *fixture, m target.Memory) {
	hc, ok := f.t.(target.Halter)
	if !ok {
		f.Skip("cannot halt")
	}
	h := &halted{fixture: f, h: hc}
	h.set(h.point(target.PointHardware, f.p.Jump))
	for range 3 {
		h.one(target.Action{Core: 0})
		h.stopsAt(h.wait(), target.StopBreakpoint, f.p.Jump)
	}
	if err := m.WriteMemory(f.ctx, 0, f.p.Loop, f.p.CountBy2); err != nil {
		f.Fatal(err)
	}
	h.one(target.Action{Core: 0})
	h.stopsAt(h.wait(), target.StopBreakpoint, f.p.Jump)
	if n := h.reg(0, f.p.Count); n != 5 {
		f.Errorf("the count is %d: the changed instruction was not executed (want 5)", n)
	}
}

func noSuchCore(f *fixture, m target.Memory) {
	if err := m.ReadMemory(f.ctx, len(f.desc.Cores), f.p.Entry, make([]byte, 4)); err == nil {
		f.Error("memory of a core that does not exist can be read")
	}
	if err := m.WriteMemory(f.ctx, -1, f.p.Entry, make([]byte, 4)); err == nil {
		f.Error("memory of a core that does not exist can be written")
	}
}
