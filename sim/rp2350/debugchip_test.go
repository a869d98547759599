package rp2350

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/debugport"
)

// dmRig is a chip with its Debug Module.
type dmRig struct {
	*rig
	dm *debugport.DM
}

func newDMRig(t *testing.T, opt Options) *dmRig {
	r := newRig(t, opt)
	r.Run(200_000) // into the boot ROM
	return &dmRig{r, debugport.NewDM(r.DebugPort())}
}

// replay performs accesses of the module's registers: "wRR=V" writes, "rRR=V"
// reads and compares, "rRR" reads; all numbers are hexadecimal. The chip runs on
// after each.
func (r *dmRig) replay(script string) {
	r.t.Helper()
	for _, s := range strings.Fields(script) {
		var reg, v uint32
		switch n, _ := fmt.Sscanf(s[1:], "%x=%x", &reg, &v); {
		case s[0] == 'w' && n == 2:
			r.dm.Write(reg, v)
		case s[0] == 'r' && n >= 1:
			if got := r.dm.Read(reg); n == 2 && got != v {
				r.t.Fatalf("%s: register %#x is %#08x", s, reg, got)
			}
		default:
			r.t.Fatalf("bad step %q", s)
		}
		r.Run(r.Now() + 1000)
	}
}

// What OpenOCD of Raspberry Pi sends to examine the first hart, and the answers
// of silicon.
const examineHart0 = `
	w10=0 w10=1 w10=07ffffc1 r10=04010001 w10=1 r11 r12=00001bff r38=20000407 r16=02000001
	r11 w10=10000001 w10=00010001 r11 w10=10010001 w10=1 r11
	w10=80000001 r11=004003a2 w10=1
	w17=00321008 r16=02000201 w16=700
	w17=00221008 r16=02000001 r04 w17=00221009 r16=02000001 r04
	w17=00220301 r16=02000201 w16=700
	w20=30102473 w21=00100073 w17=00241000 r16=02000001 w17=00221008 r16=02000001 r04=40901105
	w20=30002473 w17=00241000 r16=02000001 w17=00221008 r04
	w04=00001800 w17=00230300 r16=02000201 w16=700
	w17=00231008 w20=30041073 w17=00241000 r16=02000001
	w20=c2202473 w17=00241000 r16=02000301 w16=700
	w20=fb002473 w17=00241000 r16=02000301 w16=700
	w20=7b002473 w17=00241000 r16=02000001 w17=00221008 r04=400006c3
	w04=400096c3 w17=00231008 w20=7b041073 w17=00241000 r16=02000001
	w20=7b002473 w17=00241000 w17=00221008 r04=400096c3
	w10=40000001 r11=00430ca2 w10=1 w32=00000006 r32=0`

func TestExamineRISCV(t *testing.T) {
	r := newDMRig(t, Options{})
	r.replay(examineHart0)
	// Hart 1, then both at once.
	r.replay(`w10=80010001 r11=004003a2 w10=00010001
		w20=f1402473 w21=00100073 w17=00241000 r16=02000001 w17=00221008 r04=1
		w10=40010001 r11=00430ca2 w10=1
		w14=0 w15=3 w10=84000001 r11=004303a2 r40=3 w10=1 w14=0 w15=3 w10=44000001 r11=00430ca2 w10=1`)
}

// Four triggers, of type 2, that match execution alone.
func TestTriggersRISCV(t *testing.T) {
	r := newDMRig(t, Options{})
	r.replay("w10=0 w10=1 w10=80000001 w10=1")
	csr := func(n uint32) string {
		return fmt.Sprintf("w20=%x w21=00100073 w17=00241000 w17=00221008", n<<20|0x2473)
	}
	set := func(n, v uint32) string {
		return fmt.Sprintf("w04=%x w17=00231008 w20=%x w21=00100073 w17=00241000", v, n<<20|0x41073)
	}
	for i := range uint32(4) {
		r.replay(set(0x7a0, i) + " " + csr(0x7a0) + fmt.Sprintf(" r04=%x ", i) + csr(0x7a4) + " r04=4 " +
			set(0x7a1, 0xffffffff) + " " + csr(0x7a1) + " r04=2800104c " + set(0x7a2, 0x20000000+i) + " " + csr(0x7a2) + fmt.Sprintf(" r04=%x", 0x20000000+i))
	}
}

// A loop in SRAM: stepping, a breakpoint instruction, a trigger.
func TestRunControlRISCV(t *testing.T) {
	r := newDMRig(t, Options{})
	code := []uint32{
		0x00150513, // addi a0, a0, 1
		0x00158593, // addi a1, a1, 1
		0xff9ff06f, // j -8
	}
	for i, w := range code {
		r.replay(fmt.Sprintf("w10=1 w38=%x w39=%x w3c=%x", 2<<17, sramBase+4*i, w))
	}
	pc := func(want uint32) {
		t.Helper()
		r.replay(fmt.Sprintf("w20=7b102473 w21=00100073 w17=00241000 w17=00221008 r04=%x", want))
	}
	setDcsr := func(v uint32) { r.replay(fmt.Sprintf("w04=%x w17=00231008 w20=7b041073 w17=00241000", v)) }
	r.replay("w10=80000001 w10=1 w04=20000000 w17=00231008 w20=7b141073 w21=00100073 w17=00241000 w04=0 w17=0023100a w17=0023100b")
	pc(sramBase)
	setDcsr(0x400096c7) // step
	r.replay("w10=40000001 r11=004303a2 w17=0022100a r04=1 w17=0022100b r04=0")
	pc(sramBase + 4)
	r.replay("w20=7b002473 w17=00241000 w17=00221008 r04=40009707") // cause: step
	setDcsr(0x400096c3)
	// The trigger at the first instruction of the loop.
	r.replay("w04=0 w17=00231008 w20=7a041073 w17=00241000 w04=2800104c w17=00231008 w20=7a141073 w17=00241000 " +
		"w04=20000000 w17=00231008 w20=7a241073 w17=00241000 w10=40000001 r11=004303a2")
	pc(sramBase)
	r.replay("w20=7b002473 w17=00241000 w17=00221008 r04=40009683 w17=0022100b r04=1") // cause: trigger
	r.replay("w04=20000000 w17=00231008 w20=7a141073 w17=00241000")                    // off
	// A breakpoint instruction, written while the hart runs, through the bus.
	r.replay("w10=40000001 r11=00430ca2 w38=00040000 w39=20000004 w3c=00100073 r11=004303a2")
	pc(sramBase + 4)
	r.replay("w20=7b002473 w17=00241000 w17=00221008 r04=40009643") // cause: ebreak
}

// Time goes on while a core is halted, and never back when it is let go.
func TestTimeOfHaltedCores(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchRISCV, image.ArchARM} {
		r := newRig(t, Options{Arch: arch})
		r.Run(200_000)
		for _, c := range r.Cores() {
			c.Halt()
		}
		r.Run(r.Now() + 1)
		r.Run(r.Now() + 5_000_000)
		was := r.Now()
		for i, c := range r.Cores() {
			c.Step(true)
			c.SetPC(sramBase)
			c.Resume()
			r.Run(r.Now() + 1000)
			if at := r.nodes[i].clock(); at < was {
				t.Errorf("%s core %d goes on at cycle %d, after %d", arch, i, at, was)
			}
		}
	}
}

func TestResetHaltRISCV(t *testing.T) {
	r := newDMRig(t, Options{})
	r.replay("w10=0 w10=1 w10=00000009 w10=00010009 w10=00000003 w10=1 r11=004c03a2 w10=10000001 r11=004003a2")
	for i := range 2 {
		if pc := r.Cores()[i].PC(); pc != romEntry {
			t.Errorf("core %d stands at %#x, want the reset vector", i, pc)
		}
	}
	r.want(0x40100000+0x2c, 1<<27) // HAD_HZD_SYS_RESET_REQ
	r.replay("w10=00000005 w10=00010005 w10=00000003 w10=1 r11=004c0ca2")
}

// Bus accesses of the module while the harts run, and E4.
func TestSystemBusRISCV(t *testing.T) {
	r := newDMRig(t, Options{})
	r.replay("w10=0 w10=1 w38=00140000 w39=40000000 r3c=20004927 w38=00100000 w39=40000001 r3c=49 w39=e000ed00 r38=20102407 w38=00107000")
	r.nodes[1].asleep = true
	core := r.nodes[1].cpu.(riscv).Core
	core.SetCSR(csrMsleep, 1)
	r.dm.Write(0x39, sramBase)
	if v := r.dm.Read(0x38); v>>21&1 == 0 {
		t.Errorf("sbcs %#x while hart 1 sleeps deeply", v)
	}
	core.SetCSR(csrMsleep, 0)
	if v := r.dm.Read(0x38); v>>21&1 != 0 {
		t.Errorf("sbcs %#x afterwards", v)
	}
}

func TestUnavailableInArmMode(t *testing.T) {
	r := newDMRig(t, Options{Arch: image.ArchARM})
	r.replay("w10=0 w10=1 w10=80000001 r11=004030a2 w10=80010001 r11=004030a2 w17=00221008 r16=02000401 r40=0")
}

// armRig is a chip with Arm cores and its port.
type armRig struct {
	*rig
	port debugport.Chip
}

func newArmRig(t *testing.T) *armRig {
	r := newRig(t, Options{Arch: image.ArchARM})
	r.Run(200_000)
	return &armRig{r, r.DebugPort()}
}

const asDebugger = bus.Debug | bus.Privileged

func (r *armRig) read(core int, addr uint32) uint32 {
	r.t.Helper()
	v, ok := r.port.Load(core, addr, 4, asDebugger)
	if !ok {
		r.t.Fatalf("load of %#x faults", addr)
	}
	return v
}

func (r *armRig) write(core int, addr, v uint32) {
	r.t.Helper()
	if !r.port.Store(core, addr, 4, v, asDebugger) {
		r.t.Fatalf("store to %#x faults", addr)
	}
}

// Registers of the PPB.
const (
	regFPCtrl = 0xe0002000
	regFPComp = 0xe0002008
	regDWTFn  = 0xe0001028
	regAIRCR  = 0xe000ed0c
	regDFSR   = 0xe000ed30
	regDHCSR  = 0xe000edf0
	regDCRSR  = 0xe000edf4
	regDCRDR  = 0xe000edf8
	regDEMCR  = 0xe000edfc
	keyDHCSR  = 0xa05f0000
)

func (r *armRig) reg(core int, sel uint32) uint32 {
	r.write(core, regDCRSR, sel)
	return r.read(core, regDCRDR)
}

func (r *armRig) setReg(core int, sel, v uint32) {
	r.write(core, regDCRDR, v)
	r.write(core, regDCRSR, sel|1<<16)
}

func TestIdentityArm(t *testing.T) {
	r := newArmRig(t)
	for core := range 2 {
		for addr, want := range map[uint32]uint32{
			0xe000ed00: 0x411fd210, regFPCtrl: 0x10000080, 0xe0001000: 0x40000000, 0xe0001fbc: 0x47701a02,
			0xe000ef40: 0x10110021, 0xe000ef44: 0x11000011, 0xe000ef48: 0x40, 0xe000ed90: 0x800, 0xe000edd4: 8,
			0xe000efb8: 0xff, 0xe00ff000: 0xfff0f003, 0xe00ff004: 0xfff02003, 0xe00ff008: 0xfff03003, 0xe00ff00c: 0xfff01003,
			0xe000efbc: 0x47702a04, 0xe0000fbc: 0x47701a01, 0xe0002fbc: 0x47701a03,
		} {
			if v := r.read(core, addr); v != want {
				t.Errorf("core %d: %#x is %#x, want %#x", core, addr, v, want)
			}
		}
	}
	if _, ok := r.port.Load(0, 0xe0050000, 4, asDebugger); ok {
		t.Error("an address of the PPB that nothing answers does not fault")
	}
}

func TestRunControlArm(t *testing.T) {
	r := newArmRig(t)
	for i, w := range []uint32{0x31013001, 0xbf00e7fc} { // adds r0, #1; adds r1, #1; b .-4; nop
		r.write(0, sramBase+4*uint32(i), w)
	}
	r.write(0, regDHCSR, keyDHCSR|3)
	if v := r.read(0, regDHCSR); v&0x30003 != 0x30003 {
		t.Fatalf("DHCSR %#x after a halt request", v)
	}
	if v := r.read(1, regDHCSR); v&0x20000 != 0 {
		t.Errorf("the other core halted too: %#x", v)
	}
	if v := r.read(0, regDFSR); v != 1 {
		t.Errorf("DFSR %#x, want HALTED", v)
	}
	for sel, v := range map[uint32]uint32{0: 0, 1: 0, 15: sramBase, 16: 1 << 24} {
		r.setReg(0, sel, v)
	}
	step := func() { r.write(0, regDHCSR, keyDHCSR|0xb); r.write(0, regDHCSR, keyDHCSR|0xd); r.Run(r.Now() + 1000) }
	step()
	if r0, pc := r.reg(0, 0), r.reg(0, 15); r0 != 1 || pc != sramBase+2 {
		t.Errorf("after a step: r0 %d, pc %#x", r0, pc)
	}
	if v := r.read(0, regDHCSR); v&(1<<24) == 0 {
		t.Errorf("DHCSR %#x: S_RETIRE_ST is clear after a step", v)
	}
	if v := r.read(0, regDHCSR); v&(1<<24) != 0 {
		t.Errorf("DHCSR %#x: S_RETIRE_ST is not cleared by a read", v)
	}
	// A comparator at the present pc hits at once.
	r.write(0, regFPCtrl, 3)
	r.write(0, regFPComp, sramBase+2|1)
	r.write(0, regDFSR, 0x1f)
	r.write(0, regDHCSR, keyDHCSR|1)
	r.Run(r.Now() + 1000)
	if r1, pc := r.reg(0, 1), r.reg(0, 15); r1 != 0 || pc != sramBase+2 {
		t.Errorf("a breakpoint at the first instruction: r1 %d, pc %#x", r1, pc)
	}
	if v := r.read(0, regDFSR); v != 2 {
		t.Errorf("DFSR %#x, want BKPT", v)
	}
	// A breakpoint instruction that is written while the core runs.
	r.write(0, regFPComp, 0)
	r.write(0, regDHCSR, keyDHCSR|1)
	r.Run(r.Now() + 1000)
	if !r.port.Store(0, sramBase+4, 2, 0xbe11, asDebugger) {
		t.Fatal("a store of a halfword faults")
	}
	r.Run(r.Now() + 1000)
	if pc := r.reg(0, 15); pc != sramBase+4 || r.read(0, regDHCSR)&0x20000 == 0 {
		t.Errorf("a breakpoint instruction: pc %#x", pc)
	}
}

func TestResetArm(t *testing.T) {
	r := newArmRig(t)
	r.read(0, regDHCSR) // S_RESET_ST of power-up
	r.read(1, regDHCSR)
	r.write(0, regDHCSR, keyDHCSR|1)
	r.write(0, regDEMCR, 0x01000501)
	r.write(0, regFPCtrl, 3)
	r.write(0, regFPComp, 0x10000001)
	r.write(0, regDWTFn, 0x814)
	r.write(0, regAIRCR, 0x05fa0004)
	r.Run(r.Now() + 1000)
	if v := r.read(0, regDHCSR); v&(1<<25|1<<17) != 1<<25|1<<17 {
		t.Errorf("DHCSR %#x after a reset that is caught", v)
	}
	if v := r.read(0, regDHCSR); v&(1<<25) != 0 {
		t.Errorf("DHCSR %#x: S_RESET_ST is not cleared by a read", v)
	}
	if v := r.read(1, regDHCSR); v&(1<<25) != 0 {
		t.Errorf("the other core was reset too: %#x", v)
	}
	if pc := r.reg(0, 15); pc != romEntry {
		t.Errorf("core 0 stands at %#x", pc)
	}
	if r.read(0, regFPComp) != 0x10000001 || r.read(0, regDEMCR) != 0x01000501 || r.read(0, regDWTFn)&0x3f != 0x14 {
		t.Error("a warm reset cleared the debug registers")
	}
	// A cold one clears them.
	r.port.Reset(debugport.ResetCold)
	r.Run(r.Now() + 1000)
	if r.read(0, regFPComp) != 0 || r.read(0, regDEMCR) != 0 || r.read(0, regDHCSR)&3 != 0 {
		t.Error("a cold reset kept the debug registers")
	}
}

// The same request by the program.
func TestResetRequestByProgram(t *testing.T) {
	r := newArmRig(t)
	// ldr r0, [pc, #4]; ldr r1, [pc, #8]; str r1, [r0]; b .
	for i, w := range []uint32{0x49024801, 0xe7fe6001, regAIRCR, 0x05fa0004} {
		r.write(1, sramBase+4*uint32(i), w)
	}
	r.read(1, regDHCSR)
	r.write(1, regDHCSR, keyDHCSR|3)
	r.setReg(1, 15, sramBase)
	r.setReg(1, 16, 1<<24)
	r.write(1, regDEMCR, 1)
	r.write(1, regDHCSR, keyDHCSR|1)
	r.Run(r.Now() + 10_000)
	if v := r.read(1, regDHCSR); v&(1<<25|1<<17) != 1<<25|1<<17 || r.reg(1, 15) != romEntry {
		t.Errorf("DHCSR %#x, pc %#x", v, r.reg(1, 15))
	}
}

// A Non-secure access is refused where the attribution unit says Secure, and
// allowed once it says Non-secure.
func TestNonSecureDebugger(t *testing.T) {
	r := newArmRig(t)
	ns := asDebugger | bus.NonSecure
	for _, addr := range []uint32{sramBase, xipBase, 0x40070000} {
		if _, ok := r.port.Load(0, addr, 4, ns); ok {
			t.Errorf("Non-secure access of %#x goes through", addr)
		}
	}
	r.write(0, 0xe000edd0, 2) // SAU_CTRL.ALLNS
	if _, ok := r.port.Load(0, sramBase, 4, ns); !ok {
		t.Error("Non-secure access of Non-secure memory faults")
	}
}

func TestRescue(t *testing.T) {
	r := newRig(t, Options{Arch: image.ArchARM})
	r.DebugPort().Reset(debugport.ResetRescue)
	r.Run(r.Now() + 1_000_000)
	r.want(0x40100000+0x2c, 1<<21) // the ROM has cleared the flag
	if r.nodes[0].rom == romNone {
		t.Error("core 0 does not wait in the ROM after a rescue")
	}
}

// A break on the probe's serial port is on UART0's receive pin.
func TestBreak(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, 0x40038000+0x08, 1<<6|1<<3) // PADS_BANK0 GPIO1: input, pull-up
	for _, on := range []bool{false, true, false} {
		r.Break(on)
		if low := r.Pins().Levels()&2 == 0; low != on {
			t.Errorf("break %v: the pin is low: %v", on, low)
		}
	}
}
