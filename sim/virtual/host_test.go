package virtual

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// board is a chip in BOOTSEL mode with a host's hands on it.
type board struct {
	t    *testing.T
	chip *rp2350.Chip
	dev  Device
	clk  *Clock
	out  strings.Builder
}

func newBoard(t *testing.T, opt rp2350.Options) *board {
	b := &board{t: t, clk: &Clock{}}
	opt.Bootsel = func(*rp2350.Chip) {}
	b.chip = rp2350.New(opt)
	b.chip.SetHooks(machine.Hooks{Output: func(stream string, c byte) {
		if stream == "uart0" {
			b.out.WriteByte(c)
		}
	}})
	b.chip.Run(b.chip.Now() + 1_000_000)
	if b.chip.BootselMode() == nil {
		t.Fatal("the chip should be in BOOTSEL mode")
	}
	b.dev = NewBootsel(b.chip.BootselMode(), b.clk)
	configure(t, b.dev)
	return b
}

// send and receive make bulk transfers.
func (b *board) send(ep uint8, p []byte) Status {
	b.t.Helper()
	u := &URB{Endpoint: ep, Data: p}
	b.dev.Submit(u)
	if !u.Complete() {
		b.t.Fatalf("endpoint %d waits with %d of %d bytes", ep, u.Actual, len(p))
	}
	return u.Status
}

func (b *board) receive(ep uint8, n int) ([]byte, Status) {
	b.t.Helper()
	u := &URB{Endpoint: ep, In: true, Length: n}
	b.dev.Submit(u)
	if !u.Complete() {
		b.t.Fatalf("endpoint %d gives %d of %d bytes", ep, len(u.Data), n)
	}
	return u.Data, u.Status
}

// packet is a PICOBOOT command.
func packet(id uint8, length uint32, args []byte) []byte {
	p := make([]byte, commandSize)
	le := binary.LittleEndian
	le.PutUint32(p, picobootMagic)
	le.PutUint32(p[4:], 0x11223344)
	p[8], p[9] = id, byte(len(args))
	le.PutUint32(p[12:], length)
	copy(p[16:], args)
	return p
}

func words(v ...uint32) (b []byte) {
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// pico makes a whole command; data is what is sent, n what is to come.
func (b *board) pico(id uint8, args, data []byte, n int) ([]byte, picobootStatus) {
	b.t.Helper()
	if s := b.send(3, packet(id, uint32(max(n, len(data))), args)); s != StatusOK {
		b.t.Fatalf("command %#x: %d", id, s)
	}
	var got []byte
	s := StatusOK
	switch {
	case n > 0:
		if got, s = b.receive(4, n); s == StatusOK {
			s = b.send(3, nil)
		}
	default:
		if len(data) > 0 {
			s = b.send(3, data)
		}
		if s == StatusOK {
			_, s = b.receive(4, 1)
		}
	}
	st := b.status()
	if (s == StatusStall) != (st != pbOK) {
		b.t.Fatalf("command %#x: transfer %d, status %d", id, s, st)
	}
	if s == StatusStall {
		for _, ep := range []uint16{3, 0x84} {
			if u := ctl(b.dev, Setup{0x82, 0, 0, ep, 2}, nil); u.Data[0] != 1 {
				b.t.Errorf("endpoint %#x should halt", ep)
			}
		}
		if u := ctl(b.dev, Setup{0x41, reqPicobootReset, 0, 1, 0}, nil); u.Status != StatusOK {
			b.t.Fatalf("RESET: %d", u.Status)
		}
	}
	return got, st
}

func (b *board) status() picobootStatus {
	b.t.Helper()
	u := ctl(b.dev, Setup{0xc1, reqPicobootStatus, 0, 1, 16}, nil)
	if u.Status != StatusOK || len(u.Data) != 16 {
		b.t.Fatalf("CMD_STATUS: %d, % x", u.Status, u.Data)
	}
	return picobootStatus(binary.LittleEndian.Uint32(u.Data[4:]))
}

// ok makes a command that has to work.
func (b *board) ok(id uint8, args, data []byte, n int) []byte {
	b.t.Helper()
	got, st := b.pico(id, args, data, n)
	if st != pbOK {
		b.t.Fatalf("command %#x: status %d", id, st)
	}
	return got
}

// program is an RV32 image for flash: it prints "hi" on UART0 and sleeps.
func program() []byte {
	const entry = 0x10000020
	code := words(
		0xffffded3, 0x11010142, 0x00000344, entry, 0x20082000, 0x000004ff, 0, 0xab123579,
		// RESETS: IO_BANK0, PADS_BANK0 and UART0 out of reset.
		0x400232b7, // lui t0, 0x40023 (clear alias)
		0x04000337, // lui t1, 0x4000 (bit 26: UART0)
		0x24030313, // addi t1, t1, 0x240 (bits 6, 9)
		0x0062a023, // sw t1, 0(t0)
		// CLOCKS: clk_peri on.
		0x400102b7, // lui t0, 0x40010
		0x00001337, // lui t1, 1
		0x80030313, // addi t1, t1, -0x800 (bit 11)
		0x0462a423, // sw t1, 0x48(t0)
		// GPIO0: function UART, not isolated.
		0x400282b7, // lui t0, 0x40028
		0x00200313, // li t1, 2
		0x0062a223, // sw t1, 4(t0)
		0x400382b7, // lui t0, 0x40038
		0x04000313, // li t1, 0x40
		0x0062a223, // sw t1, 4(t0)
		// UART0: 8N1, enabled.
		0x400702b7, // lui t0, 0x40070
		0x00100313, // li t1, 1
		0x0262a223, // sw t1, 0x24(t0)
		0x07000313, // li t1, 0x70
		0x0262a623, // sw t1, 0x2c(t0)
		0x30100313, // li t1, 0x301
		0x0262a823, // sw t1, 0x30(t0)
		0x06800313, // li t1, 'h'
		0x0062a023, // sw t1, 0(t0)
		0x06900313, // li t1, 'i'
		0x0062a023, // sw t1, 0(t0)
		0x10500073, // wfi
		0xffdff06f, // j -4
	)
	return append(code, make([]byte, 512-len(code))...)
}

// runs lets the chip run on until it printed something; the board is gone from
// the bus by then.
func (b *board) runs(want string) {
	b.t.Helper()
	for range 200 {
		b.chip.Run(b.chip.Now() + 1_000_000)
		if strings.Contains(b.out.String(), want) {
			return
		}
	}
	b.t.Fatalf("printed %q, want %q", b.out.String(), want)
}

// riscv is the options of the boards here.
var riscv = rp2350.Options{Arch: image.ArchRISCV}
