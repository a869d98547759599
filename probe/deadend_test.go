package probe_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/target"
)

// code is a program in RAM; half-words go into memory as they are.
func code(arch image.Arch, halves ...uint16) *image.Image {
	var data []byte
	for _, h := range halves {
		data = binary.LittleEndian.AppendUint16(data, h)
	}
	entry := uint32(0x20000000)
	if arch == image.ArchARM {
		entry |= 1
	}
	return &image.Image{
		Path: "end.bin", Format: image.FormatBIN, Arch: arch, Entry: entry, HasEntry: true,
		Segments: []image.Segment{{Addr: 0x20000000, Data: data, Name: "code"}},
	}
}

// end runs a program that nobody debugs to its end.
func end(t *testing.T, im *image.Image) target.Stop {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	tg := probed.New(t, probed.Board{Arch: im.Arch}).MustOpen(probe.Options{Semihosting: &semihost.Options{}, CatchFaults: true})
	if err := tg.Load(ctx, im); err != nil {
		t.Fatal(err)
	}
	if err := tg.Start(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := tg.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDeadEnds ends programs in the ways in which programs end on a chip when
// nobody debugs them.
func TestDeadEnds(t *testing.T) {
	const riscv, arm = image.ArchRISCV, image.ArchARM
	for _, c := range []struct {
		name  string
		image *image.Image
		want  target.StopReason
		code  int
		text  string
	}{
		{"a crash of C on RISC-V", open(t, "../examples/crash/crash.elf"), target.StopCrash, 0, "load access fault, which nothing handles"},
		// li a0, 7; ebreak; j -4
		{"_exit on RISC-V", code(riscv, 0x451d, 0x0073, 0x0010, 0xbff5), target.StopExit, 7, ""},
		// li a0, 0; c.ebreak; j -2
		{"_exit with a short breakpoint", code(riscv, 0x4501, 0x9002, 0xbffd), target.StopExit, 0, ""},
		// li a0, 5; c.ebreak; jal zero, -2
		{"_exit with a long jump", code(riscv, 0x4515, 0x9002, 0xf06f, 0xffff), target.StopExit, 5, ""},
		{"a breakpoint on RISC-V", code(riscv, 0x0001, 0x9002, 0x0001, 0x0001), target.StopCrash, 0, "breakpoint instruction without a debugger"},
		// auipc t0, 0; addi t0, t0, 16; csrw mtvec, t0; lui a0, 0x60000 (below); the
		// handler at 16 is a breakpoint: unimplemented instruction before it.
		{"a breakpoint in the handler", code(riscv, 0x0297, 0, 0x8293, 0x0102, 0x9073, 0x3052, 0, 0, 0x9002), target.StopCrash, 0, "illegal instruction, which nothing handles"},
		{"a loop in the handler", code(riscv, 0x0297, 0, 0x8293, 0x0102, 0x9073, 0x3052, 0, 0, 0xa001), target.StopCrash, 0, "illegal instruction, which nothing handles"},
		// movs r0, #7; bkpt #0; b -4
		{"_exit on Arm", code(arm, 0x2007, 0xbe00, 0xe7fd), target.StopExit, 7, ""},
		{"a breakpoint on Arm", code(arm, 0xbf00, 0xbe00, 0xbf00), target.StopCrash, 0, "breakpoint instruction without a debugger"},
		// movs r0, #6; lsls r0, #28; ldr r1, [r0]
		{"a fault on Arm", code(arm, 0x2006, 0x0700, 0x6801, 0xe7fe), target.StopCrash, 0, "at 0x60000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := end(t, c.image)
			if s.Reason != c.want || s.Code != c.code {
				t.Errorf("it ends as %+v", s)
			}
			if c.text != "" && (s.Crash == nil || !strings.Contains(s.Crash.Cause, c.text)) {
				t.Errorf("the crash is %+v, want %q", s.Crash, c.text)
			}
		})
	}
}

// TestLooks: a program that runs on its own is not taken for one that hangs, and
// hardly disturbed.
func TestLooks(t *testing.T) {
	ctx := context.Background()
	for name, im := range map[string]*image.Image{
		"a jump to itself": code(image.ArchRISCV, 0xa001),
		"two cores":        open(t, "../examples/tasks/tasks.elf"),
	} {
		tg := probed.New(t, probed.Board{Arch: image.ArchRISCV}).MustOpen(probe.Options{Semihosting: &semihost.Options{}, CatchFaults: true})
		if err := tg.Load(ctx, im); err != nil {
			t.Fatal(err)
		}
		if err := tg.Start(ctx); err != nil {
			t.Fatal(err)
		}
		look, cancel := context.WithTimeout(ctx, time.Second)
		s, err := tg.Wait(look)
		cancel()
		if err == nil && (s.Reason != target.StopExit || s.Code != 0) {
			t.Errorf("%s ends as %+v", name, s)
		}
	}
}
