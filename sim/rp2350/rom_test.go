package rp2350

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// call runs one ROM function on core 0 with the chip booted and returns its
// result. Pointers may be into SRAM from 0x20001000 on.
func (r *rig) call(code string, args ...uint32) int32 {
	r.t.Helper()
	n := r.nodes[0]
	at := r.rom.lookup(uint32(code[0])|uint32(code[1])<<8, rtRISCV)
	if at == 0 {
		r.t.Fatalf("no function %s", code)
	}
	core := n.cpu.(riscv).Core
	for i, v := range args {
		core.X[regA0+i] = v
	}
	core.X[regRA] = sramBase
	n.asleep = false
	core.SetPC(at)
	r.Run(n.clock() + 1)
	r.InputOpen(true)
	if n.clock() > r.Now() {
		r.Run(n.clock())
	}
	return int32(core.X[regA0])
}

// booted is a chip whose core 0 came through the boot ROM and sleeps.
func booted(t *testing.T, opt Options) *rig {
	r := newRig(t, opt)
	r.program((&asm{}).wfi().back(1))
	r.Run(1000)
	r.store32(0, regResetsClear, 0x1fffffff)
	return r
}

const buffer = sramBase + 0x1000

func TestROMHeaderAndTable(t *testing.T) {
	r := newRig(t, Options{})
	if v := r.load32(0, 0x10); v&0xffffff != 0x02754d || v>>24 != 2 {
		t.Errorf("magic %#x", v)
	}
	// Walk the table as any other code would.
	half := func(a uint32) uint32 { v, _ := r.load(0, a, 2); return v }
	seen := map[string]bool{}
	at := half(0x7df6)
	if at != half(0x14) {
		t.Error("Arm and RISC-V see different tables")
	}
	for half(at) != 0 {
		code, flags := half(at), half(at+2)
		seen[string([]byte{byte(code), byte(code >> 8)})] = true
		at += 4
		for f := flags; f != 0; f &= f - 1 {
			at += 2
		}
	}
	for _, c := range []string{"SR", "IF", "EX", "RE", "RP", "FC", "CX", "XM", "RA", "RB", "GS", "GP", "LP", "AB", "GB", "GU",
		"CI", "EB", "FA", "FO", "OA", "RC", "VB", "SP", "SC", "SS", "GR", "PT", "XF", "FD"} {
		if !seen[c] {
			t.Errorf("%s is missing from the table", c)
		}
	}
}

func TestLookupFromCode(t *testing.T) {
	r := newRig(t, Options{})
	// Look GR up as data and store the revision word it points at.
	p := (&asm{}).li(t0, 0x7df8).lhu(t0, t0, 0).li(a0, 'G'|'R'<<8).li(a1, rtData).jalr(ra, t0)
	p.lw(t1, a0, 0).li(t0, scratch0).sw(t1, t0, 0)
	p.li(t0, 0x7dfa).lhu(t0, t0, 0).li(a0, 'Z'|'Z'<<8).li(a1, 1).jalr(ra, t0)
	p.li(t0, scratch0).sw(a0, t0, 4).wfi().back(1)
	r.program(p)
	r.until(10000)
	r.want(scratch0, gitRevisionA2)
	r.want(scratch0+4, 0)
}

func TestGetSysInfo(t *testing.T) {
	r := booted(t, Options{ChipID: 0x1122334455667788})
	if n := r.call("GS", buffer, 4, sysChipInfo); n != 4 {
		t.Fatalf("chip info: %d", n)
	}
	for i, want := range []uint32{1, 1, 0x55667788, 0x11223344} {
		r.want(buffer+4*uint32(i), want)
	}
	if n := r.call("GS", buffer, 3, sysChipInfo); n != romBufferTooSmall {
		t.Errorf("small buffer: %d", n)
	}
	if n := r.call("GS", buffer+2, 9, sysChipInfo); n != romBadAlignment {
		t.Errorf("odd buffer: %d", n)
	}
	if n := r.call("GS", buffer, 16, sysCPU|sysFlashDev|0x8000); n != 3 {
		t.Errorf("cpu and flash: %d", n)
	}
	for i, want := range []uint32{sysCPU | sysFlashDev, 1, devInfoDefault} {
		r.want(buffer+4*uint32(i), want)
	}
	if n := r.call("GS", buffer, 16, sysBootRandom|sysBootInfo); n != 9 {
		t.Errorf("random and boot info: %d", n)
	}
}

func TestFlashFunctions(t *testing.T) {
	r := booted(t, Options{})
	data := make([]byte, 512)
	for i := range data {
		data[i] = byte(i)
	}
	r.Poke(0, buffer, data, false)
	before := r.Seconds()
	r.call("RE", 0x10000, 0x21000, 0x10000, 0xd8)
	if d := r.Seconds() - before; d < 0.344 || d > 0.346 {
		t.Errorf("two blocks and a sector took %v s", d)
	}
	before = r.Seconds()
	r.call("RP", 0x10000, buffer, 512)
	if d := r.Seconds() - before; d < 0.0008 || d > 0.0009 {
		t.Errorf("two pages took %v s", d)
	}
	r.want(xipBase+0x10004, 0x07060504)
	r.call("RP", 0x10000, buffer, 256)
	r.want(xipBase+0x10004, 0x07060504)
	r.call("FC")
	r.call("IF")
	r.call("EX")
	r.call("CX")
	r.want(xipBase+0x10100, 0x03020100)
}

func TestXIPFaultsWhileTheROMProgramsFlash(t *testing.T) {
	r := booted(t, Options{})
	core := r.nodes[0].cpu.(riscv).Core
	core.SetPC(r.rom.lookup('R'|'E'<<8, rtRISCV))
	core.X[regA0], core.X[regA0+1], core.X[regA0+2], core.X[regRA] = 0, 4096, 65536, sramBase
	r.nodes[0].asleep = false
	r.Run(r.nodes[0].clock() + 100)
	r.faults(xipBase)
	r.InputOpen(true)
	r.Run(r.nodes[0].clock() + 1)
	r.want(xipBase, 0xffffffff)
}

func TestFlashOpChecks(t *testing.T) {
	r := booted(t, Options{})
	const secure, prog, read = 1 << 8, 1 << 16, 2 << 16
	for _, c := range []struct {
		flags, addr, n uint32
		want           int32
	}{
		{secure, xipBase, 4096, romOK},
		{0, xipBase, 4096, romInvalidArg},
		{secure | 1<<20, xipBase, 4096, romInvalidArg},
		{secure, xipBase + 256, 4096, romBadAlignment},
		{secure | prog, xipBase + 8, 256, romBadAlignment},
		{secure, 0x20000000, 4096, romNotPermitted},
		{secure | read, xipBase, 12, romOK},
		{secure | cflashRuntime, xipBase + 0x1000, 4096, romOK},
		{secure | cflashRuntime, 0x08000000, 4096, romInvalidAddress},
	} {
		if got := r.call("FO", c.flags, c.addr, c.n, buffer); got != c.want {
			t.Errorf("flash_op(%#x, %#x, %d) = %d, want %d", c.flags, c.addr, c.n, got, c.want)
		}
	}
	// With lock 7 claimed the flash lock is demanded.
	r.load32(0, bootRAMBase+0x80c+4*bootLockEnable)
	if got := r.call("FO", secure, xipBase, 4096, 0); got != romLockRequired {
		t.Errorf("without the lock: %d", got)
	}
	r.load32(0, bootRAMBase+0x80c+4*bootLockFlash)
	if got := r.call("FO", secure, xipBase, 4096, 0); got != romOK {
		t.Errorf("with the lock: %d", got)
	}
}

func TestRuntimeToStorage(t *testing.T) {
	r := booted(t, Options{})
	r.store32(0, qmiATRANS, 0x400<<16|0x20)
	if got := r.call("FA", xipBase+0x123); uint32(got) != xipBase+0x20123 {
		t.Errorf("translated to %#x", got)
	}
	if got := r.call("FA", sramBase); got != romInvalidAddress {
		t.Errorf("RAM: %d", got)
	}
	r.call("RA")
	if got := r.call("FA", xipBase+0x123); uint32(got) != xipBase+0x123 {
		t.Errorf("after the reset of translation: %#x", got)
	}
}

func TestOTPAccess(t *testing.T) {
	r := booted(t, Options{})
	const row = 0x200
	r.store32(0, buffer, 0x5678_1234)
	if got := r.call("OA", buffer, 4, row|otpWrite|otpECC); got != romOK {
		t.Fatalf("write: %d", got)
	}
	r.store32(0, buffer, 0)
	r.call("OA", buffer, 4, row|otpECC)
	r.want(buffer, 0x5678_1234)
	r.store32(0, buffer, 0xedcb)
	if got := r.call("OA", buffer, 2, row|otpWrite|otpECC); got != romUnsupportedModify {
		t.Errorf("overwriting: %d", got)
	}
	r.store32(0, buffer, 0x3)
	r.call("OA", buffer, 4, (row+8)|otpWrite)
	r.store32(0, buffer, 0x1)
	if got := r.call("OA", buffer, 4, (row+8)|otpWrite); got != romUnsupportedModify {
		t.Errorf("clearing a raw bit: %d", got)
	}
	r.OTP().AddSoftLock(row/otp.RowsPerPage, 1)
	if got := r.call("OA", buffer, 4, (row+9)|otpWrite); got != romNotPermitted {
		t.Errorf("write to a locked page: %d", got)
	}
	r.OTP().AddSoftLock(row/otp.RowsPerPage, 3)
	if got := r.call("OA", buffer, 4, row); got != romNotPermitted {
		t.Errorf("read of a locked page: %d", got)
	}
	if got := r.call("OA", buffer+2, 4, 0); got != romBadAlignment {
		t.Errorf("odd buffer: %d", got)
	}
	if got := r.call("OA", buffer, 8, 0xfff); got != romInvalidArg {
		t.Errorf("past the end: %d", got)
	}
}

func TestStateFunctions(t *testing.T) {
	r := booted(t, Options{})
	r.load32(0, bootRAMBase+0x80c+4*3)
	r.call("RC", 0, 0x20000100)
	if got := r.call("RC", 0, 0xffffffff); got != 0x20000100 {
		t.Errorf("callback %#x", got)
	}
	if got := r.call("RC", 1, 0); got != romInvalidArg {
		t.Errorf("second callback: %d", got)
	}
	r.call("SR", 4)
	r.want(bootRAMBase+0x808, 0xff)
	if got := r.call("RC", 0, 0xffffffff); got != 0 {
		t.Errorf("callback after state reset %#x", got)
	}
	r.store32(0, buffer, 0x20001000)
	r.store32(0, buffer+4, 0x400)
	r.call("SS", buffer)
	r.want(buffer, 0)
	r.call("SS", buffer)
	r.want(buffer, 0x20001000)
	r.want(buffer+4, 0x400)
}

func TestPartitionFunctionsWithoutTable(t *testing.T) {
	r := booted(t, Options{})
	if got := r.call("LP", buffer, 3064, 0); got != romOK {
		t.Errorf("load_partition_table: %d", got)
	}
	if got := r.call("LP", buffer, 100, 0); got != romBufferTooSmall {
		t.Errorf("small work area: %d", got)
	}
	if got := r.call("GP", buffer, 16, ptInfo); got != 4 {
		t.Errorf("partition info: %d", got)
	}
	r.want(buffer+4, 0)
	if got := r.call("GU", buffer, 3064, 0xe48bff5a, buffer+0x1000); got != 0xff {
		t.Errorf("a RISC-V UF2 goes to %d, want absolute space", got)
	}
	if got := r.call("GB", 0); got != romNotFound {
		t.Errorf("B of 0: %d", got)
	}
	if got := r.call("AB", buffer, 3064, 0, 0); got != romInvalidArg {
		t.Errorf("pick A/B: %d", got)
	}
	if got := r.call("CI", buffer, 3064, xipBase, 0x10000); got != romNotFound {
		t.Errorf("chain to nothing: %d", got)
	}
}

func TestLaunchOfCore1(t *testing.T) {
	r := newRig(t, Options{})
	// At 0x20000000 core 0 sleeps; at +0x10 core 1 stores mhartid and sp.
	p := (&asm{}).wfi().back(1)
	for len(p.words) < 4 {
		p.emit(0x13)
	}
	p.emit(0xf14022f3).li(t1, scratch0).sw(t0, t1, 0).sw(sp, t1, 4).wfi().back(1)
	r.program(p)
	r.Run(1000)
	if v := r.load32(0, sioBase+sioFIFORd); v != 0 {
		t.Fatalf("core 1 should announce itself with 0, got %d", v)
	}
	r.InputOpen(true)
	send := func(v uint32) uint32 {
		r.store32(0, sioBase+sioFIFOWr, v)
		r.nodes[0].bus.SendEvent(r.Chip.now)
		r.Run(r.Now() + 500)
		return r.load32(0, sioBase+sioFIFORd)
	}
	for _, v := range []uint32{0, 0, 1, 0x20000101, 0x20081000} {
		if got := send(v); got != v {
			t.Fatalf("sent %#x, came back %#x", v, got)
		}
	}
	// A 0 in between starts over.
	if got := send(0); got != 0 {
		t.Fatalf("0 came back as %#x", got)
	}
	for _, v := range []uint32{1, 0x20000101, 0x20081000, sramBase + 0x10} {
		if got := send(v); got != v {
			t.Fatalf("sent %#x, came back %#x", v, got)
		}
	}
	r.Run(r.Now() + 1000)
	r.want(scratch0, 1)
	r.want(scratch0+4, 0x20081000)
	if v, _ := r.nodes[1].cpu.(riscv).CSR(csrMtvec); v != 0x20000101 {
		t.Errorf("mtvec %#x", v)
	}
	// Forcing it off and on puts it back into the ROM.
	r.store32(0, 0x40018000+4+0x2000, psmProc1)
	r.Run(r.Now() + 100)
	r.store32(0, 0x40018000+4+0x3000, psmProc1)
	r.Run(r.Now() + 100)
	if v := r.load32(0, sioBase+sioFIFORd); v != 0 || r.nodes[1].rom != romWaiting {
		t.Error("core 1 should wait in the ROM again")
	}
}

func TestWordsWithoutEventWait(t *testing.T) {
	r := booted(t, Options{})
	r.load32(0, sioBase+sioFIFORd)
	r.InputOpen(true)
	r.Run(r.Now() + 500)
	r.store32(0, sioBase+sioFIFOWr, 0)
	r.Run(r.Now() + 500)
	if r.load32(0, sioBase+sioFIFOSt)&fifoVLD != 0 {
		t.Error("core 1 sleeps in h3.block and should not see a word without an event")
	}
	r.nodes[0].bus.SendEvent(r.Chip.now)
	r.Run(r.Now() + 500)
	if r.load32(0, sioBase+sioFIFOSt)&fifoVLD == 0 {
		t.Error("the event should wake it")
	}
}

func TestCrashesInTheROM(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).li(t0, 0x7100).jalr(ra, t0))
	if e := r.until(10000); e.Kind != machine.EventCrash {
		t.Errorf("%+v", e)
	}
	r.program((&asm{}).emit(0)) // an illegal instruction before mtvec is set
	e := r.until(10000)
	if e.Kind != machine.EventCrash {
		t.Errorf("%+v", e)
	}
}
