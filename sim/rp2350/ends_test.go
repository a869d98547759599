package rp2350

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/sim/machine"
)

func TestStuckCoreEndsTheProgramWhenAllIsQuiet(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).back(0))
	e := r.until(100_000_000)
	if e.Kind != machine.EventCrash || e.Core != 0 || !strings.Contains(e.Cause, "endless loop at 0x20000000") {
		t.Errorf("%+v", e)
	}
	if s := r.Seconds(); s < 0.049 || s > 0.06 {
		t.Errorf("reported after %v s", s)
	}
}

func TestWatchdogEndsAHang(t *testing.T) {
	r := newRig(t, Options{})
	p := (&asm{}).store(0x40018008, psmAll&^1).store(regTicksWDCyc, 12).store(regTicksWDCtrl, 1)
	p.store(regWatchdogLoad, 200_000).store(regWatchdogCtrl, watchdogEnable).back(0)
	r.program(p)
	e := r.until(100_000_000)
	if e.Kind != machine.EventReset || e.How != "watchdog timer" {
		t.Errorf("%+v", e)
	}
	if s := r.Seconds(); s < 0.19 || s > 0.25 {
		t.Errorf("reset after %v s, want about 0.2", s)
	}
}

func TestStuckCore1IsARemark(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).li(t0, 1000).emit(0xfff28293, 0xfe029ee3).wfi().back(1)) // count down, sleep
	r.Run(10)
	n := r.nodes[1]
	n.rom = romNone
	n.cpu.Enter(sramBase+0x100, 0, 0)
	r.Poke(1, sramBase+0x100, (&asm{}).back(0).bytes(), false)
	r.InputOpen(true)
	if e := r.until(20_000_000); e.Kind != machine.EventLimit {
		t.Errorf("%+v", e)
	}
	if len(r.notices) == 0 || !strings.HasPrefix(r.notices[len(r.notices)-1].Text, "core 1 is stuck") {
		t.Errorf("notices %v", r.notices)
	}
}

func TestTrialImageIsBought(t *testing.T) {
	// The image calls explicit_buy with a work buffer and sleeps.
	img := flashImage((&asm{}).li(a0, buffer).li(a1, 4096).rom("EB").li(t0, scratch0).sw(a0, t0, 0).wfi().back(1))
	img.Segments[0].Data[7] |= 0x80 // try before you buy
	r := newRig(t, Options{})
	r.Flash().Load(0, img.Segments[0].Data)
	boot := func(kind uint32) {
		r.Reset()
		magic := uint32(vectorMagic)
		r.store32(0, scratch0+8, xipBase)
		for i, v := range []uint32{magic, magic ^ -magic, kind, magic} {
			r.store32(0, scratch0+16+4*uint32(i), v)
		}
		r.InputOpen(true)
	}
	boot(bootNormal)
	if e := r.until(1000); e.Kind != machine.EventCrash {
		t.Fatalf("a trial image should not boot by itself: %+v", e)
	}
	boot(bootFlashUpdate)
	r.until(20_000_000)
	r.want(scratch0, romOK)
	if r.Flash().Bytes()[7] != 0x11 {
		t.Errorf("the flag is still there: %#x", r.Flash().Bytes()[7])
	}
	if r.load32(0, regWatchdogCtrl)&watchdogEnable != 0 {
		t.Error("the watchdog should be off")
	}
	boot(bootNormal)
	r.until(20_000_000)
	r.want(scratch0, romOK)
}

func TestTrialImageThatIsNotBoughtIsGone(t *testing.T) {
	img := flashImage((&asm{}).wfi().back(1))
	img.Segments[0].Data[7] |= 0x80
	r := newRig(t, Options{})
	r.Flash().Load(0, img.Segments[0].Data)
	r.Reset()
	magic := uint32(vectorMagic)
	r.store32(0, scratch0+8, xipBase)
	for i, v := range []uint32{magic, magic ^ -magic, bootFlashUpdate, magic} {
		r.store32(0, scratch0+16+4*uint32(i), v)
	}
	e := r.until(1 << 40)
	if e.Kind != machine.EventReset {
		t.Fatalf("%+v", e)
	}
	if s := r.Seconds(); s < 15 || s > 19 {
		t.Errorf("the trial lasted %v s", s)
	}
}

func TestChainImage(t *testing.T) {
	next := flashImage((&asm{}).store(scratch0, 321).wfi().back(1))
	next.Segments[0].Addr = sramBase + 0x8000
	next.Segments[0].Data[12], next.Segments[0].Data[13], next.Segments[0].Data[15] = 0x20, 0x80, 0x20
	p := (&asm{}).li(a0, buffer).li(a1, workAreaSize).li(a2, sramBase+0x8000).li(a3, 0x1000).rom("CI")
	img := flashImage(p)
	img.Segments = append(img.Segments, next.Segments[0])
	r := newRig(t, Options{})
	if err := r.Load(img); err != nil {
		t.Fatal(err)
	}
	r.until(10_000)
	r.want(scratch0, 321)
	if typ := r.boot.word(btBootWord) >> 8 & 0xff; typ != bootChained {
		t.Errorf("boot type %#x", typ)
	}
}
