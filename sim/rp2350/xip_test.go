package rp2350

import (
	"encoding/binary"
	"testing"
)

const (
	xipCtrl   = 0x400c8000
	qmiBase   = 0x400d0000
	qmiCSR    = qmiBase
	qmiTX     = qmiBase + 4
	qmiRX     = qmiBase + 8
	qmiATRANS = qmiBase + 0x34
)

// mark puts each word's own offset into the flash.
func (r *rig) mark() {
	b := make([]byte, r.Flash().Size())
	for i := 0; i < len(b); i += 4 {
		binary.LittleEndian.PutUint32(b[i:], uint32(i))
	}
	r.Flash().Load(0, b)
}

func TestWindowsShowTheSameFlash(t *testing.T) {
	r := newRig(t, Options{})
	r.mark()
	for _, base := range []uint32{xipBase, xipNoCache, xipNoTranslate} {
		r.want(base+0x1234, 0x1234)
		// A 4 MiB chip ignores the upper address bits.
		r.want(base+0x401000, 0x1000)
	}
	r.want(xipBase+xipCSSize, 0xffffffff)
	if v, ok := r.nodes[0].bus.Fetch(xipBase + 0x401002); !ok || v != 0 {
		t.Errorf("fetch from a mirror gives %#x, %v", v, ok)
	}
}

func TestTranslation(t *testing.T) {
	r := newRig(t, Options{})
	r.mark()
	r.store32(0, qmiATRANS, 2<<16|0x10) // 8 KiB from 64 KiB on
	r.want(xipBase, 0x10000)
	r.want(xipNoCache+0x1ffc, 0x11ffc)
	r.want(xipNoTranslate, 0)
	r.faults(xipBase + 0x2000)
	r.store32(0, qmiATRANS, 0x04000000)
	r.want(xipBase+0x2000, 0x2000)
}

func TestDirectModeDetachesXIPAndTalksToTheFlash(t *testing.T) {
	r := newRig(t, Options{})
	r.store32(0, qmiCSR, csrEN|csrAssertCS0)
	r.faults(xipBase)
	r.faults(xipNoTranslate)
	if _, ok := r.nodes[0].bus.Fetch(xipBase); ok {
		t.Error("fetch should fault too")
	}
	r.store32(0, qmiTX, 0x9f|txNoPush)
	for i, want := range []uint32{0xef, 0x40, 22} {
		r.store32(0, qmiTX, 0)
		if v := r.load32(0, qmiCSR); v&csrRXEmpty != 0 || v>>18&7 != 1 {
			t.Fatalf("CSR %#x", v)
		}
		if v := r.load32(0, qmiRX); v != want {
			t.Errorf("id byte %d is %#x", i, v)
		}
	}
	// A 16-bit transfer sends the upper byte first.
	r.store32(0, qmiCSR, csrEN)
	r.store32(0, qmiCSR, csrEN|csrAssertCS0)
	r.store32(0, qmiTX, 0x9f00|txDWidth)
	if v := r.load32(0, qmiRX); v&0xff != 0xef {
		t.Errorf("16-bit transfer gives %#x", v)
	}
	r.store32(0, qmiCSR, 0)
	r.want(xipBase, 0xffffffff)
}

// spi makes one transaction in direct mode.
func (r *rig) spi(tx ...byte) {
	r.store32(0, qmiCSR, csrEN|csrAssertCS0)
	for _, b := range tx {
		r.store32(0, qmiTX, uint32(b)|txNoPush)
	}
	r.store32(0, qmiCSR, csrEN)
	r.store32(0, qmiCSR, 0)
}

func TestProgrammingByHandTakesTime(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).wfi().back(1))
	r.Run(100)
	r.spi(6)
	r.spi(2, 0, 0, 0, 0x12, 0x34)
	if !r.Flash().Busy() {
		t.Fatal("programming takes time")
	}
	r.InputOpen(true)
	r.Run(r.CycleAt(r.Seconds() + 0.001))
	r.want(xipBase, 0xffff3412)
}

func TestXIPSRAM(t *testing.T) {
	r := newRig(t, Options{})
	r.faults(xipSRAMBase)
	for off := uint32(0); off < cacheSize; off += 8 {
		r.storeN(0, xipMaintenance+(xipSRAMBase&xipWindowMask)+off+maintPin, 1, 0)
	}
	r.store32(0, xipSRAMBase+0x100, 0xcafe)
	r.storeN(1, xipSRAMBase+0x3fff, 1, 0x55)
	r.want(xipSRAMBase+0x100, 0xcafe)
	if v, _ := r.load(0, xipSRAMBase+0x3fff, 1); v != 0x55 {
		t.Errorf("last byte %#x", v)
	}
	for off := uint32(0); off < cacheSize; off += 8 {
		r.storeN(0, xipMaintenance+off+maintInvalidateSetWay, 1, 0)
	}
	r.faults(xipSRAMBase)
}

func TestPinnedLineHidesFlash(t *testing.T) {
	r := newRig(t, Options{})
	r.mark()
	r.storeN(0, xipMaintenance+0x1000+maintPin, 1, 0)
	r.store32(0, xipBase+0x1000, 0xabcd)
	r.want(xipBase+0x1000, 0xabcd)
	r.want(xipNoCache+0x1000, 0x1000)
	r.want(xipBase+0x1008, 0x1008)
	r.storeN(0, xipMaintenance+0x1000+maintInvalidateAddr, 1, 0)
	r.want(xipBase+0x1000, 0x1000)
}

func TestStream(t *testing.T) {
	r := newRig(t, Options{})
	r.mark()
	r.store32(0, xipCtrl+regXIPStreamAddr, xipBase+0x200)
	r.store32(0, xipCtrl+regXIPStreamCtr, 5)
	for i := range uint32(5) {
		if i == 2 {
			r.want(0x50500000, 0x200+4*i)
			continue
		}
		r.want(xipCtrl+regXIPStreamFIFO, 0x200+4*i)
	}
	r.want(xipCtrl+regXIPStat, statEmpty)
	r.want(xipCtrl+regXIPStreamCtr, 0)
}
