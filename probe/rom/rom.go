package rom

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/image"
)

// Flags of an entry of the table.
const (
	flagRISCV     uint16 = 1 << 0
	flagArmSecure uint16 = 1 << 2
)

// Places and sizes.
const (
	magicAt   = 0x10
	tableAt   = 0x14
	firstROM  = 0x7c00 // of production chips
	end       = 0x8000
	headBytes = 16
)

// Table is the function table of a chip.
type Table struct {
	// Version is 2 for A2, 3 for A3, 4 for A4.
	Version byte
	funcs   map[string]uint32
}

// Read finds the functions of an architecture. read fills p from an address on.
func Read(ctx context.Context, arch image.Arch, read func(ctx context.Context, addr uint32, p []byte) error) (*Table, error) {
	head := make([]byte, headBytes)
	if err := read(ctx, magicAt, head); err != nil {
		return nil, err
	}
	if head[0] != 'M' || head[1] != 'u' || head[2] != 2 {
		return nil, fmt.Errorf("no boot ROM of an RP2350: % x at 0x10", head[:4])
	}
	at := uint32(binary.LittleEndian.Uint16(head[tableAt-magicAt:]))
	if at < firstROM || at >= end {
		return nil, fmt.Errorf("the table of the boot ROM is at 0x%x: a chip from before production", at)
	}
	p := make([]byte, end-at)
	if err := read(ctx, at, p); err != nil {
		return nil, err
	}
	return parse(head[3], arch, at, p), nil
}

// parse reads the table as far as it goes.
func parse(version byte, arch image.Arch, at uint32, p []byte) *Table {
	t := &Table{Version: version, funcs: map[string]uint32{}}
	want := flagArmSecure
	if arch == image.ArchRISCV {
		want = flagRISCV
	}
	for off := 0; off+4 <= len(p); {
		tag := binary.LittleEndian.Uint16(p[off:])
		flags := binary.LittleEndian.Uint16(p[off+2:])
		if tag == 0 {
			break
		}
		off += 4
		for bit := uint16(1); bit != 0; bit <<= 1 {
			if flags&bit == 0 {
				continue
			}
			if off+2 > len(p) {
				return t
			}
			if bit == want {
				v := uint32(binary.LittleEndian.Uint16(p[off:]))
				if arch == image.ArchRISCV {
					v = at + uint32(off)
				}
				t.funcs[string([]byte{byte(tag), byte(tag >> 8)})] = v
			}
			off += 2
		}
	}
	return t
}

// otpAccess is the function that writes one-time-programmable memory.
const otpAccess = "OA"

// Func is the address of a function.
func (t *Table) Func(code string) (uint32, error) {
	v, ok := t.funcs[code]
	if !ok || code == otpAccess {
		return 0, fmt.Errorf("the boot ROM has no function %q that may be called", code)
	}
	return v, nil
}
