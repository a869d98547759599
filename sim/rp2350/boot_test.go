package rp2350

import (
	"errors"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// flashImage is an image in flash: a definition with an entry point right
// behind it, and the code there.
func flashImage(p *asm) *image.Image {
	const entry = xipBase + 0x20
	b := &asm{}
	b.emit(0xffffded3, 0x11010142, 0x00000344, entry, 0x20082000, 0x000004ff, 0, 0xab123579)
	b.emit(p.words...)
	return &image.Image{Path: "test", Arch: image.ArchRISCV, Segments: []image.Segment{{Addr: xipBase, Data: b.bytes(), Name: "flash"}}}
}

func TestFlashImageBoots(t *testing.T) {
	r := newRig(t, Options{})
	if err := r.Load(flashImage((&asm{}).li(t0, scratch0).sw(sp, t0, 0).wfi().back(1))); err != nil {
		t.Fatal(err)
	}
	if pc := r.Cores()[0].PC(); pc != romEntry {
		t.Errorf("before the first instruction pc is %#x", pc)
	}
	if e := r.until(1000); e.Kind != machine.EventAsleep {
		t.Errorf("%+v", e)
	}
	r.want(scratch0, 0x20082000)
	r.want(bootRAMBase, xipSetup)
	if gp, _ := r.Cores()[0].ReadReg(regGP); gp != romGP {
		t.Errorf("gp is %#x", gp)
	}
}

func TestNothingToBoot(t *testing.T) {
	r := newRig(t, Options{})
	e := r.until(1000)
	if e.Kind != machine.EventCrash || e.How != "bootsel" || !strings.Contains(e.Cause, "no bootable image") {
		t.Errorf("%+v", e)
	}
	called := false
	r = newRig(t, Options{Bootsel: func(*Chip) { called = true }})
	r.until(1000)
	if !called {
		t.Error("BOOTSEL mode should be handed over")
	}
	r = newRig(t, Options{BootselPin: true, Bootsel: func(*Chip) { called = true }})
	called = false
	r.Load(flashImage((&asm{}).wfi().back(1)))
	r.until(1000)
	if !called {
		t.Error("the button should win over an image")
	}
}

func TestLoadRefusals(t *testing.T) {
	seg := func(addr uint32, n int) *image.Image {
		return &image.Image{Segments: []image.Segment{{Addr: addr, Data: make([]byte, n), Name: "segment 1"}}}
	}
	for name, c := range map[string]struct {
		img  *image.Image
		code faults.Code
	}{
		"nowhere":       {seg(0x30000000, 4), faults.CodeImageTooLarge},
		"beyond SRAM":   {seg(0x20081ffc, 8), faults.CodeImageTooLarge},
		"beyond flash":  {seg(xipBase+DefaultFlashSize-4, 8), faults.CodeImageTooLarge},
		"peripherals":   {seg(0x40070000, 4), faults.CodeImageTooLarge},
		"empty":         {&image.Image{}, faults.CodeBadImage},
		"no definition": {seg(xipBase, 64), faults.CodeNotBootable},
		"RAM, no entry": {seg(sramBase, 64), faults.CodeNotBootable},
	} {
		err := New(Options{}).Load(c.img)
		if !errors.Is(err, &faults.Fault{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if err != nil && faults.Of(err).Status != faults.StatusImage {
			t.Errorf("%s: exit status %d", name, faults.Of(err).Status)
		}
	}
}

func TestRAMImageWithDefinitionAndNoEntry(t *testing.T) {
	img := flashImage((&asm{}).store(scratch0, 5).wfi().back(1))
	img.Segments[0].Addr = sramBase + 0x100
	img.Segments[0].Data[12] = 0x20 // entry point behind the block
	img.Segments[0].Data[13] = 0x01
	img.Segments[0].Data[15] = 0x20
	r := newRig(t, Options{})
	if err := r.Load(img); err != nil {
		t.Fatal(err)
	}
	r.until(1000)
	r.want(scratch0, 5)
}

func TestLoadErasesOnlyWhatItTouches(t *testing.T) {
	r := newRig(t, Options{})
	r.Flash().Load(0x1ffc, []byte{1, 2, 3, 4})
	r.Flash().Load(0xffc, []byte{1, 2, 3, 4})
	if err := r.Load(flashImage((&asm{}).wfi().back(1))); err != nil {
		t.Fatal(err)
	}
	m := r.Flash().Bytes()
	if m[0x1ffc] != 1 || m[0xffc] != 0xff {
		t.Error("sector 0 is erased, sector 1 kept")
	}
}

func TestWatchdogRebootKeepsRAMAndScratch(t *testing.T) {
	r := newRig(t, Options{})
	// First boot: remember something, set a pc/sp vector, trigger.
	p := (&asm{}).li(t0, 0x40018008).li(t1, psmAll&^1).sw(t1, t0, 0)
	p.store(sramBase+0x4000, 0xfeed)
	pc := uint32(sramBase + 0x5000)
	magic := uint32(vectorMagic)
	for i, v := range []uint32{magic, pc ^ -magic, 0x20070000, pc} {
		p.store(scratch0+16+4*uint32(i), v)
	}
	p.store(regWatchdogCtrl, 1<<31).back(0)
	code := (&asm{}).li(t0, scratch0).sw(sp, t0, 0).wfi().back(1)
	img := flashImage(p)
	img.Segments = append(img.Segments, image.Segment{Addr: pc, Data: code.bytes(), Name: "ram"})
	if err := r.Load(img); err != nil {
		t.Fatal(err)
	}
	if e := r.until(10_000); e.Kind != machine.EventReset || e.How != "watchdog trigger" {
		t.Fatalf("%+v", e)
	}
	r.until(10_000)
	r.want(scratch0, 0x20070000)
	r.want(regWatchdogReason, 2)
	r.want(sramBase+0x4000, 0xfeed)
	r.want(scratch0+16, 0) // the vector is used once
	r.want(0x40020000, 0x1fffffff&^uint32(bootUnreset))
}

func TestRebootFunction(t *testing.T) {
	r := newRig(t, Options{})
	p := (&asm{}).li(a0, rebootNoReturn).li(a1, 10).li(a2, 0xfd).li(a3, 0).rom("RB")
	if err := r.Load(flashImage(p)); err != nil {
		t.Fatal(err)
	}
	e := r.until(10_000_000)
	if e.Kind != machine.EventReset || e.How != "watchdog timer" {
		t.Fatalf("%+v", e)
	}
	if s := r.Seconds(); s < 0.009 || s > 0.011 {
		t.Errorf("rebooted after %v s, want 10 ms", s)
	}
	// And over again, as the same image boots.
	if e := r.until(10_000_000); e.Kind != machine.EventReset {
		t.Errorf("%+v", e)
	}
	r.want(regWatchdogReason, 1)
	// What the ROM does is nobody's fault, and nothing to tell.
	if len(r.notices) > 0 {
		t.Errorf("notices %+v", r.notices)
	}

	// POWMAN is switched over by SYSCFG where that is not in reset.
	r = newRig(t, Options{})
	p = (&asm{}).store(0x40020000+0x3000, 1<<20).li(a0, 0).li(a1, 1000).li(a2, 0xfd).li(a3, 0).rom("RB").wfi()
	if err := r.Load(flashImage(p)); err != nil {
		t.Fatal(err)
	}
	r.until(1_000_000)
	r.want(0x40008014, 1)
}

func TestRebootToBootselAndRAMImage(t *testing.T) {
	r := newRig(t, Options{})
	p := (&asm{}).li(a0, rebootNoReturn|bootBootsel).li(a1, 1).li(a2, 3).li(a3, 7).rom("RB")
	if err := r.Load(flashImage(p)); err != nil {
		t.Fatal(err)
	}
	r.until(10_000_000)
	e := r.until(10_000_000)
	if e.Kind != machine.EventCrash || e.How != "bootsel" || !strings.Contains(e.Cause, "asked for BOOTSEL") {
		t.Errorf("%+v", e)
	}
	if p0, p1 := r.boot.word(btRebootParams), r.boot.word(btRebootParams+4); p0 != 3 || p1 != 7 {
		t.Errorf("parameters %d, %d", p0, p1)
	}

	ram := flashImage((&asm{}).store(scratch0, 99).wfi().back(1))
	ram.Segments[0].Data[15] = 0x20 // entry point in SRAM
	p = (&asm{}).li(a0, rebootNoReturn|bootRAMImage).li(a1, 1).li(a2, sramBase).li(a3, 0x80000).rom("RB")
	img := flashImage(p)
	ram.Segments[0].Addr = sramBase
	img.Segments = append(img.Segments, ram.Segments[0])
	r = newRig(t, Options{})
	if err := r.Load(img); err != nil {
		t.Fatal(err)
	}
	r.until(10_000_000)
	r.until(1000)
	r.want(scratch0, 99)
}

func TestPowerUpForgetsRAMAndKeepsFlashAndFuses(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, sramBase+64, 1)
	r.store32(0, scratch0, 1)
	r.Flash().Program(0x100, []byte{0})
	r.OTP().Program(otp.RowKey1, 1)
	r.Reset()
	r.want(sramBase+64, 0)
	r.want(scratch0, 0)
	r.want(xipBase+0x100, 0xffffff00)
	if r.OTP().Raw(otp.RowKey1) != 1 {
		t.Error("fuses are for ever")
	}
}

func TestOtherArchitectureIsToldApart(t *testing.T) {
	img := flashImage((&asm{}).wfi())
	img.Arch = image.ArchUnknown
	img.Segments[0].Data[6], img.Segments[0].Data[7] = 0x21, 0x10 // Arm, secure
	c := New(Options{})
	if err := c.Load(img); err != nil || c.Arch() != image.ArchARM {
		t.Errorf("%v, %s", err, c.Arch())
	}
	fuses := &otp.Array{}
	for i := range 8 { // ARM_DISABLE
		fuses.Program(otp.RowCrit0+i, 1)
	}
	if err := New(Options{OTP: fuses}).Load(img); !faults.Is(err, faults.CodeNotBootable) && !faults.Is(err, faults.CodeWrongMachine) {
		t.Errorf("with Arm disabled: %v", err)
	}
}

func TestPartitionAtAnOffsetRunsAtTheStartOfXIP(t *testing.T) {
	// A table in slot 0 with one partition at 8 KiB that holds the image.
	r := newRig(t, Options{})
	table := (&asm{}).emit(0xffffded3, 0x0100040a, 0xfc07c000, 0xfc000000|2|3<<13, 0xfc07c000, 0x000004ff, 0, 0xab123579)
	r.Flash().Load(0, table.bytes())
	img := flashImage((&asm{}).li(t0, scratch0).emit(0x00000317).sw(t1, t0, 0).wfi().back(1)) // auipc t1, 0
	r.Flash().Load(0x2000, img.Segments[0].Data)
	r.Reset()
	if e := r.until(1000); e.Kind != machine.EventAsleep {
		t.Fatalf("%+v", e)
	}
	r.want(scratch0, xipBase+0x28)
	if got := r.call("FA", xipBase); uint32(got) != xipBase+0x2000 {
		t.Errorf("stored at %#x", got)
	}
	if got := r.call("GP", buffer, 16, ptInfo|ptLocations); got != 6 {
		t.Errorf("partition info: %d", got)
	}
	r.want(buffer+4, 0x101)
	r.want(buffer+16, 0xfc000000|2|3<<13)
}
