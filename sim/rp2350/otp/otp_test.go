package otp

import "testing"

func TestECCCorrectsOneAndDetectsTwo(t *testing.T) {
	for _, v := range []uint16{0, 1, 0x1234, 0xffff, 0x8000, 0xa5a5} {
		raw := Encode(v)
		if got, ok := Decode(raw); !ok || got != v {
			t.Fatalf("decode(encode(%#x)) = %#x, %v", v, got, ok)
		}
		for b := range 22 {
			if got, ok := Decode(raw ^ 1<<b); !ok || got != v {
				t.Errorf("%#x with bit %d wrong reads %#x, %v", v, b, got, ok)
			}
			for c := range b {
				if _, ok := Decode(raw ^ 1<<b ^ 1<<c); ok {
					t.Errorf("%#x with bits %d and %d wrong passes", v, b, c)
				}
			}
		}
	}
}

func TestEncodeOverUsesPolarity(t *testing.T) {
	raw, ok := EncodeOver(0, 1<<5) // one fuse is blown already
	if !ok || raw>>22 != 3 {
		t.Fatalf("raw %#x, ok %v", raw, ok)
	}
	if v, ok := Decode(raw); !ok || v != 0 {
		t.Errorf("reads %#x, %v", v, ok)
	}
	if _, ok := EncodeOver(0x1234, Encode(0xedcb)); ok {
		t.Error("a row full of other data should not take a new value")
	}
}

func TestFusesAndLocksOnlyGrow(t *testing.T) {
	var a Array
	if !a.Program(100, 0x3) || a.Program(100, 0x4) || a.Raw(100) != 7 {
		t.Errorf("row is %#x", a.Raw(100))
	}
	a.AddSoftLock(1, 1)
	if a.Writable(100, false) || !a.Readable(100, false) {
		t.Error("a read-only page should read and not write")
	}
	a.AddSoftLock(1, 3<<2)
	if a.Readable(100, true) || !a.Readable(100, false) {
		t.Error("the non-secure lock should bind non-secure readers only")
	}
	a.Reset()
	if !a.Writable(100, false) {
		t.Error("soft locks end with a reset")
	}
	a.Program(RowPage0Lock0+2*1+1, 0x010101)
	if a.Writable(100, false) {
		t.Error("a lock in the fuses is for ever")
	}
}

func TestRedundantRows(t *testing.T) {
	var a Array
	a.Program(RowBootFlags0, 5)
	a.Program(RowBootFlags0+2, 4)
	if got := a.Majority3(RowBootFlags0); got != 4 {
		t.Errorf("majority %#x", got)
	}
	for i := range 3 {
		a.Program(RowCrit1+i, 1)
	}
	a.Program(RowCrit1+7, 8)
	if got := a.AnyOf8(RowCrit1); got != 1 {
		t.Errorf("crit %#x", got)
	}
}
