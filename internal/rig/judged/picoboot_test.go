//go:build rig

package judged

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// raw speaks PICOBOOT through usbfs, a packet at a time (pico-sdk 2.2.0,
// boot/picoboot.h).
type raw struct {
	*rig.Raw
	t     *testing.T
	token uint32
}

const (
	picoOut = 0x03
	picoIn  = 0x84
)

func openRaw(t *testing.T, d *rig.Device) *raw {
	t.Helper()
	r := &raw{Raw: d.Open(t), t: t}
	r.Claim(1)
	return r
}

func command(token uint32, id byte, length int, args []byte) []byte {
	c := binary.LittleEndian.AppendUint32(nil, 0x431fd10b)
	c = binary.LittleEndian.AppendUint32(c, token)
	c = append(c, id, byte(len(args)), 0, 0)
	c = binary.LittleEndian.AppendUint32(c, uint32(length))
	return append(append(c, args...), make([]byte, 16-len(args))...)
}

// do makes a command with all its phases.
func (r *raw) do(id byte, args, data []byte) error {
	r.token++
	if _, err := r.Bulk(picoOut, command(r.token, id, len(data), args), 0); err != nil {
		return fmt.Errorf("command: %w", err)
	}
	if id&0x80 != 0 {
		n, err := r.Bulk(picoIn, data, 0)
		if err != nil || n != len(data) {
			return fmt.Errorf("%d of %d bytes came: %w", n, len(data), err)
		}
		_, err = r.Bulk(picoOut, []byte{}, 0)
		return err
	}
	if len(data) > 0 {
		if _, err := r.Bulk(picoOut, data, 0); err != nil {
			return fmt.Errorf("data: %w", err)
		}
	}
	_, err := r.Bulk(picoIn, make([]byte, 64), 0)
	return err
}

// status is CMD_STATUS: the token, the status, the command.
func (r *raw) status() (token, status uint32, id byte) {
	r.t.Helper()
	b := make([]byte, 16)
	if n, err := r.Control(0xc1, 0x42, 0, 1, b); err != nil || n != 16 {
		r.t.Fatalf("CMD_STATUS: %d bytes, %v", n, err)
	}
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), b[8]
}

// recover is what a program does after a failure.
func (r *raw) recover() {
	r.t.Helper()
	r.ClearHalt(picoOut)
	r.ClearHalt(picoIn)
	if _, err := r.Control(0x41, 0x41, 0, 1, nil); err != nil {
		r.t.Fatalf("RESET: %v", err)
	}
}

func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

type driveStatus struct {
	status         uint16
	family         uint32
	seen, expected int
}

// uf2Status is GET_INFO's account of the last UF2 file.
func uf2Status(t *testing.T, d *rig.Device) driveStatus {
	t.Helper()
	r := openRaw(t, d)
	defer r.Close()
	b := make([]byte, 256)
	if err := r.do(0x8b, append([]byte{4, 0, 0, 0}, words(0, 0, 0)...), b); err != nil {
		t.Fatalf("GET_INFO: %v", err)
	}
	w := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	if w(0) != 4 {
		t.Fatalf("GET_INFO brings %d words, want 4", w(0))
	}
	return driveStatus{uint16(w(1)), w(2), int(w(3)), int(w(4))}
}

// TestRigPicobootErrors does wrong things, by the kernel's own calls.
func TestRigPicobootErrors(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{})
	b.Plug(1)
	r := openRaw(t, b.WaitBootsel())
	page := bytes.Repeat([]byte{0xa5}, 256)
	tests := []struct {
		name   string
		id     byte
		args   []byte
		data   []byte
		status uint32
	}{
		{"unknown command: REBOOT of an RP2040", 0x02, words(0, 0, 500), nil, 1},
		{"unknown command: EXEC", 0x08, words(0x20000000), nil, 1},
		{"unknown command: VECTORIZE_FLASH", 0x09, words(0x20000000), nil, 1},
		{"too few arguments", 0x03, words(0x10000000), nil, 2},
		{"length that is not the size", 0x84, words(0x10000000, 512), make([]byte, 256), 3},
		{"beyond memory", 0x84, words(0x30000000, 256), make([]byte, 256), 4},
		{"erase of half a sector", 0x03, words(0x10000800, 0x1000), nil, 5},
		{"write between pages", 0x05, words(0x10000080, 256), page, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := r.do(tt.id, tt.args, tt.data)
			if !errors.Is(err, syscall.EPIPE) {
				t.Errorf("it ends with %v, want a stall", err)
			}
			token, status, id := r.status()
			if token != r.token || status != tt.status || id != tt.id {
				t.Errorf("token %d, status %d, command %#x; want %d, %d, %#x", token, status, id, r.token, tt.status, tt.id)
			}
			r.recover()
			if err := r.do(0x06, nil, nil); err != nil {
				t.Fatalf("EXIT_XIP after it: %v", err)
			}
		})
	}
	// A packet that is no command halts both endpoints.
	if _, err := r.Bulk(picoOut, make([]byte, 32), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Bulk(picoIn, make([]byte, 64), 0); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("after a packet without the magic, IN ends with %v, want a stall", err)
	}
	r.recover()
	// A transfer that is given up is unlinked, and nothing is stuck behind it.
	if _, err := r.Bulk(picoIn, make([]byte, 64), 300); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("IN with nothing to come ends with %v, want a timeout", err)
	}
	if err := r.do(0x05, words(0x20000000, 256), page); err != nil {
		t.Errorf("a write to RAM after it: %v", err)
	}
	back := make([]byte, 256)
	if err := r.do(0x84, words(0x20000000, 256), back); err != nil || !bytes.Equal(back, page) {
		t.Errorf("it reads back as % x… (%v)", back[:8], err)
	}
	// A reset of the port leaves a device that works.
	r.Close()
	r = openRaw(t, b.WaitBootsel())
	if err := r.Reset(); err != nil {
		t.Errorf("a reset of the port: %v", err)
	}
	if err := r.do(0x84, words(0x20000000, 256), back); err != nil || !bytes.Equal(back, page) {
		t.Errorf("after a reset RAM reads as % x… (%v)", back[:8], err)
	}
}
