package boot

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/uf2"
)

func blk(family, addr, number, total uint32) *uf2.Block {
	return &uf2.Block{Flags: uf2.FlagFamily, Addr: addr, Size: 256, Number: number, Total: total, Family: family}
}

func plainDrive(chip Chip) *Drive {
	o := Options{Chip: chip}
	m := Flash{Size: 4 << 20}
	return NewDrive(m, o, ResidentTable(m, o))
}

const (
	arm  = uf2.FamilyRP2350ArmS
	rv   = uf2.FamilyRP2350RISCV
	data = uf2.FamilyData
)

func TestDriveTakesAnyOrder(t *testing.T) {
	d := plainDrive(A2)
	erases := 0
	for i, n := range []uint32{17, 0, 16, 3} {
		w := d.Block(blk(rv, 0x10000000+n*256, n, 18))
		if !w.Taken || w.NewTransfer != (i == 0) || w.Done {
			t.Fatalf("block %d: %+v", n, w)
		}
		if w.HasErase {
			erases++
		}
	}
	if erases != 2 {
		t.Errorf("%d sectors erased", erases)
	}
	if w := d.Block(blk(rv, 0x10000300, 3, 18)); !w.Duplicate || w.Taken {
		t.Errorf("duplicate: %+v", w)
	}
	for n := range uint32(18) {
		w := d.Block(blk(rv, 0x10000000+n*256, n, 18))
		if w.Done != (n == 15) { // the last one missing
			t.Errorf("block %d: done %v", n, w.Done)
		}
		if w.Done && (w.Reboot == nil || w.Reboot.RAM || w.Reboot.Base != FlashBase || !w.Reboot.ForceCPU || w.Reboot.CPU != RISCV) {
			t.Errorf("reboot %+v", w.Reboot)
		}
	}
	if i := d.Info(); i.Seen != 18 || i.Total != 18 || i.Status != 0 || i.Family != rv {
		t.Errorf("%+v", i)
	}
}

func TestDriveDrops(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      *uf2.Block
		want   string
		status uint16
	}{
		{"no family", &uf2.Block{Size: 256, Addr: FlashBase, Total: 1}, "no family flag", 0},
		{"not main flash", &uf2.Block{Flags: uf2.FlagFamily | uf2.FlagNotMainFlash, Size: 256, Family: arm, Total: 1}, "not for main flash", 0},
		{"payload", &uf2.Block{Flags: uf2.FlagFamily, Size: 128, Family: arm, Addr: FlashBase, Total: 1}, "not 256", 0},
		{"rp2040", blk(uf2.FamilyRP2040, FlashBase, 0, 1), "does not accept family rp2040", StatusIgnoredFamily},
		{"arm-ns", blk(uf2.FamilyRP2350ArmNS, FlashBase, 0, 1), "does not accept", StatusIgnoredFamily},
		{"RAM for rp2040", blk(uf2.FamilyRP2040, SRAMBase, 0, 1), "not accepted for RAM", StatusIgnoredFamily},
		{"unaligned", blk(arm, FlashBase+0x80, 0, 1), "not a multiple of 256", StatusBadAddress},
		{"number", blk(arm, FlashBase, 1, 1), "beyond the count", StatusBadAddress},
		{"nowhere", blk(arm, 0x40000000, 0, 1), "neither in flash nor in RAM", StatusBadAddress},
		{"too many", blk(arm, FlashBase, 0, 200000), "at most 131072", StatusBadAddress},
		{"past the end", blk(arm, FlashEnd, 0, 1), "neither", StatusBadAddress},
	} {
		d := plainDrive(A2)
		w := d.Block(tt.b)
		if w.Taken || !strings.Contains(w.Reason, tt.want) || d.Info().Status != tt.status {
			t.Errorf("%s: %+v, status %#x", tt.name, w, d.Info().Status)
		}
	}
}

func TestDriveMixedKinds(t *testing.T) {
	d := plainDrive(A2)
	d.Block(blk(arm, FlashBase, 0, 2))
	if w := d.Block(blk(arm, SRAMBase, 1, 2)); w.Taken || !strings.Contains(w.Reason, "goes to flash") {
		t.Errorf("%+v", w)
	}
}

// TestDriveSecondFile: a refused family leaves the transfer alone; another
// count begins a new one; the same count and family is taken for the same.
func TestDriveSecondFile(t *testing.T) {
	d := plainDrive(A2)
	d.Block(blk(arm, FlashBase, 0, 2))
	if w := d.Block(blk(uf2.FamilyRP2040, FlashBase, 0, 9)); w.Taken {
		t.Error("rp2040 taken")
	}
	if w := d.Block(blk(arm, FlashBase+0x100, 1, 2)); !w.Done {
		t.Errorf("the transfer was disturbed: %+v", w)
	}
	if w := d.Block(blk(arm, FlashBase, 0, 2)); !w.Duplicate {
		t.Errorf("same file again: %+v", w)
	}
	if w := d.Block(blk(arm, FlashBase, 0, 3)); !w.NewTransfer || !w.Taken || !w.HasErase {
		t.Errorf("other count: %+v", w)
	}
	d.Reset()
	if w := d.Block(blk(arm, FlashBase, 0, 3)); !w.NewTransfer {
		t.Errorf("after a bus reset: %+v", w)
	}
}

func TestDriveRAM(t *testing.T) {
	d := plainDrive(A2)
	// XIP SRAM is lower, but main SRAM wins as the window's start.
	d.Block(blk(data, XIPSRAMBase, 0, 3))
	d.Block(blk(data, SRAMBase+0x1000, 1, 3))
	w := d.Block(blk(data, SRAMBase+0x300, 2, 3))
	if w.HasErase || w.Reboot == nil || !w.Reboot.RAM || w.Reboot.Base != SRAMBase+0x300 || w.Reboot.Size != SRAMEnd-SRAMBase-0x300 || w.Reboot.ForceCPU {
		t.Errorf("%+v %+v", w, w.Reboot)
	}
	// RAM pages need no alignment.
	if w := d.Block(blk(arm, SRAMBase+4, 0, 9)); !w.Taken {
		t.Errorf("%+v", w)
	}
}

func TestDriveLocked(t *testing.T) {
	d := plainDrive(A2)
	d.Block(blk(arm, FlashBase, 0, 2))
	d.Locked = true
	if w := d.Block(blk(arm, FlashBase+0x100, 1, 2)); w.Taken || d.Info().Status != StatusLocked {
		t.Errorf("%+v", w)
	}
	d.Locked = false
	if w := d.Block(blk(arm, FlashBase+0x100, 1, 2)); !w.NewTransfer {
		t.Errorf("after the lock: %+v", w)
	}
}

// TestErratumE10: on A2 a board with partitions refuses programs until
// something was written; on A4 it does not.
func TestErratumE10(t *testing.T) {
	m := abFlash().flash()
	for _, chip := range []Chip{A2, A4} {
		o := Options{Chip: chip}
		d := NewDrive(m, o, ResidentTable(m, o))
		w := d.Block(blk(arm, FlashBase, 0, 1))
		if w.Taken != (chip == A4) {
			t.Errorf("%v: %+v", chip, w)
		}
		e := uf2.ErratumBlock(uf2.ErratumBlockAddr)
		if w := d.Block(&e); !w.Taken {
			t.Errorf("%v: erratum block %+v", chip, w)
		}
		if w := d.Block(blk(arm, FlashBase, 0, 1)); !w.Taken || w.Addr < FlashBase+0x10000 || !w.Done {
			t.Errorf("%v: after it %+v", chip, w)
		}
	}
}

func TestDrivePartitionLimit(t *testing.T) {
	m := abFlash().flash()
	o := Options{Chip: A4}
	d := NewDrive(m, o, ResidentTable(m, o))
	if w := d.Block(blk(arm, FlashBase+0x10000, 0, 2)); w.Taken || !strings.Contains(w.Reason, "beyond the end of the partition") {
		t.Errorf("%+v", w)
	}
	if w := d.Block(blk(data, FlashBase, 0, 1)); !w.Taken || w.Addr != FlashBase+48*4096 || w.Reboot != nil || !w.Done {
		t.Errorf("no reboot: %+v", w)
	}
}

func TestDisabledCPU(t *testing.T) {
	m := Flash{Size: 4 << 20}
	o := Options{Chip: A4, OTP: OTP{RISCVDisabled: true}}
	d := NewDrive(m, o, ResidentTable(m, o))
	if w := d.Block(blk(rv, FlashBase, 0, 1)); w.Taken {
		t.Errorf("%+v", w)
	}
	if w := d.Block(blk(arm, FlashBase, 0, 1)); !w.Taken {
		t.Errorf("%+v", w)
	}
}
