package rp2350

import "testing"

const granule = sramBase + 0x100

func (r *rig) lr(core int, addr uint32) bool {
	_, _, granted, _ := r.nodes[core].bus.LoadExclusive(0, addr, 4, privileged)
	return granted
}

func (r *rig) sc(core int, addr, v uint32) bool {
	_, stored, _ := r.nodes[core].bus.StoreExclusive(0, addr, 4, v, privileged)
	return stored
}

func TestReservationIsSixteenBytesOfSRAM(t *testing.T) {
	r := newRig(t, Options{})
	if !r.lr(0, granule) || !r.sc(0, granule+12, 7) || r.load32(0, granule+12) != 7 {
		t.Error("a store to the same granule should succeed")
	}
	if r.sc(0, granule, 8) {
		t.Error("a reservation is good for one store")
	}
	r.lr(0, granule)
	if r.sc(0, granule+16, 9) {
		t.Error("another granule should fail")
	}
	if r.lr(0, bootRAMBase) || r.sc(0, bootRAMBase, 1) {
		t.Error("there are no exclusives outside SRAM")
	}
	if _, _, ok := r.nodes[0].bus.AMO(0, scratch0, func(v uint32) uint32 { return v }, privileged); ok {
		t.Error("an AMO outside SRAM should fault")
	}
}

func TestReservationDiesByOthersStoresAlone(t *testing.T) {
	r := newRig(t, Options{})
	r.lr(0, granule)
	r.store32(0, granule+4, 1)
	if !r.sc(0, granule, 2) {
		t.Error("the core's own store should not kill its reservation")
	}
	r.lr(0, granule)
	r.store32(1, granule+8, 1)
	if r.sc(0, granule, 3) {
		t.Error("the other core's store should kill it")
	}
	r.lr(0, granule)
	r.Poke(1, granule, []byte{1}, false)
	if r.sc(0, granule, 3) {
		t.Error("a debugger's store should kill it")
	}
	r.lr(0, granule)
	r.lr(1, granule)
	r.sc(1, granule, 5)
	if r.sc(0, granule, 6) || r.load32(0, granule) != 5 {
		t.Error("one of two wins")
	}
}

func TestLostReservationWakesItsCore(t *testing.T) {
	r := newRig(t, Options{})
	// Core 0 reserves a granule, blocks, and reports when it wakes. The first
	// block takes the event that core 1 posted when it began to wait in the ROM.
	p := (&asm{}).block().li(a0, granule)
	p.emit(2<<27 | a0<<15 | 2<<12 | a1<<7 | 0x2f) // lr.w a1, (a0)
	p.block().store(scratch0, 77).wfi().back(1)
	r.program(p)
	if e := r.until(1000); r.load32(0, scratch0) == 77 {
		t.Fatalf("woke without a reason: %+v", e)
	}
	r.store32(1, granule, 1)
	r.until(1000)
	r.want(scratch0, 77)
}

func TestAMO(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, granule, 40)
	old, _, ok := r.nodes[1].bus.AMO(0, granule, func(v uint32) uint32 { return v + 2 }, privileged)
	if !ok || old != 40 || r.load32(0, granule) != 42 {
		t.Errorf("old %d, ok %v, now %d", old, ok, r.load32(0, granule))
	}
}
