package picoboot_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/virtual/cable"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

const flashBase = 0x10000000

// open connects to a board in BOOTSEL mode.
func open(t *testing.T, opt rp2350.Options) (*picoboot.Device, *cable.Board) {
	t.Helper()
	b := cable.New(opt)
	s, ok := b.Look()
	if !ok || s.Product != 0x000f {
		t.Fatalf("%+v %v", s, ok)
	}
	c, i := connect(t, b)
	d, err := picoboot.Open(context.Background(), c, i)
	if err != nil {
		t.Fatal(err)
	}
	return d, b
}

// connect opens the interface alone.
func connect(t *testing.T, b *cable.Board) (usb.Conn, usb.Interface) {
	t.Helper()
	s, ok := b.Look()
	n := slices.IndexFunc(s.Interfaces, picoboot.IsInterface)
	if !ok || n < 0 {
		t.Fatalf("%+v", s)
	}
	c, err := b.Open(context.Background(), s, s.Interfaces[n].Number)
	if err != nil {
		t.Fatal(err)
	}
	return c, s.Interfaces[n]
}

// pattern is n bytes that are not all the same.
func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + i>>8)
	}
	return p
}

func TestFlash(t *testing.T) {
	ctx := context.Background()
	d, b := open(t, rp2350.Options{})
	if err := d.Exclusive(ctx, picoboot.IsExclusive); err != nil {
		t.Fatal(err)
	}
	p := pattern(3*picoboot.StepSize + 512)
	if err := d.Erase(ctx, flashBase+0x1000, 4*picoboot.StepSize); err != nil {
		t.Fatal(err)
	}
	// 15 sectors up to the boundary, three steps, one sector.
	if c := b.Clock(); c.Sectors != 64 {
		t.Errorf("%d sectors erased", c.Sectors)
	}
	if err := d.WriteMemory(ctx, flashBase+0x1000, p); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(p))
	if err := d.ReadMemory(ctx, flashBase+0x1000, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, p) || !bytes.Equal(b.Chip().Flash().Bytes()[0x1000:][:len(p)], p) {
		t.Error("flash holds something else")
	}
	if err := d.EnterXIP(ctx); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestRAMAndROM(t *testing.T) {
	ctx := context.Background()
	d, _ := open(t, rp2350.Options{})
	for _, n := range []int{1, 3, 63, 64, 65, 255, 256, 257, 4097} {
		p, got := pattern(n), make([]byte, n)
		if err := d.WriteMemory(ctx, 0x20000101, p); err != nil {
			t.Fatal(err)
		}
		if err := d.ReadMemory(ctx, 0x20000101, got); err != nil || !bytes.Equal(got, p) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	m := make([]byte, 3)
	if err := d.ReadMemory(ctx, 0x10, m); err != nil || string(m[:2]) != "Mu" {
		t.Errorf("ROM: %q, %v", m, err)
	}
}

func TestInfo(t *testing.T) {
	ctx := context.Background()
	d, _ := open(t, rp2350.Options{ChipID: 0xa1b2c3d4e5f60718, Arch: image.ArchRISCV})
	s, err := d.System(ctx)
	if err != nil || s.ChipID != 0xa1b2c3d4e5f60718 || !s.RISCV || s.ArmOff() || s.RISCVOff() {
		t.Errorf("%+v, %v", s, err)
	}
	tg, err := d.Target(ctx, 0xe48bff5a)
	if err != nil || !tg.Accepted || tg.Partition != -1 {
		t.Errorf("%+v, %v", tg, err)
	}
	if tg, err = d.Target(ctx, 0xe48bff56); err != nil || tg.Accepted {
		t.Errorf("RP2040: %+v, %v", tg, err)
	}
	if has, n, err := d.Table(ctx); err != nil || has || n != 0 {
		t.Errorf("%v %d %v", has, n, err)
	}
	u, err := d.UF2Status(ctx)
	if err != nil || u.String() != "no block was accepted" {
		t.Errorf("%+v, %v", u, err)
	}
	id := make([]uint16, 4)
	if err := d.ReadOTP(ctx, 0, id); err != nil || id[0] != 0x0718 || id[3] != 0xa1b2 {
		t.Errorf("%#x, %v", id, err)
	}
	if err := d.ReadOTPRaw(ctx, 0, make([]uint32, 100)); err != nil {
		t.Error(err)
	}
}

// TestRefusals: the ROM's reason arrives, and the next command works.
func TestRefusals(t *testing.T) {
	ctx := context.Background()
	d, b := open(t, rp2350.Options{})
	if err := d.Exclusive(ctx, picoboot.IsExclusive); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func() error
		code picoboot.Code
		text string
	}{
		{"alignment", func() error { return d.ReadMemory(ctx, flashBase+1, make([]byte, 16)) }, picoboot.BadAlignment,
			"the boot ROM refused READ of 16 bytes at 0x10000001: an address or length that is not aligned"},
		{"no memory", func() error { return d.ReadMemory(ctx, 0x40000000, make([]byte, 300)) }, picoboot.BadAddress, "no such address"},
		{"write to ROM", func() error { return d.WriteMemory(ctx, 0, make([]byte, 300)) }, picoboot.BadAddress, "WRITE of 300 bytes"},
		{"erase", func() error { return d.Erase(ctx, flashBase+0x100, 0x1000) }, picoboot.BadAlignment, "FLASH_ERASE"},
		{"OTP", func() error { return d.ReadOTP(ctx, 0xfff, make([]uint16, 2)) }, picoboot.InvalidArgument, "OTP_READ: invalid argument"},
		{"info", func() error { _, err := d.Info(ctx, 9); return err }, picoboot.InvalidArgument, "GET_INFO"},
		{"reboot", func() error { return d.Reboot(ctx, 0xd, 0, 0, 0) }, picoboot.NotPermitted, "REBOOT2"},
	} {
		err := c.do()
		var e *picoboot.StatusError
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := d.ExitXIP(ctx); err != nil {
			t.Fatalf("after %s: %v", c.name, err)
		}
		if s, err := d.Status(ctx); err != nil || s.Code != picoboot.OK || s.Command != picoboot.ExitXIP {
			t.Errorf("after %s: %+v, %v", c.name, s, err)
		}
	}
	// Exclusive access outlives them all: RESET had ended it.
	n := b.Transfers
	if err := d.Close(); err != nil || b.Transfers == n {
		t.Errorf("%v, %d transfers", err, b.Transfers-n)
	}
}

func TestHaltedByAnother(t *testing.T) {
	ctx := context.Background()
	_, b := open(t, rp2350.Options{})
	w, itf := connect(t, b)
	// A program that died sends half a command, and another nothing but one.
	for _, p := range [][]byte{{1, 2, 3}, command(0x05, 512, flashBase, 512)} {
		if _, err := w.Write(ctx, 3, p); err != nil {
			t.Fatal(err)
		}
		d, err := picoboot.Open(ctx, w, itf)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.System(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// command is a packet that another program might send.
func command(id byte, length uint32, args ...uint32) []byte {
	p := make([]byte, 32)
	le := binary.LittleEndian
	le.PutUint32(p, 0x431fd10b)
	p[8], p[9] = id, byte(4*len(args))
	le.PutUint32(p[12:], length)
	for i, a := range args {
		le.PutUint32(p[16+4*i:], a)
	}
	return p
}

func TestReboot(t *testing.T) {
	ctx := context.Background()
	d, b := open(t, rp2350.Options{})
	old, _ := b.Look()
	if err := d.Reboot(ctx, picoboot.RebootBootsel, 10*time.Millisecond, picoboot.BootselNoDrive, 0); err != nil {
		t.Fatal(err)
	}
	b.Pass(100 * time.Millisecond)
	s, ok := b.Look()
	if !ok || s.Num == old.Num || len(s.Interfaces) != 1 {
		t.Fatalf("%+v %v", s, ok)
	}
	if _, err := d.System(ctx); !errors.Is(err, usb.ErrGone) {
		t.Errorf("the old device: %v", err)
	}
}

// TestUnplugged pulls the plug before each transfer of a session.
func TestUnplugged(t *testing.T) {
	session := func(cut int) (b *cable.Board, transfers int, err error) {
		ctx := context.Background()
		b = cable.New(rp2350.Options{})
		w, itf := connect(t, b)
		n := b.Transfers
		defer func() { transfers = b.Transfers - n; b.Before = nil }()
		b.Before = func(i int) {
			if cut > 0 && i-n == cut {
				b.Unplug()
			}
		}
		d, err := picoboot.Open(ctx, w, itf)
		if err != nil {
			return b, 0, err
		}
		if err := errors.Join(d.Exclusive(ctx, picoboot.IsExclusive), d.Erase(ctx, flashBase, 4096),
			d.WriteMemory(ctx, flashBase, pattern(512)), d.ReadMemory(ctx, flashBase, make([]byte, 512))); err != nil {
			return b, 0, err
		}
		return b, 0, d.Close()
	}
	_, total, err := session(0)
	if err != nil || total != 17 {
		t.Fatalf("%d transfers, %v", total, err)
	}
	for cut := 1; cut <= total; cut++ {
		b, _, err := session(cut)
		// The last two are Close, to which a board that is gone is no loss.
		if cut <= total-2 && !errors.Is(err, usb.ErrGone) || cut > total-2 && err != nil {
			t.Errorf("transfer %d: %v", cut, err)
		}
		b.PlugIn()
		if _, ok := b.Look(); !ok {
			t.Errorf("transfer %d: the board does not come back", cut)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d, b := open(t, rp2350.Options{})
	n := 0
	d.Trace = func(picoboot.Event) {
		if n++; n == 2 {
			cancel()
		}
	}
	err := d.Erase(ctx, flashBase, 5*picoboot.StepSize)
	if !errors.Is(err, context.Canceled) || b.Clock().Sectors != 32 {
		t.Errorf("%v after %d sectors", err, b.Clock().Sectors)
	}
	if err := d.ExitXIP(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestHalted: endpoints that halt for no reason are let go on, and the command is
// made again.
func TestHalted(t *testing.T) {
	ctx := context.Background()
	for n := 1; n <= 12; n++ {
		d, b := open(t, rp2350.Options{})
		at := b.Transfers
		b.Before = func(i int) {
			if i-at == n {
				b.Halt(0x03)
				b.Halt(0x84)
			}
		}
		p, got := pattern(1024), make([]byte, 1024)
		err := errors.Join(d.Exclusive(ctx, picoboot.IsExclusive), d.Erase(ctx, flashBase, 4096),
			d.WriteMemory(ctx, flashBase, p), d.ReadMemory(ctx, flashBase, got))
		b.Before = nil
		if err != nil || !bytes.Equal(got, p) {
			t.Errorf("halted before transfer %d: %v", n, err)
		}
	}
}
