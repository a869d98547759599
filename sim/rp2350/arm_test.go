package rp2350

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// armImage is an Arm image in flash: vector table, image definition, code.
func armImage(code ...uint16) *image.Image {
	const entry = xipBase + 0x100
	w := make([]uint32, 64)
	w[0], w[1] = 0x20082000, entry|1
	for i := 2; i < 40; i++ {
		w[i] = entry | 1
	}
	copy(w[48:], []uint32{0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579})
	var p []byte
	for _, v := range w {
		p = binary.LittleEndian.AppendUint32(p, v)
	}
	for _, h := range code {
		p = binary.LittleEndian.AppendUint16(p, h)
	}
	return &image.Image{Path: "test", Arch: image.ArchARM, Segments: []image.Segment{{Addr: xipBase, Data: p, Name: "flash"}}}
}

// movw and movt load a register with a constant.
func mov32(rd uint16, v uint32) []uint16 {
	half := func(op uint16, h uint32) []uint16 {
		return []uint16{op | uint16(h>>11&1)<<10 | uint16(h>>12), uint16(h>>8&7)<<12 | rd<<8 | uint16(h&0xff)}
	}
	return append(half(0xf240, v&0xffff), half(0xf2c0, v>>16)...)
}

func join(parts ...[]uint16) (all []uint16) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

var wfiLoop = []uint16{0xbf30, 0xe7fd}

// TestArmBoot starts an image in flash: stack pointer, vector table, coprocessors
// and core number are as the boot ROM leaves them.
func TestArmBoot(t *testing.T) {
	r := newRig(t, Options{})
	code := join(
		mov32(0, sramBase), []uint16{0x466a, 0x6002}, // mov r2, sp; str r2, [r0]
		mov32(1, 0xe000ed08), []uint16{0x680a, 0x6042}, // ldr r2, [r1]; str r2, [r0, #4]
		mov32(1, 0xe000ed88), mov32(2, 0x0000c303), []uint16{0x600a}, // CPACR: p0, p4, p7
		[]uint16{0xee30, 0x2710}, []uint16{0x6082}, // mrc p7, #1, r2, c0, c0, #0; str r2, [r0, #8]
		[]uint16{0x2519, 0x2101},                   // movs r5, #25; movs r1, #1
		[]uint16{0xec41, 0x5044},                   // mcrr p0, #4, r5, r1, c4: output enable of GPIO25
		[]uint16{0xec41, 0x5040},                   // mcrr p0, #4, r5, r1, c0
		[]uint16{0xee10, 0x2010}, []uint16{0x60c2}, // mrc p0, #0, r2, c0, c0; str r2, [r0, #12]
		wfiLoop)
	if err := r.Load(armImage(code...)); err != nil {
		t.Fatal(err)
	}
	if a := r.Arch(); a != image.ArchARM {
		t.Fatalf("the chip stayed %s", a)
	}
	if e := r.until(100_000); e.Kind != machine.EventAsleep {
		t.Fatalf("%+v", e)
	}
	r.want(sramBase, 0x20082000)
	r.want(sramBase+4, xipBase)
	r.want(sramBase+8, 0xa500a500)
	r.want(sramBase+12, 1<<25)
	if r.sio.oe != 1<<25 {
		t.Errorf("output enables %#x", r.sio.oe)
	}
}

// TestRedundancyFault stops the chip when an assertion of the redundancy
// coprocessor fails.
func TestRedundancyFault(t *testing.T) {
	r := newRig(t, Options{})
	code := join(mov32(1, 0xe000ed88), mov32(2, 0x0000c000), []uint16{0x600a, 0x2007},
		[]uint16{0xee40, 0x0710}, wfiLoop) // mcr p7, #2, r0: rcp_btrue
	if err := r.Load(armImage(code...)); err != nil {
		t.Fatal(err)
	}
	e := r.until(100_000)
	if e.Kind != machine.EventCrash || !strings.Contains(e.Cause, "rcp_btrue") {
		t.Errorf("%+v", e)
	}
}

// TestArchSwitch restarts the chip as RISC-V by ARCHSEL; the boot ROM finds an
// Arm image and brings it back.
func TestArchSwitch(t *testing.T) {
	r := newRig(t, Options{})
	code := join(mov32(0, sramBase), []uint16{0x6801, 0x3101, 0x6001}, wfiLoop) // count the starts
	if err := r.Load(armImage(code...)); err != nil {
		t.Fatal(err)
	}
	r.until(100_000)
	r.want(sramBase, 1)
	poke := func(addr, v uint32) {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], v)
		if r.Poke(0, addr, b[:], false) != 4 {
			t.Fatalf("poke of %#x refused", addr)
		}
	}
	poke(regOTPArchSel, 3)
	poke(regPSMWDSEL, psmAll&^1)
	poke(regWatchdogCtrl, 1<<31)
	if e := r.Run(r.Now() + 1000); e.Kind != machine.EventReset {
		t.Fatalf("%+v", e)
	}
	if a := r.Arch(); a != image.ArchRISCV {
		t.Fatalf("after ARCHSEL = 3: %s", a)
	}
	if n := r.Describe().Registers[0].Name; n != "zero" {
		t.Errorf("first register %q", n)
	}
	var e machine.Event
	for range 100 {
		if e = r.Run(r.Now() + 1_000_000); e.Kind != machine.EventLimit {
			break
		}
	}
	if e.Kind != machine.EventReset || r.Arch() != image.ArchARM {
		t.Fatalf("%+v, %s", e, r.Arch())
	}
	r.until(r.Now() + 1_000_000)
	r.want(sramBase, 2)
}
