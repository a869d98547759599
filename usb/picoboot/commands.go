package picoboot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/usb"
)

func parseArgs(b []byte) (w [2]uint32) {
	w[0], w[1] = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	return w
}

// pages is how long n bytes may take.
func pages(n int) time.Duration { return time.Duration(n/PageSize+1) * pageTime }

// Exclusive takes or gives up exclusive access.
func (d *Device) Exclusive(ctx context.Context, x Exclusive) error {
	err := d.do(ctx, ExclusiveAccess, []byte{byte(x)}, nil, 0)
	if err == nil {
		d.exclusive = x
	}
	return err
}

// Erase erases whole sectors, in one command for each step of 64 KiB.
func (d *Device) Erase(ctx context.Context, addr, n uint32) error {
	for n > 0 {
		step := min(n, StepSize-addr%StepSize)
		if err := d.do(ctx, FlashErase, words(addr, step), nil, time.Duration(step/SectorSize)*sectorTime); err != nil {
			return err
		}
		addr, n = addr+step, n-step
	}
	return nil
}

// ReadMemory reads RAM or ROM, or flash from a page boundary on.
func (d *Device) ReadMemory(ctx context.Context, addr uint32, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), StepSize)
		if err := d.do(ctx, Read, words(addr, uint32(n)), p[:n], pages(n)); err != nil {
			return err
		}
		addr, p = addr+uint32(n), p[n:]
	}
	return nil
}

// WriteMemory writes RAM, or whole pages of flash that are erased.
func (d *Device) WriteMemory(ctx context.Context, addr uint32, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), StepSize)
		if err := d.do(ctx, Write, words(addr, uint32(n)), p[:n], pages(n)); err != nil {
			return err
		}
		addr, p = addr+uint32(n), p[n:]
	}
	return nil
}

// ExitXIP makes flash readable after power-up (erratum RP2350-E10).
func (d *Device) ExitXIP(ctx context.Context) error { return d.do(ctx, ExitXIP, nil, nil, 0) }

// EnterXIP is accepted and does nothing on an RP2350.
func (d *Device) EnterXIP(ctx context.Context) error { return d.do(ctx, EnterXIP, nil, nil, 0) }

// RebootType is what a chip does after REBOOT2.
type RebootType uint32

// The types (pico-sdk, boot/picoboot_constants.h: REBOOT2_TYPE_*). The flags may
// be added.
const (
	RebootNormal      RebootType = 0
	RebootBootsel     RebootType = 2 // p0 flags of BOOTSEL mode, p1 GPIO
	RebootRAMImage    RebootType = 3 // p0 base, p1 size
	RebootFlashUpdate RebootType = 4 // p0 start of what was written

	RebootToArm   RebootType = 0x10
	RebootToRISCV RebootType = 0x20
)

// Flags of BOOTSEL mode, for p0.
const (
	BootselNoDrive    = 0x01
	BootselNoPicoboot = 0x02
)

// Reboot restarts the chip after a delay; the device leaves the bus then. It may
// be gone before the command is acknowledged, which is success.
func (d *Device) Reboot(ctx context.Context, t RebootType, delay time.Duration, p0, p1 uint32) error {
	err := d.do(ctx, Reboot2, words(uint32(t), uint32(delay.Milliseconds()), p0, p1), nil, 0)
	if errors.Is(err, usb.ErrGone) {
		err = nil
	}
	if err == nil {
		d.rebooted = true
	}
	return err
}

// Info makes a GET_INFO with a type, its parameters, and returns the words.
func (d *Device) Info(ctx context.Context, kind uint8, params ...uint32) ([]uint32, error) {
	args := append([]byte{kind, 0, 0, 0}, words(params...)...)
	for len(args) < 16 {
		args = append(args, 0)
	}
	buf := make([]byte, PageSize)
	if err := d.do(ctx, GetInfo, args, buf, pages(PageSize)); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(buf)
	if n > PageSize/4-1 {
		return nil, fmt.Errorf("GET_INFO says that it brings %d words", n)
	}
	w := make([]uint32, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(buf[4+4*i:])
	}
	return w, nil
}

// maxRows bounds how many OTP rows one command reads.
const maxRows = 64

// ReadOTP reads rows of OTP with error correction, 16 bits each.
func (d *Device) ReadOTP(ctx context.Context, row int, v []uint16) error {
	for len(v) > 0 {
		n := min(len(v), maxRows)
		b := make([]byte, 2*n)
		if err := d.otp(ctx, row, n, true, b); err != nil {
			return err
		}
		for i := range n {
			v[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
		row, v = row+n, v[n:]
	}
	return nil
}

// ReadOTPRaw reads rows of OTP as they are, 24 bits each.
func (d *Device) ReadOTPRaw(ctx context.Context, row int, v []uint32) error {
	for len(v) > 0 {
		n := min(len(v), maxRows)
		b := make([]byte, 4*n)
		if err := d.otp(ctx, row, n, false, b); err != nil {
			return err
		}
		for i := range n {
			v[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		row, v = row+n, v[n:]
	}
	return nil
}

func (d *Device) otp(ctx context.Context, row, n int, ecc bool, b []byte) error {
	le := binary.LittleEndian
	args := le.AppendUint16(le.AppendUint16(nil, uint16(row)), uint16(n))
	e := byte(0)
	if ecc {
		e = 1
	}
	return d.do(ctx, OTPRead, append(args, e), b, pages(len(b)))
}
