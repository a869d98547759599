package sim

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// Registers of the chip that these programs touch.
const (
	sramBase   = 0x20000000
	nowhere    = 0x60000000
	watchdog   = 0x400d8000
	csrMtvecID = 0x305
)

// TestEnds runs programs that end as firmware for the RP2350 does, on the chip.
// None of them has symbols.
func TestEnds(t *testing.T) {
	// vector points mtvec at the code n bytes behind it.
	vector := func(n int) []uint32 {
		return []uint32{auipc(t0, 0), addi(t0, t0, n), csrw(csrMtvecID, t0)}
	}
	cat := func(parts ...[]uint32) (code []uint32) {
		for _, p := range parts {
			code = append(code, p...)
		}
		return code
	}
	exit := func(status int) []uint32 {
		return []uint32{addi(a0, zero, status), ebreak, jal(zero, -4)}
	}
	for _, c := range []struct {
		name   string
		code   []uint32
		end    End
		status int
		cause  string // part of it
		pc     uint32 // of the crash
		notice string
	}{
		// The handler of exceptions is a breakpoint instruction at offset 12.
		{"exit", cat(vector(16), []uint32{jal(zero, 8), ebreak}, exit(0)), EndExit, 0, "", 0, ""},
		{"exit with a status", cat(vector(16), []uint32{jal(zero, 8), ebreak}, exit(3)), EndExit, 3, "", 0, ""},
		{"unhandled fault", cat(vector(16), []uint32{jal(zero, 8), ebreak, lui(a1, nowhere), lw(a0, a1, 4)}),
			EndCrash, 0, "load access fault at 0x60000004", sramBase + 24, ""},
		{"illegal instruction", cat(vector(16), []uint32{jal(zero, 8), ebreak, 0xffffffff}),
			EndCrash, 0, "illegal instruction 0xffffffff", sramBase + 20, ""},
		{"fault with a handler that spins", cat(vector(16), []uint32{jal(zero, 8), self, lui(a1, nowhere), sw(a0, a1, 0)}),
			EndCrash, 0, "store access fault at 0x60000000", sramBase + 24, ""},
		{"breakpoint without a handler", cat(vector(16), []uint32{jal(zero, 8), ebreak, addi(a0, zero, 1), ebreak, addi(a0, zero, 2), self}),
			EndCrash, 0, "breakpoint", sramBase + 24, ""},
		// The handler counts in a2 and returns behind the breakpoint.
		{"breakpoint with a handler", cat(vector(16), []uint32{
			jal(zero, 24),
			addi(a2, a2, 1), csrr(a1, csrMepc), addi(a1, a1, 4), csrw(csrMepc, a1), mret,
			ebreak, ebreak, ebreak,
			addi(t0, zero, 0), csrw(csrMtvecID, t0), addi(a0, a2, 0), ebreak, jal(zero, -4),
		}), EndExit, 3, "", 0, ""},
		{"asleep", []uint32{wfi, jal(zero, -4)}, EndAsleep, 0, "", 0, ""},
		{"jump to itself", []uint32{self}, EndAsleep, 0, "", 0, ""},
		// It does not tick, so it does not help either.
		{"fault with a watchdog", cat(vector(16), []uint32{jal(zero, 8), ebreak,
			lui(a1, watchdog), lui(a2, 0x40000000), sw(a2, a1, 0),
			lui(a1, nowhere), lw(a0, a1, 0)}), EndCrash, 0, "load access fault", sramBase + 36, "the watchdog runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			var notices []string
			made, err := New(Options{Machine: MachineRP2350, Notice: func(n machine.Notice) { notices = append(notices, n.Text) }})
			if err != nil {
				t.Fatal(err)
			}
			defer made.Close()
			if err := made.Load(ctx, ramImage(sramBase, c.code...)); err != nil {
				t.Fatal(err)
			}
			out, err := Base(made).Run(ctx, RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if out.End != c.end || out.Stop.Code != c.status {
				t.Errorf("ended with %s, %+v, want %s with status %d; crash %+v", out.End, out.Stop, c.end, c.status, out.Stop.Crash)
			}
			if c.cause != "" && (out.Stop.Crash == nil || !strings.Contains(out.Stop.Crash.Cause, c.cause) || out.Stop.Crash.PC != c.pc) {
				t.Errorf("crash %+v, want %q at %#x", out.Stop.Crash, c.cause, c.pc)
			}
			if all := strings.Join(notices, "; "); !strings.Contains(all, c.notice) {
				t.Errorf("notices %q lack %q", all, c.notice)
			}
		})
	}
}

// TestArmEnds does the same with Arm cores: a vector table in RAM, whose
// HardFault handler is a breakpoint instruction or a jump to itself.
func TestArmEnds(t *testing.T) {
	const (
		stack   = sramBase + 0x8000
		handler = sramBase + 0x40
		entry   = sramBase + 0x44
		start   = sramBase + 0x60
		bkpt    = 0xbe00
		here    = 0xe7fe // b .
	)
	for _, c := range []struct {
		name    string
		handler uint16
		code    []uint16
		end     End
		status  int
		cause   string
		pc      uint32
	}{
		{"exit", bkpt, []uint16{0x2000, bkpt, 0xe7fd}, EndExit, 0, "", 0},               // movs r0, #0; bkpt; b .-2
		{"exit with a status", bkpt, []uint16{0x2005, bkpt, 0xe7fd}, EndExit, 5, "", 0}, // movs r0, #5
		{"undefined instruction", bkpt, []uint16{0x2001, 0xde00}, EndCrash, 0, "undefined", start + 2},
		{"unhandled fault", bkpt, []uint16{0x2006, 0x0700, 0x6801}, EndCrash, 0, "0x60000000", start + 4}, // movs r0, #6; lsls r0, #28; ldr r1, [r0]
		{"handler that spins", here, []uint16{0x2006, 0x0700, 0x6801}, EndCrash, 0, "0x60000000", start + 4},
		{"asleep", bkpt, []uint16{0xbf30, 0xe7fd}, EndAsleep, 0, "", 0}, // wfi; b .-2
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			code := make([]byte, 0x60+2*len(c.code))
			put := binary.LittleEndian.PutUint32
			put(code, stack)
			put(code[4:], entry|1)
			for i := 2; i < 16; i++ {
				put(code[4*i:], handler|1)
			}
			binary.LittleEndian.PutUint16(code[0x40:], c.handler)
			// The vector table and the stack, then on to the code.
			for i, h := range [6]uint16{0x4803, 0x4904, 0x6001, 0x4a04, 0x4695, 0xe007} {
				binary.LittleEndian.PutUint16(code[0x44+2*i:], h)
			}
			put(code[0x54:], armVTOR)
			put(code[0x58:], sramBase)
			put(code[0x5c:], stack)
			for i, h := range c.code {
				binary.LittleEndian.PutUint16(code[0x60+2*i:], h)
			}
			made, err := New(Options{Machine: MachineRP2350, Arch: image.ArchARM})
			if err != nil {
				t.Fatal(err)
			}
			defer made.Close()
			img := &image.Image{
				Path: "test.elf", Format: image.FormatELF, Arch: image.ArchARM, Entry: entry | 1, HasEntry: true,
				Segments: []image.Segment{{Addr: sramBase, Data: code, Name: "segment 0"}},
			}
			if err := made.Load(ctx, img); err != nil {
				t.Fatal(err)
			}
			out, err := Base(made).Run(ctx, RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if out.End != c.end || out.Stop.Code != c.status {
				t.Errorf("ended with %s, %+v, want %s with status %d; crash %+v", out.End, out.Stop, c.end, c.status, out.Stop.Crash)
			}
			if c.cause != "" && (out.Stop.Crash == nil || !strings.Contains(out.Stop.Crash.Cause, c.cause) || out.Stop.Crash.PC != c.pc) {
				t.Errorf("crash %+v, want %q at %#x", out.Stop.Crash, c.cause, c.pc)
			}
			// The registers are those of the program, not of the handler.
			if c.end == EndCrash && out.Stop.Crash != nil {
				for _, r := range out.Stop.Crash.Registers {
					if r.Name == "sp" && r.Value != stack {
						t.Errorf("sp is %#x, want %#x", r.Value, uint32(stack))
					}
				}
			}
		})
	}
}
