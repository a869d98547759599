package rp2350

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
)

const scratch0 = regWatchdogScratch0

func TestAliases(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, scratch0, 0xf0)
	r.store32(0, scratch0+0x2000, 0x0f)
	r.want(scratch0, 0xff)
	r.store32(0, scratch0+0x1000, 0x3c)
	r.want(scratch0, 0xc3)
	r.store32(0, scratch0+0x3000, 0xc0)
	r.want(scratch0, 0x03)
	for _, alias := range []uint32{0x1000, 0x2000, 0x3000, 0x4000} {
		r.want(scratch0+alias, 0x03)
	}
}

func TestNarrowWritesReplicateOrLeaveZeroLanes(t *testing.T) {
	r := newRig(t, Options{})
	r.storeN(0, scratch0, 1, 0xa5)
	r.want(scratch0, 0xa5a5a5a5)
	r.storeN(0, scratch0+2, 2, 0xf00d)
	r.want(scratch0, 0xf00df00d)
	r.storeN(0, scratch0+0x4000+1, 1, 0x77)
	r.want(scratch0, 0x7700)
	r.store32(0, scratch0, 0xdeadbeef)
	for i, want := range []uint32{0xef, 0xbe, 0xad, 0xde} {
		if v, _ := r.load(0, scratch0+uint32(i), 1); v != want {
			t.Errorf("byte %d is %#x, want %#x", i, v, want)
		}
	}
	if v, _ := r.load(0, scratch0+2, 2); v != 0xdead {
		t.Errorf("upper half is %#x", v)
	}
}

func TestBootRAMHasByteStrobesAndAliases(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, bootRAMBase+0x40, 0x11223344)
	r.storeN(0, bootRAMBase+0x41, 1, 0xaa)
	r.want(bootRAMBase+0x40, 0x1122aa44)
	r.storeN(0, bootRAMBase+0x2042, 2, 0x8000)
	r.want(bootRAMBase+0x40, 0x9122aa44)
	r.store32(0, bootRAMBase+0x800, 5)
	r.store32(0, bootRAMBase+0x800, 2)
	r.want(bootRAMBase+0x800, 7)
	if got := r.load32(0, bootRAMBase+0x80c+4*3); got == 0 {
		t.Error("a free boot lock should be claimed")
	}
	if got := r.load32(0, bootRAMBase+0x80c+4*3); got != 0 {
		t.Error("a claimed boot lock should read 0")
	}
	r.want(bootRAMBase+0x808, 0xf7)
	r.store32(0, bootRAMBase+0x80c+4*3, 0)
	r.want(bootRAMBase+0x808, 0xff)
}

func TestBusFaults(t *testing.T) {
	r := newRig(t, Options{})
	for _, a := range []uint32{
		0x00008000, 0x0ffffffc, 0x12000000, 0x13ffc000, 0x20082000, 0x2ffffffc, 0x30000000,
		0x40118000, 0x40168000, 0x4ffffffc, 0x50800000, 0x60000000, 0xc0000000,
		0xd0000200, 0xd0010000, 0xd0040000, 0xe0000000, 0xe000e100, 0xfffffffc,
	} {
		r.faults(a)
	}
	if _, ok := r.load(0, xipMaintenance, 4); ok {
		t.Error("the maintenance window cannot be read")
	}
	if !r.storeN(0, 0x100, 4, 1) || r.load32(0, 0x100) != 0 {
		t.Error("a write to ROM should be ignored without a fault")
	}
	if !r.storeN(0, xipBase, 4, 0) {
		t.Error("a write to flash through XIP should be ignored without a fault")
	}
}

func TestFetchIsRefusedFromDevices(t *testing.T) {
	r := newRig(t, Options{})
	for _, a := range []uint32{bootRAMBase, sioBase, 0x40000000, 0x50100000, 0x60000000} {
		if _, ok := r.nodes[0].bus.Fetch(a); ok {
			t.Errorf("fetch from %#x should fault", a)
		}
	}
}

func TestUserModeIsKeptOut(t *testing.T) {
	r := newRig(t, Options{})
	user := func(addr uint32) bool {
		_, _, ok := r.nodes[0].bus.Load(0, addr, 4, bus.NonSecure)
		return ok
	}
	for addr, want := range map[uint32]bool{
		0x40000000: true,  // SYSINFO is open to all
		scratch0:   false, // WATCHDOG is for privileged secure code
		0x40070018: false, // UART0 until it is granted
		0x400e0000: false, // boot RAM
		sioBase:    true,
	} {
		if got := user(addr); got != want {
			t.Errorf("user access to %#x: %v, want %v", addr, got, want)
		}
	}
	r.store32(0, 0x400600a0, 0xff)
	if user(0x40070018) {
		t.Error("a write without password should do nothing")
	}
	r.store32(0, 0x400600a0, 0xacce00ff)
	if !user(0x40070018) {
		t.Error("UART0 was granted to user code")
	}
	if _, ok := r.nodes[0].bus.Store(0, 0x400600a0, 4, 0xacce00ff, bus.NonSecure); ok {
		t.Error("user code may not write ACCESSCTRL")
	}
	r.store32(0, 0x40060008, 0xacce0001)
	if user(0x40070018) {
		t.Error("CFGRESET should put the default back")
	}
}

func TestBlocksInResetReadZeroAndLoseWrites(t *testing.T) {
	r := newRig(t, Options{})
	const timerAlarm0 = 0x400b0010
	r.store32(0, timerAlarm0, 1234)
	r.want(timerAlarm0, 1234)
	r.store32(0, regResetsSet, 1<<23)
	r.want(timerAlarm0, 0)
	r.store32(0, timerAlarm0, 99)
	r.store32(0, regResetsClear, 1<<23)
	r.want(timerAlarm0, 0)
}

func TestUnmodelledBlocksSayItOnce(t *testing.T) {
	r := newRig(t, Options{})
	r.load32(0, 0x40150000)
	r.load32(0, 0x40150004)
	n := 0
	for _, x := range r.notices {
		if strings.HasPrefix(x.Text, "DFT is not modelled") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestUSBWithNothingPluggedIn(t *testing.T) {
	r := newRig(t, Options{})
	r.want(0x5011004c, 0x8000) // the value firmware takes for the reset state
	r.store32(0, 0x5011204c, 1<<18)
	if len(r.notices) != 0 {
		t.Errorf("powering the transceiver down is no news: %v", r.notices)
	}
	r.store32(0, 0x50110040, 1) // MAIN_CTRL.CONTROLLER_EN
	if len(r.notices) != 1 {
		t.Error("enabling the controller should be")
	}
	r.store32(0, 0x50100080, 0x11223344)
	r.storeN(0, 0x50100081, 1, 0xaa)
	r.want(0x50100080, 0x1122aa44)
}

func TestWaitStates(t *testing.T) {
	r := newRig(t, Options{})
	_, read, _ := r.nodes[0].bus.Load(0, scratch0, 4, privileged)
	write, _ := r.nodes[0].bus.Store(0, scratch0, 4, 0, privileged)
	alias, _ := r.nodes[0].bus.Store(0, 0x40070000+0x2030, 4, 0, privileged)
	if read != 2 || write != 3 || alias != 5 {
		t.Errorf("APB read %d, write %d, UART alias %d stall cycles", read, write, alias)
	}
	if _, w, _ := r.nodes[0].bus.Load(0, sioBase, 4, privileged); w != 0 {
		t.Error("SIO has no wait states")
	}
}
