package virtual

import (
	"bytes"
	"testing"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/uf2"
)

// locked is a ROM whose partition table forbids the boot loader a sector.
type locked struct {
	BootROM
	sector uint32
}

func (l locked) FlashAllowed(addr, n uint32, write bool) bool {
	return addr&^4095 != l.sector && l.BootROM.FlashAllowed(addr, n, write)
}

// TestDriveWriteRefused: a block that may not be written fails the command.
func TestDriveWriteRefused(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	b.dev = NewBootsel(locked{b.chip.BootselMode(), 0x10001000}, b.clk)
	configure(t, b.dev)
	file := uf2File(t, uf2.FamilyRP2350ArmS, 0x10000f00, make([]byte, 3*256))
	_, csw := b.scsi(transfer(scsiWrite10, 100, 3), file, 0)
	if csw[12] != cswFailed || csw[8] != 0 || csw[9] != 2 {
		t.Errorf("status % x", csw)
	}
	sense := b.passes([]byte{scsiRequestSense, 0, 0, 0, 18, 0}, nil, 18)
	if sense[2] != senseDataProtect || sense[12] != 0x20 || sense[13] != 2 {
		t.Errorf("sense % x", sense)
	}
	if got := b.chip.Flash().Bytes()[0xf00:0x1100]; !bytes.Equal(got[:256], make([]byte, 256)) || got[256] != 0xff {
		t.Error("the first block should be there, the second not")
	}
	status := b.ok(cmdGetInfo, append([]byte{infoUF2Status, 0, 0, 0}, words(0, 0, 0)...), nil, 256)
	if status[4]&0x40 == 0 {
		t.Errorf("UF2 status % x", status[:20])
	}
}

// TestDriveUnderExclusiveAccess: blocks are dropped without an error, and
// GET_INFO tells; reading goes on; 2 takes the medium out.
func TestDriveUnderExclusiveAccess(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	b.ok(cmdExclusive, []byte{1}, nil, 0)
	b.write(100, uf2File(t, uf2.FamilyRP2350ArmS, 0x10000000, make([]byte, 256)))
	if b.chip.Flash().Bytes()[0] != 0xff {
		t.Error("the drive writes under exclusive access")
	}
	status := b.ok(cmdGetInfo, append([]byte{infoUF2Status, 0, 0, 0}, words(0, 0, 0)...), nil, 256)
	if status[4] != 0x10 {
		t.Errorf("UF2 status % x", status[:20])
	}
	if s := b.sectors(0, 1); s[510] != 0x55 {
		t.Error("the drive does not read")
	}
	b.ok(cmdExclusive, []byte{2}, nil, 0)
	if _, csw := b.scsi([]byte{scsiTestUnitReady, 0, 0, 0, 0, 0}, nil, 0); csw[12] != cswFailed {
		t.Error("the medium should be out")
	}
}
