package virtual

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

func TestBootselDescriptors(t *testing.T) {
	b := newBoard(t, rp2350.Options{ChipID: 0xa1b2c3d4e5f60718})
	for _, c := range []struct {
		name string
		s    Setup
		want string
	}{
		{"device", Setup{0x80, 6, 0x100, 0, 64}, "1201100200000040 8a2e0f00 0001 01020301"},
		{"configuration", Setup{0x80, 6, 0x200, 0, 255}, "0902370002010080 19" +
			"090400000208065000 0705810240 0000 0705020240 0000" +
			"0904010002ff000000 0705030240 0000 0705840240 0000"},
		{"BOS", Setup{0x80, 6, 0xf00, 0, 255}, "050f210001 1c100500 df60ddd88945c74c9cd2659d9e648a9f 00000306 a600 01 00"},
		{"MS OS 2.0 header", Setup{0xc0, 1, 0, 7, 38}, "0a00000000000306a600 0800020001009c00 14000300 57494e5553420000 0000000000000000"},
	} {
		want, err := hex.DecodeString(strings.ReplaceAll(c.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if u := ctl(b.dev, c.s, nil); !bytes.Equal(u.Data, want) {
			t.Errorf("%s:\n% x\nwant\n% x", c.name, u.Data, want)
		}
	}
	if u := ctl(b.dev, Setup{0xc0, 1, 0, 7, 500}, nil); len(u.Data) != 0xa6 {
		t.Errorf("the descriptor set has %#x bytes", len(u.Data))
	}
	for i, want := range []string{"Raspberry Pi", "RP2350 Boot", "A1B2C3D4E5F60718", ""} {
		u := ctl(b.dev, Setup{0x80, 6, 0x301 + uint16(i), 0x409, 255}, nil)
		if !bytes.Equal(u.Data, stringDescriptor(want)) {
			t.Errorf("string %d: % x", i+1, u.Data)
		}
	}
}

func TestWhiteLabel(t *testing.T) {
	fuses := &otp.Array{}
	valid := uint32(1<<labelVendor | 1<<labelName | 1<<labelModel | labelTableValid)
	for i := range 3 {
		fuses.Program(otp.RowUSBFlags+i, valid)
	}
	const table = 0x100
	fuses.SetData(rowWhiteLabel, table)
	fuses.SetData(table+labelVendor, 0x1209)
	fuses.SetData(table+labelName, 0x1003)
	fuses.SetData(table+0x10, 'A'|'b'<<8)
	fuses.SetData(table+0x11, 'c')
	fuses.SetData(table+labelModel, 0x1281) // one UTF-16 unit
	fuses.SetData(table+0x12, 0x3a9)
	b := newBoard(t, rp2350.Options{OTP: fuses})
	d, _ := b.dev.Descriptors()
	if v := binary.LittleEndian.Uint16(d[8:]); v != 0x1209 {
		t.Errorf("vendor %#x", v)
	}
	if u := ctl(b.dev, Setup{0x80, 6, 0x302, 0x409, 255}, nil); !bytes.Equal(u.Data, stringDescriptor("Abc")) {
		t.Errorf("product % x", u.Data)
	}
	if k := newDisk(b.chip.BootselMode(), readLabel(fuses)); !strings.Contains(k.info, "Model: Ω\n") {
		t.Errorf("%q", k.info)
	}
}

func TestPicobootLoadsAndBoots(t *testing.T) {
	b := newBoard(t, riscv)
	p := program()
	b.ok(cmdExclusive, []byte{1}, nil, 0)
	b.ok(cmdExitXIP, nil, nil, 0)
	b.ok(cmdEnterCmdXIP, nil, nil, 0)
	b.ok(cmdFlashErase, words(0x10000000, 4096), nil, 0)
	b.ok(cmdWrite, words(0x10000000, uint32(len(p))), p, 0)
	if got := b.ok(cmdRead, words(0x10000000, uint32(len(p))), nil, len(p)); !bytes.Equal(got, p) {
		t.Error("flash holds something else")
	}
	if b.clk.Sectors != 1 || b.clk.Pages != 2 || b.clk.Erase != 45_000_000_000 {
		t.Errorf("%+v", *b.clk)
	}
	b.ok(cmdExclusive, []byte{0}, nil, 0)
	b.ok(cmdReboot2, words(0x100, 10, 0, 0), nil, 0)
	if _, st := b.pico(cmdExitXIP, nil, nil, 0); st != pbRebooting {
		t.Errorf("while it reboots: %d", st)
	}
	b.runs("hi")
	if b.chip.BootselMode() != nil {
		t.Error("BOOTSEL mode should be over")
	}
}

func TestPicobootRAMImage(t *testing.T) {
	b := newBoard(t, riscv)
	p := program()
	binary.LittleEndian.PutUint32(p[12:], 0x20000020)
	b.ok(cmdWrite, words(0x20000000, uint32(len(p))), p, 0)
	b.ok(cmdReboot2, words(3, 1, 0x20000000, 0x1000), nil, 0)
	b.runs("hi")
}

func TestPicobootBackIntoBootsel(t *testing.T) {
	b := newBoard(t, riscv)
	b.ok(cmdReboot2, words(2, 1, 1, 0), nil, 0) // no drive
	b.chip.Run(b.chip.Now() + 1_000_000)
	b.chip.Run(b.chip.Now() + 1_000_000)
	rom := b.chip.BootselMode()
	if rom == nil {
		t.Fatal("not in BOOTSEL mode")
	}
	_, config := NewBootsel(rom, nil).Descriptors()
	p := parseConfig(config)
	if len(p.interfaces) != 1 || p.interfaces[0] != [3]uint8{0xff, 0, 0} {
		t.Errorf("%v", p.interfaces)
	}
}

func TestPicobootRefusals(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	for _, c := range []struct {
		name string
		id   uint8
		args []byte
		n    int // data to the host
		want picobootStatus
	}{
		{"RP2040's REBOOT", cmdReboot, words(0, 0, 0), 0, pbUnknownCommand},
		{"EXEC", cmdExec, words(0x20000000), 0, pbUnknownCommand},
		{"VECTORIZE_FLASH", cmdVectorizeFlash, words(0), 0, pbUnknownCommand},
		{"no command", 0, nil, 0, pbUnknownCommand},
		{"beyond the last", 0x0e, nil, 0, pbUnknownCommand},
		{"argument size", cmdExclusive, []byte{1, 2}, 0, pbCommandLength},
		{"transfer length", cmdRead, words(0x20000000, 8), 4, pbTransferLength},
		{"info too long", cmdGetInfo, append([]byte{1, 0, 0, 0}, words(1, 0, 0)...), 257, pbTransferLength},
		{"info too short", cmdGetInfo, append([]byte{1, 0, 0, 0}, words(1, 0, 0)...), 8, pbBufferTooSmall},
		{"unknown info", cmdGetInfo, append([]byte{9, 0, 0, 0}, words(1, 0, 0)...), 64, pbArgument},
		{"erase alignment", cmdFlashErase, words(0x10000100, 4096), 0, pbAlignment},
		{"erase size", cmdFlashErase, words(0x10000000, 100), 0, pbAlignment},
		{"erase address", cmdFlashErase, words(0x20000000, 4096), 0, pbAddress},
		{"erase beyond flash", cmdFlashErase, words(0x11fff000, 8192), 0, pbAddress},
		{"erase without a second flash", cmdFlashErase, words(0x11000000, 4096), 0, pbNotPermitted},
		{"read nowhere", cmdRead, words(0x40000000, 4), 4, pbAddress},
		{"read secure ROM", cmdRead, words(0x7dfc, 4), 4, pbAddress},
		{"read alignment", cmdRead, words(0x10000010, 16), 16, pbAlignment},
		{"OTP beyond", cmdOTPRead, []byte{0xff, 0x0f, 2, 0, 1}, 4, pbArgument},
		{"PC/SP", cmdReboot2, words(0xd, 1, 0x20000000, 0x20001000), 0, pbNotPermitted},
		{"reboot type", cmdReboot2, words(1, 1, 0, 0), 0, pbNotPermitted},
	} {
		if _, st := b.pico(c.id, c.args, nil, c.n); st != c.want {
			t.Errorf("%s: status %d, want %d", c.name, st, c.want)
		}
	}
	if _, st := b.pico(cmdWrite, words(0x10000001, 4), []byte{1, 2, 3, 4}, 0); st != pbAlignment {
		t.Errorf("write alignment: %d", st)
	}
	if _, st := b.pico(cmdWrite, words(0, 4), []byte{1, 2, 3, 4}, 0); st != pbAddress {
		t.Errorf("write to ROM: %d", st)
	}
	// Not a command at all: both endpoints halt.
	for _, p := range [][]byte{make([]byte, 32), packet(cmdExitXIP, 0, nil)[:31]} {
		b.send(3, p)
		if _, s := b.receive(4, 1); s != StatusStall {
			t.Errorf("%d", s)
		}
		ctl(b.dev, Setup{0x41, reqPicobootReset, 0, 1, 0}, nil)
	}
	b.ok(cmdExitXIP, nil, nil, 0)
}

func TestGetInfo(t *testing.T) {
	b := newBoard(t, rp2350.Options{ChipID: 0x1122334455667788, Arch: riscv.Arch})
	info := func(kind byte, arg uint32) []uint32 {
		got := b.ok(cmdGetInfo, append([]byte{kind, 0, 0, 0}, words(arg, 0, 0)...), nil, 256)
		var w []uint32
		for i := range binary.LittleEndian.Uint32(got) {
			w = append(w, binary.LittleEndian.Uint32(got[4+4*i:]))
		}
		return w
	}
	same := func(name string, got []uint32, want ...uint32) {
		t.Helper()
		if !bytes.Equal(words(got...), words(want...)) {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
	sys := info(infoSystem, 1)
	if len(sys) != 4 || sys[0] != 1 || sys[2] != 0x55667788 || sys[3] != 0x11223344 {
		t.Errorf("chip: %#x", sys)
	}
	same("CPU", info(infoSystem, 4), 4, 1)
	if w := info(infoSystem, 0x7f); w[0] != 0x5f || len(w) != 1+3+1+1+1+4+4 {
		t.Errorf("everything: %#x", w)
	}
	if w := info(infoPartitions, 1); len(w) != 4 || w[0] != 1 || w[1] != 0 {
		t.Errorf("partitions: %#x", w)
	}
	if w := info(infoUF2Target, 0xe48bff5a); w[0] != 0xff {
		t.Errorf("RISC-V goes to %#x", w)
	}
	if w := info(infoUF2Target, 0xe48bff56); w[0] != 0xffffffff {
		t.Errorf("RP2040 goes to %#x", w)
	}
	same("UF2 status", info(infoUF2Status, 0), 0, 0, 0, 0)
}

func TestOTP(t *testing.T) {
	b := newBoard(t, rp2350.Options{ChipID: 0x1122334455667788})
	if got := b.ok(cmdOTPRead, []byte{0, 0, 4, 0, 1}, nil, 8); binary.LittleEndian.Uint64(got) != 0x1122334455667788 {
		t.Errorf("chip id: % x", got)
	}
	row := []byte{0x00, 0x02, 2, 0, 1}
	b.ok(cmdOTPWrite, row, []byte{0x34, 0x12, 0x78, 0x56}, 0)
	if got := b.ok(cmdOTPRead, row, nil, 4); !bytes.Equal(got, []byte{0x34, 0x12, 0x78, 0x56}) {
		t.Errorf("% x", got)
	}
	raw := []byte{0x10, 0x02, 1, 0, 0}
	b.ok(cmdOTPWrite, raw, words(3), 0)
	if _, st := b.pico(cmdOTPWrite, raw, words(4), 0); st != pbUnsupportedEdit {
		t.Errorf("a fuse back to 0: %d", st)
	}
	if got := b.ok(cmdOTPRead, raw, nil, 4); binary.LittleEndian.Uint32(got) != 3 {
		t.Errorf("% x", got)
	}
	b.chip.OTP().AddSoftLock(9, 0x3f)
	if _, st := b.pico(cmdOTPRead, []byte{0x40, 0x02, 1, 0, 1}, nil, 2); st != pbNotPermitted {
		t.Errorf("a locked page: %d", st)
	}
}

func FuzzPicoboot(f *testing.F) {
	f.Add(packet(cmdRead, 64, words(0x20000000, 64)))
	f.Add(packet(cmdFlashErase, 0, words(0x10000000, 0x7ffff000)))
	f.Add(append(packet(cmdOTPWrite, 4, []byte{0, 2, 1, 0, 0}), words(1)...))
	// What picotool sends for info -a and for a load.
	f.Add(append(append(packet(cmdExclusive, 0, []byte{1}), packet(cmdExitXIP, 0, nil)...),
		packet(cmdGetInfo, 256, append([]byte{infoPartitions, 0, 0, 0}, words(0x11, 0, 0)...))...))
	f.Add(append(append(packet(cmdFlashErase, 0, words(0x10000000, 4096)), packet(cmdWrite, 256, words(0x10000000, 256))...), make([]byte, 256)...))
	f.Add(append(packet(cmdOTPRead, 48, []byte{0, 0, 24, 0, 1}), packet(cmdReboot2, 0, words(0x100, 500, 0, 0))...))
	f.Fuzz(func(t *testing.T, p []byte) {
		c := rp2350.New(rp2350.Options{Bootsel: func(*rp2350.Chip) {}, FlashSize: 64 << 10})
		c.Run(1_000_000)
		g := NewBootsel(c.BootselMode(), nil)
		configure(t, g)
		in := &URB{Endpoint: 4, In: true, Length: 1 << 16}
		g.Submit(in)
		for len(p) > 0 {
			n := min(len(p), commandSize)
			g.Submit(&URB{Endpoint: 3, Data: p[:n]})
			p = p[n:]
		}
		if len(in.Data) > in.Length {
			t.Fatal("too much")
		}
	})
}
