package bootsel_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/virtual/cable"
	"github.com/stem-hw/stem-hw/usb"
)

// driveBus is a bus on which boards show a disk, as a kernel would find it.
type driveBus struct{ *cable.Bus }

func (b driveBus) Devices(ctx context.Context) ([]usb.Device, error) {
	all, err := b.Bus.Devices(ctx)
	for i := range all {
		if _, ok := all[i].Find(usb.InterfaceStorage); ok {
			all[i].Drive = &usb.Drive{Disk: "/dev/sdx", Partition: "/dev/sdx1"}
		}
	}
	return all, err
}

// storage writes sectors to a board's drive over its bulk-only transport, as
// usb-storage does.
type storage struct {
	c   usb.Conn
	lba uint32
	tag uint32
}

func (s *storage) put(b []byte) error {
	ctx := context.Background()
	s.tag++
	n := uint16(len(b) / 512)
	cbw := make([]byte, 31)
	binary.LittleEndian.PutUint32(cbw, 0x43425355)
	binary.LittleEndian.PutUint32(cbw[4:], s.tag)
	binary.LittleEndian.PutUint32(cbw[8:], uint32(len(b)))
	cbw[14] = 10
	cbw[15] = 0x2a // WRITE(10)
	binary.BigEndian.PutUint32(cbw[17:], s.lba)
	binary.BigEndian.PutUint16(cbw[22:], n)
	if _, err := s.c.Write(ctx, 2, cbw); err != nil {
		return err
	}
	if _, err := s.c.Write(ctx, 2, b); err != nil {
		return err
	}
	csw := make([]byte, 13)
	if _, err := s.c.Read(ctx, 0x81, csw); err != nil {
		return err
	}
	s.lba += uint32(n)
	if csw[12] != 0 {
		return fmt.Errorf("status %d", csw[12])
	}
	return nil
}

func drive(t *testing.T, opt rp2350.Options) (driveBus, *cable.Board, usb.Device, *storage) {
	t.Helper()
	bus, b, d := table(t, opt)
	c, err := b.Open(context.Background(), d, 0)
	if err != nil {
		t.Fatal(err)
	}
	return driveBus{bus}, b, d, &storage{c: c, lba: 1024}
}

func TestToDrive(t *testing.T) {
	ctx := context.Background()
	im, err := image.Open("../examples/timer/timer.elf")
	if err != nil {
		t.Fatal(err)
	}
	bus, b, d, s := drive(t, riscv)
	var out strings.Builder
	b.Printed = func(_ string, c byte) { out.WriteByte(c) }
	n, err := bootsel.ToDrive(ctx, bus, d, im, bootsel.DriveOptions{}.WithDrive(s.put))
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	b.Pass(2_000_000_000)
	if !strings.Contains(out.String(), "machine timer ticked 5 times") {
		t.Errorf("printed %q", out.String())
	}
	if len(bus.Leased) != 0 {
		t.Error(bus.Leased)
	}
}

// TestToDriveStays: blocks that do not arrive leave the board where it is, and the
// boot ROM says why.
func TestToDriveStays(t *testing.T) {
	ctx := context.Background()
	im, err := image.Open("../examples/timer/timer.elf")
	if err != nil {
		t.Fatal(err)
	}
	bus, _, d, s := drive(t, riscv)
	dropped := false
	_, err = bootsel.ToDrive(ctx, bus, d, im, bootsel.DriveOptions{}.WithDrive(func(b []byte) error {
		if !dropped && len(b) > 512 {
			dropped = true
			b = b[512:]
		}
		return s.put(b)
	}))
	f := faults.Of(err)
	if f == nil || f.Status != faults.StatusWrite || !strings.Contains(f.Seen, "blocks of family 0xe48bff5a came") || len(f.Details) == 0 {
		t.Errorf("%v", err)
	}
	// Another chip than the pinned one gets nothing.
	_, err = bootsel.ToDrive(ctx, bus, d, im, bootsel.DriveOptions{Options: bootsel.Options{ChipID: "1122334455667788"}}.WithDrive(func([]byte) error {
		return errors.New("written")
	}))
	if faults.StatusOf(err) != faults.StatusAmbiguous {
		t.Errorf("%v", err)
	}
	// An I/O error that is no farewell.
	_, err = bootsel.ToDrive(ctx, bus, d, im, bootsel.DriveOptions{}.WithDrive(func([]byte) error { return errors.New("input/output error") }))
	if faults.StatusOf(err) != faults.StatusWrite || len(bus.Leased) != 0 {
		t.Errorf("%v %v", err, bus.Leased)
	}
}
