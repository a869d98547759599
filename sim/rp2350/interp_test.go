package rp2350

import "testing"

// The examples of the datasheet (3.1.10) and their printed results.

func TestInterpTimesTable(t *testing.T) {
	var p interp
	p.accum[0] = 0
	p.base[0] = 9
	p.ctrl[0] = 31 << 10
	for i := range uint32(10) {
		if v := p.read(intPop0, false); v != 9*(i+1) {
			t.Errorf("pop %d is %d", i, v)
		}
	}
}

func TestInterpMovingMask(t *testing.T) {
	var p interp
	p.accum[0] = 0x1234abcd
	for i, want := range []uint32{0xd, 0xc0, 0xb00, 0xa000, 0x40000, 0x300000, 0x2000000, 0x10000000} {
		n := uint32(i)
		p.ctrl[0] = (4*n+3)<<10 | 4*n<<5
		if v := p.read(intAdd0, false); v != want {
			t.Errorf("nibble %d is %#x, want %#x", i, v, want)
		}
	}
	// Signed: the top bit of the mask is extended.
	p.ctrl[0] = 7<<10 | 0 | intSigned
	if v := p.read(intAdd0, false); v != 0xffffffcd {
		t.Errorf("signed byte is %#x", v)
	}
}

func TestInterpCrossResultsSwap(t *testing.T) {
	var p interp
	p.accum = [2]uint32{123, 456}
	p.base = [3]uint32{1, 0, 0}
	p.ctrl = [2]uint32{31<<10 | intCrossResult, 31<<10 | intCrossResult}
	if a, b := p.read(intPeek0, false), p.read(intPop1, false); a != 124 || b != 456 {
		t.Errorf("peek %d, pop %d", a, b)
	}
	if p.accum != [2]uint32{456, 124} {
		t.Errorf("accumulators %v", p.accum)
	}
}

func TestInterpBlend(t *testing.T) {
	var p interp
	p.write(0, intCtrl0, intBlend|31<<10)
	p.write(0, intCtrl1, 31<<10)
	p.base[0], p.base[1] = 500, 1000
	for i, want := range []uint32{500, 582, 666, 748, 832, 914, 998} {
		p.accum[1] = uint32(255 * i / 6)
		if v := p.read(intPeek1, false); v != want {
			t.Errorf("blend %d is %d, want %d", i, v, want)
		}
	}
	// Signed bases, written as halves.
	p.write(0, intCtrl1, 31<<10|intSigned)
	p.write(0, intBase1And, uint32(uint16(0xfc18))|1000<<16) // -1000 and 1000
	p.accum[1] = 128
	if v := int32(p.read(intPeek1, false)); v != 0 {
		t.Errorf("half way from -1000 to 1000 is %d", v)
	}
}

func TestInterpClamp(t *testing.T) {
	var p interp
	p.write(1, intCtrl0, intClamp|2|29<<10|intSigned)
	p.base[0], p.base[1] = 0, 255
	for in, want := range map[int32]uint32{-1024: 0, -256: 0, 0: 0, 256: 64, 512: 128, 1024: 255, 4096: 255} {
		p.accum[0] = uint32(in)
		if v := p.read(intPeek0, false); v != want {
			t.Errorf("clamp of %d is %d, want %d", in, int32(v), want)
		}
	}
}

func TestInterpAffineTexture(t *testing.T) {
	// ADD_RAW steps the accumulators unmasked while the full result is the
	// address of a texel: 2 bytes wide, 4 by 4.
	var p interp
	p.base = [3]uint32{65536 / 2, 65536 / 2, 0x1000}
	p.ctrl[0] = 16 | 1<<10 | 0<<5 | intAddRaw
	p.ctrl[1] = 14 | 3<<10 | 2<<5 | intAddRaw
	var got []uint32
	for range 8 {
		got = append(got, p.read(intPopFull, false)-0x1000)
	}
	for i, want := range []uint32{0, 0, 5, 5, 10, 10, 15, 15} {
		if got[i] != want {
			t.Fatalf("texels %v", got)
		}
	}
}

func TestInterpOverflowAndForcedBits(t *testing.T) {
	var p interp
	p.ctrl[0] = 7 << 10
	p.accum[0] = 0x100
	if v := p.read(intCtrl0, false); v&(intOverf|intOverf0|intOverf1) != intOverf|intOverf0 {
		t.Errorf("control reads %#x", v)
	}
	p.ctrl[0] = 31<<10 | 2<<intForceShift
	if v := p.read(intPeek0, false); v != 0x20000100 {
		t.Errorf("forced result %#x", v)
	}
	p.read(intPop0, false)
	if p.accum[0] != 0x100 {
		t.Error("forced bits are not written back")
	}
	p.write(0, intAdd0, 0xffffffff)
	if p.accum[0] != 0xff {
		t.Errorf("ADD gives %#x", p.accum[0])
	}
}
