package rp2350

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// What fuses, keys and DEBUGEN allow (datasheet 3.5.9).

var (
	secureKey = [16]byte{0x11, 0x22, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	otherKey  = [16]byte{0xff, 0, 0xff, 0, 1}
)

// lockedFuses are the fuses of a chip with bits of CRIT1 and debug keys, 5 and 6.
func lockedFuses(crit1 uint32, keys map[int][16]byte) *otp.Array {
	a := newOTP(Options{}.withDefaults())
	for i := range 8 {
		a.Program(otp.RowCrit1+i, crit1)
	}
	for k, key := range keys {
		for i := range 8 {
			a.SetData(otp.RowKey1+8*(k-1)+i, uint16(key[2*i])|uint16(key[2*i+1])<<8)
		}
		a.Program(0xf79+k-1, 0x010101)
	}
	return a
}

const (
	secureOff = 1 << 1
	debugOff  = 1 << 2

	regDebugEn     = 0x40120150
	regDebugEnLock = 0x40120154
)

func TestDebugAccess(t *testing.T) {
	none, all := debugport.Auth{}, debugport.Auth{Debug: [2]bool{true, true}, Secure: [2]bool{true, true}, DM: true}
	nonSecure := debugport.Auth{Debug: [2]bool{true, true}, DM: true}
	five, six, both := map[int][16]byte{5: secureKey}, map[int][16]byte{6: otherKey}, map[int][16]byte{5: secureKey, 6: otherKey}
	for name, c := range map[string]struct {
		crit1  uint32
		keys   map[int][16]byte
		given  [16]byte
		enable uint32
		rev    hazard3.Revision
		want   debugport.Auth
	}{
		"open":                        {want: all},
		"a key for nothing":           {given: secureKey, want: all},
		"debug off":                   {crit1: debugOff, want: none},
		"Secure off, A2":              {crit1: secureOff, want: nonSecure},
		"Secure off, A3":              {crit1: secureOff, rev: hazard3.A3, want: debugport.Auth{Debug: [2]bool{true, true}}},
		"Secure off, A4":              {crit1: secureOff, rev: hazard3.A4, want: debugport.Auth{Debug: [2]bool{true, true}}},
		"Secure off, A3, MISC":        {crit1: secureOff, rev: hazard3.A3, enable: 0x100, want: nonSecure},
		"key 5":                       {keys: five, want: none},
		"key 5 given":                 {keys: five, given: secureKey, want: all},
		"key 5, wrong one given":      {keys: five, given: otherKey, want: none},
		"key 5, an empty one given":   {keys: five, given: [16]byte{}, want: none},
		"key 6":                       {keys: six, want: none},
		"key 6 given":                 {keys: six, given: otherKey, want: all},
		"both keys":                   {keys: both, want: none},
		"both keys, 5 given":          {keys: both, given: secureKey, want: all},
		"both keys, 6 given":          {keys: both, given: otherKey, want: nonSecure},
		"debug off, key given":        {crit1: debugOff, keys: five, given: secureKey, want: none},
		"debug off, DEBUGEN":          {crit1: debugOff, enable: 0x10f, want: all},
		"debug off, DEBUGEN core 1":   {crit1: debugOff, enable: 0xc, want: debugport.Auth{Debug: [2]bool{false, true}, Secure: [2]bool{false, true}}},
		"debug off, DEBUGEN NS":       {crit1: debugOff, enable: 5, want: debugport.Auth{Debug: [2]bool{true, true}}},
		"Secure off, DEBUGEN core 0":  {crit1: secureOff, enable: 2, want: debugport.Auth{Debug: [2]bool{true, true}, Secure: [2]bool{true, false}, DM: true}},
		"key 5, DEBUGEN and no key":   {keys: five, enable: 0x10f, want: all},
		"debug off, DEBUGEN MISC":     {crit1: debugOff, enable: 0x100, want: debugport.Auth{DM: true}},
		"debug off, DEBUGEN S alone":  {crit1: debugOff, enable: 0xa, want: none},
		"key 6 and Secure off, given": {crit1: secureOff, keys: six, given: otherKey, want: nonSecure},
	} {
		r := newRig(t, Options{Arch: image.ArchARM, Revision: c.rev, OTP: lockedFuses(c.crit1, c.keys)})
		r.DebugPort().Unlock(c.given)
		r.store32(0, regDebugEn, c.enable)
		if got := r.DebugPort().Auth(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Fuses act after the next reset, DEBUGEN at once and beyond it, a key until
// power goes.
func TestDebugLocksOverResets(t *testing.T) {
	r := newRig(t, Options{Arch: image.ArchARM})
	port := r.DebugPort()
	for i := range 8 {
		r.OTP().Program(otp.RowCrit1+i, debugOff)
	}
	if !port.Auth().DM {
		t.Error("a fuse acts before the next reset")
	}
	port.Reset(debugport.ResetCold)
	if port.Auth() != (debugport.Auth{}) {
		t.Errorf("after a reset the chip allows %+v", port.Auth())
	}
	r.store32(0, regDebugEn, 0x10f)
	r.store32(0, regDebugEnLock, 0x10c)
	r.store32(0, regDebugEn, 0)
	r.store32(0, regDebugEnLock, 0)
	r.want(regDebugEn, 0x10c)
	r.want(regDebugEnLock, 0x10c)
	r.parts.OTP.Reset() // a watchdog reset from the OTP stage on
	r.want(regDebugEn, 0x10c)
	port.Reset(debugport.ResetCold)
	r.want(regDebugEn, 0)
	r.want(regDebugEnLock, 0)

	r = newRig(t, Options{Arch: image.ArchARM, OTP: lockedFuses(0, map[int][16]byte{6: otherKey})})
	port = r.DebugPort()
	r.want(0x4012014c, 1<<5) // KEY_VALID
	port.Unlock(otherKey)
	port.Reset(debugport.ResetRescue)
	if !port.Auth().DM {
		t.Error("a rescue forgets the key")
	}
	r.Reset()
	if port.Auth().DM {
		t.Error("the key outlives the power")
	}
}

// asNS is a debugger without Secure access.
const asNS = asDebugger | bus.NonSecure

// A chip whose Secure debugging is off: its cores say so, are not halted in
// Secure state, and halt once they are Non-secure.
func TestSecureDebugOff(t *testing.T) {
	r := newRig(t, Options{Arch: image.ArchARM, OTP: lockedFuses(secureOff, nil)})
	r.Run(200_000)
	port := r.DebugPort()
	a := &armRig{r, port}
	if v := a.read(0, 0xe000efb8); v != 0xaf {
		t.Errorf("DAUTHSTATUS %#x", v)
	}
	core := r.nodes[0].cpu.(arm).Core
	r.store32(0, sramBase, 0xe7fe)        // Secure: b .
	r.store32(0, sramBase+4, 0x4704)      // bxns r0
	r.store32(0, sramBase+0x1000, 0xe7fe) // Non-secure: b .
	core.SetSAU(0, sramBase+0x1000, sramBase+0x1fff, false)
	a.write(0, 0xe000edd0, 1)
	core.R[0] = sramBase + 0x1000
	core.SetPC(sramBase)
	ppb := func(addr, v uint32) {
		t.Helper()
		if !port.Store(0, addr, 4, v, asNS) {
			t.Fatalf("a Non-secure store to %#x faults", addr)
		}
	}
	dhcsr := func() uint32 {
		v, ok := port.Load(0, regDHCSR, 4, asNS)
		if !ok {
			t.Fatal("a Non-secure load of DHCSR faults")
		}
		return v
	}
	ppb(regDHCSR, keyDHCSR|3)
	r.Run(r.Now() + 10_000)
	if v := dhcsr(); v&(1<<20|1<<17) != 0 || v&3 != 3 {
		t.Errorf("in Secure state DHCSR is %#x", v)
	}
	// The program goes to Non-secure state.
	core.SetPC(sramBase + 4)
	r.Run(r.Now() + 10_000)
	if v := dhcsr(); v&(1<<20|1<<17) != 1<<17 {
		t.Errorf("in Non-secure state DHCSR is %#x", v)
	}
	// Secure registers are out of reach.
	for _, sel := range []uint32{26, 28, 34} {
		ppb(regDCRDR, 0xffffffff)
		ppb(regDCRSR, sel|1<<16)
		ppb(regDCRSR, sel)
		if v, _ := port.Load(0, regDCRDR, 4, asNS); v != 0 {
			t.Errorf("selector %d reads %#x", sel, v)
		}
	}
	ppb(regDCRDR, 0x1234)
	ppb(regDCRSR, 3|1<<16)
	if core.R[3] != 0x1234 {
		t.Error("a general register cannot be written")
	}
}

func TestDebugOffArm(t *testing.T) {
	r := newRig(t, Options{Arch: image.ArchARM, OTP: lockedFuses(debugOff, nil)})
	core := r.nodes[0].cpu.(arm).Core
	if v, _ := core.ReadPPB(0xe000efb8, 4, false); v != 0xaa {
		t.Errorf("DAUTHSTATUS %#x", v)
	}
	core.WritePPB(regDHCSR, 4, keyDHCSR|3, false)
	if core.Halted() {
		t.Error("a locked core halts")
	}
	// The simulator's own debugger is not subject to fuses.
	core.HaltNow()
	if !core.Halted() {
		t.Error("the simulator cannot halt a locked core")
	}
}
