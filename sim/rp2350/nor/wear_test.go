package nor

import (
	"bytes"
	"testing"
)

func TestStuckBits(t *testing.T) {
	f := New(1<<16, 1, func() uint64 { return 0 }, nil)
	f.Stick(0x1003, 5, false)
	f.Stick(0x1004, 0, true)
	f.Erase(0x1000, SectorSize)
	f.Program(0x1000, make([]byte, 8))
	if got := f.Bytes()[0x1000:0x1008]; !bytes.Equal(got, []byte{0, 0, 0, 0, 1, 0, 0, 0}) {
		t.Errorf("programmed % x", got)
	}
	f.Erase(0x1000, SectorSize)
	f.Load(0x1004, []byte{0})
	if got := f.Bytes()[0x1003:0x1006]; !bytes.Equal(got, []byte{0xdf, 1, 0xff}) {
		t.Errorf("erased % x", got)
	}
}

func TestPowerIsLostInTheMiddle(t *testing.T) {
	f := New(1<<16, 1, func() uint64 { return 0 }, nil)
	zeros := make([]byte, SectorSize)
	f.Program(0, zeros)
	n := 0
	f.Cut(func(erase bool, _, _ uint32) bool { n++; return erase && n == 2 })
	f.Program(SectorSize, zeros)
	f.Erase(0, SectorSize)
	half := f.Bytes()[:SectorSize]
	ones, rest := bytes.Count(half, []byte{0xff}), bytes.Count(half, []byte{0})
	if ones < SectorSize/2 || rest < SectorSize/4 || ones+rest == SectorSize {
		t.Errorf("%d bytes erased, %d as they were", ones, rest)
	}
	f.Erase(SectorSize, SectorSize) // without power
	if f.Bytes()[SectorSize] != 0 {
		t.Error("a chip without power erases")
	}
	f.PowerCycle()
	f.Cut(func(erase bool, _, _ uint32) bool { return !erase })
	f.Erase(0, SectorSize)
	f.Program(0, bytes.Repeat([]byte{0x5a}, PageSize))
	page := f.Bytes()[:PageSize]
	if page[0] != 0x5a || page[PageSize-1] != 0xff || !bytes.Equal(page[:128], bytes.Repeat([]byte{0x5a}, 128)) {
		t.Errorf("% x", page)
	}
}
