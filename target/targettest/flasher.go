package targettest

import (
	"bytes"
	"testing"

	"github.com/stem-hw/stem-hw/target"
)

func (c Case) flasher(t *testing.T) {
	c.with(t, func(f *fixture) {
		fl := f.t.(target.Flasher)
		m, ok := f.t.(target.Memory)
		if !ok {
			f.Fatal("a Flasher that is no Memory cannot be checked")
		}
		var sector uint32
		for _, r := range f.desc.Memory {
			if r.Kind == target.RegionFlash && c.Flash-r.Base < r.Size {
				sector = r.Sector
			}
		}
		if sector == 0 {
			f.Fatalf("%#x is in no flash region of the description", c.Flash)
		}
		read := func(addr uint32, n int) []byte {
			f.Helper()
			p := make([]byte, n)
			if err := m.ReadMemory(f.ctx, 0, addr, p); err != nil {
				f.Fatal(err)
			}
			return p
		}
		program := func(addr uint32, p []byte) {
			f.Helper()
			if err := fl.ProgramFlash(f.ctx, addr, p); err != nil {
				f.Fatalf("ProgramFlash: %v", err)
			}
		}
		if err := fl.EraseFlash(f.ctx, c.Flash, 2*sector); err != nil {
			f.Fatalf("EraseFlash: %v", err)
		}
		if got := read(c.Flash, int(2*sector)); !bytes.Equal(got, bytes.Repeat([]byte{0xff}, len(got))) {
			f.Error("erased flash is not all ones")
		}
		first := []byte{0xf0, 0x0f, 0xaa, 0x55, 0x12, 0x34, 0x56}
		program(c.Flash+sector-3, first)
		if got := read(c.Flash+sector-3, len(first)); !bytes.Equal(got, first) {
			f.Errorf("programmed % x, read % x", first, got)
		}
		program(c.Flash+sector-3, []byte{0x33, 0x33})
		if got := read(c.Flash+sector-3, 2); !bytes.Equal(got, []byte{0x30, 0x03}) {
			f.Errorf("programming again gives % x, want 30 03: bits only go from 1 to 0", got)
		}
		if err := fl.EraseFlash(f.ctx, c.Flash, sector); err != nil {
			f.Fatalf("EraseFlash: %v", err)
		}
		if got := read(c.Flash+sector-3, 7); !bytes.Equal(got, []byte{0xff, 0xff, 0xff, 0x55, 0x12, 0x34, 0x56}) {
			f.Errorf("erasing one sector leaves % x: it must not touch the next", got)
		}
		for _, bad := range [][2]uint32{{c.Flash + 1, sector}, {c.Flash, sector + 1}, {0x6fff0000, sector}} {
			if err := fl.EraseFlash(f.ctx, bad[0], bad[1]); err == nil {
				f.Errorf("EraseFlash(%#x, %#x) is accepted", bad[0], bad[1])
			}
		}
		if err := fl.ProgramFlash(f.ctx, 0x6fff0000, []byte{0}); err == nil {
			f.Error("ProgramFlash where no flash is, is accepted")
		}
		if err := m.WriteMemory(f.ctx, 0, c.Flash, []byte{0}); err == nil {
			f.Error("WriteMemory writes flash")
		}
	})
}
