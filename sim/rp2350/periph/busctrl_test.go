package periph

import "testing"

func TestBusCounters(t *testing.T) {
	f, s := newFake(t)
	b := s.Bus
	put(b, 0x10, uint32(PortAPB+portAccess))
	put(b, 0x18, uint32(PortAPB+portStall))
	put(b, busPerfEn, 1)
	if !f.counting || !b.Counting() {
		t.Fatal("nobody is told to count")
	}
	b.Access(PortAPB, 2)
	b.Access(PortAPB, 3)
	b.Access(PortSRAM0, 0)
	if n, w := read(b, 0x0c), read(b, 0x14); n != 2 || w != 5 {
		t.Errorf("%d accesses, %d stall cycles; want 2 and 5", n, w)
	}
	put(b, 0x0c, 77) // any write clears
	if n := read(b, 0x0c); n != 0 {
		t.Errorf("a written counter is %d", n)
	}
	b.ctr[1] = perfMax - 1
	b.Access(PortAPB, 9)
	if w := read(b, 0x14); w != perfMax {
		t.Errorf("the counter does not saturate: %#x", w)
	}
	b.Reset()
	if f.counting {
		t.Error("a reset goes on counting")
	}
}

// TestDMASecurity: channels transfer at their level, regions keep them out, and
// registers are closed below the level.
func TestDMASecurity(t *testing.T) {
	f, s := newFake(t)
	d := s.DMA
	ns := Origin{Privileged: true, NonSecure: true}
	user := Origin{}
	secure := Origin{Privileged: true}
	if !d.Refuses(0x40, false, ns) || d.Refuses(0x40, false, secure) {
		t.Error("channel 1 is not Secure after reset")
	}
	put(d, dmaSecCfg+4, 1) // Non-secure, privileged
	if d.Refuses(0x40, true, ns) || !d.Refuses(0x40, true, Origin{NonSecure: true}) {
		t.Error("a Non-secure channel is not open to Non-secure privileged code alone")
	}
	if !d.Refuses(dmaSecCfg, true, user) || d.Refuses(dmaSecCfg, false, user) || !d.Refuses(dmaMPUCtrl, false, user) {
		t.Error("the configuration is open to unprivileged code")
	}
	as := func(o Origin, offset, v uint32) {
		if d.Refuses(offset, true, o) {
			t.Errorf("a write of %#x is refused to %+v", offset, o)
		}
		put(d, offset, v)
		d.Refuses(offset, false, secure) // what follows is Secure again
	}
	// Secure unprivileged code is above all of Non-secure.
	if d.Refuses(0x40, true, user) || !d.Refuses(0, false, user) {
		t.Error("the levels are not in their order")
	}
	as(ns, dmaSecCfg, 0)
	as(ns, dmaSecCfg+4*4, 0)
	if read(d, dmaSecCfg) != 3 || read(d, dmaSecCfg+4*4) != 3 {
		t.Error("Non-secure code changes the level of a Secure channel")
	}
	put(d, dmaSecCfg+4*4, 1)
	as(ns, dmaSecCfg+4*4, 6) // only P may go
	if v := read(d, dmaSecCfg+4*4); v != 0 {
		t.Errorf("Non-secure privileged code gives its channel away: SECCFG_CH4 %#x", v)
	}
	if o := d.origin(1); !o.NonSecure || !o.Privileged || o.Core != 2 {
		t.Errorf("channel 1 transfers as %+v", o)
	}
	// A Secure region: the Non-secure channel may not read it, the Secure one may.
	put(d, dmaMPUBar0, 0x20000100)
	put(d, dmaMPUBar0+4, 0x20000100|mpuS|mpuEN)
	start := func(n uint32) uint32 {
		put(d, 0x40*n, 0x20000100)
		put(d, 0x40*n+4, 0x20001000)
		put(d, 0x40*n+8, 1)
		put(d, 0x40*n+0xc, dmaEN|n<<13|treqForce<<17)
		f.run(20)
		return read(d, 0x40*n+0x10)
	}
	if c := start(1); c&dmaReadErr == 0 || c&dmaBusy != 0 {
		t.Errorf("the Non-secure channel reads a Secure region: CTRL %#x", c)
	}
	if c := start(2); c&(dmaReadErr|dmaWriteErr) != 0 {
		t.Errorf("the Secure channel is kept out: CTRL %#x", c)
	}
	put(d, dmaSecCfg+4*3, 7) // locked
	put(d, dmaSecCfg+4*3, 0)
	if v := read(d, dmaSecCfg+4*3); v != 7 {
		t.Errorf("a locked SECCFG_CH3 reads %#x", v)
	}
	if v := read(d, dmaSecCfg+4*2); v != 7 {
		t.Errorf("SECCFG_CH2 is not locked by the writes of its channel: %#x", v)
	}
}

// TestDMASecurityOfResources: interrupt lines, INTR, timers, the sniffer and
// chains keep to the levels.
func TestDMASecurityOfResources(t *testing.T) {
	f, s := newFake(t)
	d := s.DMA
	ns := Origin{Privileged: true, NonSecure: true}
	secure := Origin{Privileged: true}
	put(d, dmaSecCfg+4*1, 1)      // channel 1 is Non-secure
	put(d, dmaSecCfg+0x40+4*1, 1) // and so is interrupt 1
	put(d, dmaINTR+4, 7)          // INTE0
	put(d, dmaINTR+0x14, 7)       // INTE1
	start := func(n, ctrl uint32) {
		put(d, 0x40*n, 0x20000000)
		put(d, 0x40*n+4, 0x20000100)
		put(d, 0x40*n+8, 4)
		put(d, 0x40*n+0xc, dmaEN|ctrl)
		f.run(50)
	}
	start(1, 2<<13|treqForce<<17) // chains to Secure channel 2, in vain
	if read(d, 0x40*2+0x10)&dmaBusy != 0 || d.intr != 2 {
		t.Errorf("a Non-secure channel chains to a Secure one: INTR %#x", d.intr)
	}
	start(2, 2<<13|treqForce<<17)
	if read(d, dmaINTR+0xc) != 6 || read(d, dmaINTR+0x1c) != 2 {
		t.Errorf("INTS0 %#x, INTS1 %#x", read(d, dmaINTR+0xc), read(d, dmaINTR+0x1c))
	}
	d.Refuses(dmaINTR, false, ns)
	if v := read(d, dmaINTR); v != 2 {
		t.Errorf("Non-secure code reads INTR %#x", v)
	}
	put(d, dmaINTR, 0xffff)
	put(d, dmaINTR+0x1c, 0xffff)
	d.Refuses(dmaINTR, false, secure)
	if v := read(d, dmaINTR); v != 4 {
		t.Errorf("after Non-secure code has acknowledged all it can, INTR is %#x", v)
	}
	// A Secure timer does not pace a Non-secure channel.
	put(d, dmaTimer0, 1<<16|1)
	start(1, 1<<13|treqTimer0<<17)
	if v := read(d, 0x40*1+8); v != 4 {
		t.Errorf("a Secure timer paces a Non-secure channel: %d left", v)
	}
	put(d, dmaSecMisc, read(d, dmaSecMisc)&^(secSP<<2)|1<<2)
	f.run(50)
	if v := read(d, 0x40*1+8); v != 0 {
		t.Errorf("the timer paces nothing: %d left", v)
	}
	// A Non-secure sniffer does not see a Secure channel.
	f.poke(0x20000000, []byte{1, 0, 0, 0})
	put(d, dmaSecMisc, read(d, dmaSecMisc)&^secSP|1)
	for n := uint32(1); n <= 2; n++ {
		put(d, dmaSniffData, 0)
		put(d, dmaSniffCtrl, 1|n<<1|sniffSum<<5)
		start(n, n<<13|treqForce<<17|2<<2|dmaSniffEn)
		if got, want := read(d, dmaSniffData), [3]uint32{1: 4, 2: 0}[n]; got != want {
			t.Errorf("channel %d: the sniffer has %d, want %d", n, got, want)
		}
	}
}
