package nor

import (
	"bytes"
	"encoding/binary"
	"testing"
)

type rig struct {
	*Flash
	picos   uint64
	changes [][2]uint32
}

func newRig() *rig {
	r := &rig{}
	r.Flash = New(1<<20, 0x1122334455667788, func() uint64 { return r.picos },
		func(lo, hi uint32) { r.changes = append(r.changes, [2]uint32{lo, hi}) })
	return r
}

// do makes one transaction and returns the bytes of its answer.
func (r *rig) do(tx ...byte) []byte {
	r.Select(true)
	rx := make([]byte, len(tx))
	for i, b := range tx {
		rx[i] = r.Transfer(b)
	}
	r.Select(false)
	return rx
}

func (r *rig) wait() { r.picos = r.busyUntil }

func TestProgramOnlyClearsBitsAndWrapsInItsPage(t *testing.T) {
	r := newRig()
	r.do(cmdPageProgram, 0, 1, 0, 0x00)
	if r.Bytes()[0x100] != 0xff {
		t.Fatal("programmed without write enable")
	}
	r.do(cmdWriteEnable)
	r.do(cmdPageProgram, 0, 1, 0xfe, 0xf0, 0x11, 0x22)
	if got := r.Bytes()[0x1fe]; got != 0xf0 {
		t.Errorf("first byte %#x", got)
	}
	if got := r.Bytes()[0x100]; got != 0x22 {
		t.Errorf("the third byte should wrap to the page's start, got %#x", got)
	}
	r.wait()
	r.do(cmdWriteEnable)
	r.do(cmdPageProgram, 0, 1, 0xfe, 0x0f)
	if got := r.Bytes()[0x1fe]; got != 0 {
		t.Errorf("programming again gives %#x, want and of both", got)
	}
}

func TestBusyTakesItsTimeAndIgnoresOthers(t *testing.T) {
	r := newRig()
	r.Load(0, bytes.Repeat([]byte{0}, 8192))
	r.do(cmdWriteEnable)
	r.do(cmdErase4K, 0, 0x10, 0x23)
	if got := r.do(cmdReadStatus1, 0)[1]; got&statusBusy == 0 {
		t.Fatal("not busy after an erase")
	}
	if got := r.do(cmdRead, 0, 0, 0, 0)[4]; got != 0xff {
		t.Errorf("a read while busy answers %#x", got)
	}
	r.do(cmdWriteEnable)
	r.picos += SectorTime
	if got := r.do(cmdReadStatus1, 0)[1]; got != 0 {
		t.Errorf("status %#x after the erase: busy or write enabled", got)
	}
	if r.Bytes()[0xfff] != 0 || r.Bytes()[0x1000] != 0xff || r.Bytes()[0x1fff] != 0xff {
		t.Error("the erase should cover exactly its sector")
	}
	if len(r.changes) != 2 || r.changes[1] != [2]uint32{0x1000, 0x2000} {
		t.Errorf("changes %v", r.changes)
	}
}

func TestReadsOfEveryKind(t *testing.T) {
	r := newRig()
	r.Load(0x1234, []byte{0xaa, 0xbb})
	for _, c := range []struct {
		cmd   byte
		dummy int
	}{{cmdRead, 0}, {cmdFastRead, 1}, {cmdDualRead, 1}, {cmdQuadRead, 1}, {cmdDualIORead, 1}, {cmdQuadIORead, 3}} {
		tx := append([]byte{c.cmd, 0, 0x12, 0x34}, make([]byte, c.dummy+2)...)
		rx := r.do(tx...)
		if got := rx[len(rx)-2:]; got[0] != 0xaa || got[1] != 0xbb {
			t.Errorf("command %#x reads %x", c.cmd, got)
		}
	}
}

func TestContinuousReadUntilOtherModeBits(t *testing.T) {
	r := newRig()
	r.Load(0, []byte{1, 2, 3, 4})
	r.do(cmdQuadIORead, 0, 0, 0, 0xa0, 0, 0, 0)
	if rx := r.do(0, 0, 2, 0xff, 0, 0, 0); rx[6] != 3 {
		t.Errorf("continuous read gives %x", rx)
	}
	if rx := r.do(cmdJEDEC, 0, 0, 0); rx[1] != manufacturerID {
		t.Errorf("commands should work again, got %x", rx)
	}
}

func TestIdentification(t *testing.T) {
	r := newRig()
	if rx := r.do(cmdJEDEC, 0, 0, 0); !bytes.Equal(rx[1:], []byte{0xef, 0x40, 20}) {
		t.Errorf("JEDEC %x", rx)
	}
	rx := r.do(append([]byte{cmdUniqueID}, make([]byte, 12)...)...)
	if got := binary.BigEndian.Uint64(rx[5:]); got != 0x1122334455667788 {
		t.Errorf("unique id %x", got)
	}
	rx = r.do(append([]byte{cmdSFDP, 0, 0, 0, 0}, make([]byte, 0x90)...)...)
	if string(rx[5:9]) != "SFDP" || binary.LittleEndian.Uint32(rx[5+0x84:]) != 8<<20-1 {
		t.Errorf("SFDP %x", rx[5:])
	}
}

func TestResetNeedsBothCommands(t *testing.T) {
	r := newRig()
	r.do(cmdWriteEnable)
	r.do(cmdReset)
	if r.do(cmdReadStatus1, 0)[1]&statusWEL == 0 {
		t.Error("99h alone should do nothing")
	}
	r.do(cmdEnableReset)
	r.do(cmdReset)
	if r.do(cmdReadStatus1, 0)[1]&statusWEL != 0 {
		t.Error("66h 99h should reset the latch")
	}
	r.do(cmdPowerDown)
	if rx := r.do(cmdJEDEC, 0); rx[1] != 0xff {
		t.Error("answers in power-down")
	}
	r.do(cmdReleasePower, 0)
	if rx := r.do(cmdJEDEC, 0); rx[1] != manufacturerID {
		t.Error("no answer after release")
	}
}

func TestChipEraseAndStatusWrites(t *testing.T) {
	r := newRig()
	r.Load(0, []byte{0})
	r.Load(1<<20-1, []byte{0})
	r.do(cmdWriteEnable)
	r.do(cmdChipErase)
	if r.Bytes()[0] != 0xff || r.Bytes()[1<<20-1] != 0xff {
		t.Error("chip erase left bytes")
	}
	r.wait()
	r.do(cmdWriteEnable)
	r.do(cmdWriteStatus2, 0x40)
	r.wait()
	if got := r.do(cmdReadStatus2, 0)[1]; got != 0x40 {
		t.Errorf("status 2 is %#x", got)
	}
}

func FuzzTransactions(f *testing.F) {
	f.Add([]byte{0x06, 0x80, 0x02, 0, 0, 0, 1, 0x80})
	f.Add([]byte{0xeb, 0, 0, 0, 0xa0, 0x80, 0x9f})
	f.Fuzz(func(t *testing.T, ops []byte) {
		r := newRig()
		for _, b := range ops {
			if b == 0x80 { // toggles the select
				r.Select(!r.spi.selected)
				continue
			}
			r.Transfer(b)
			r.picos += ms
		}
	})
}
