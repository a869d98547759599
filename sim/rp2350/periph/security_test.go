package periph

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

func TestSHA256IsSHA256(t *testing.T) {
	f, s := newFake(t)
	for _, msg := range []string{"", "abc", "The quick brown fox jumps over the lazy dog", string(make([]byte, 200))} {
		padded := append([]byte(msg), 0x80)
		for len(padded)%64 != 56 {
			padded = append(padded, 0)
		}
		padded = binary.BigEndian.AppendUint64(padded, uint64(len(msg))*8)
		for _, size := range []uint8{1, 2, 4} {
			put(s.SHA256, shaCSR, 0x1000|shaStart)
			for i := 0; i < len(padded); i += int(size) {
				if i%64 == 0 && i > 0 {
					if read(s.SHA256, shaCSR)&6 != 0 || s.Requests.High(DREQSHA256) {
						t.Error("ready while a block is digested")
					}
					f.run(shaCycles)
				}
				var v uint32
				switch size {
				case 1:
					v = uint32(padded[i]) * 0x01010101
				case 2:
					v = uint32(binary.LittleEndian.Uint16(padded[i:])) * 0x00010001
				default:
					v = binary.LittleEndian.Uint32(padded[i:])
				}
				s.SHA256.Write(shaWData, Write{Raw: v, Size: size, Lane: uint8(i & 3)})
			}
			f.run(shaCycles)
			if read(s.SHA256, shaCSR)&(shaErr|6) != 6 {
				t.Errorf("CSR = %#x", read(s.SHA256, shaCSR))
			}
			want := sha256.Sum256([]byte(msg))
			for i := range uint32(8) {
				if got := read(s.SHA256, shaSum0+4*i); got != binary.BigEndian.Uint32(want[4*i:]) {
					t.Errorf("%q by %d: SUM%d = %#x", msg, size, i, got)
				}
			}
		}
	}
	for range 17 {
		put(s.SHA256, shaWData, 0)
	}
	if read(s.SHA256, shaCSR)&shaErr == 0 {
		t.Error("a write while busy is no error")
	}
	putOp(s.SHA256, shaCSR, shaErr, Clear) // as the SDK clears it
	if read(s.SHA256, shaCSR)&shaErr != 0 {
		t.Error("the error does not clear through the CLR alias")
	}
}

func TestTRNG(t *testing.T) {
	collect := func() []uint32 {
		f, s := newFake(t)
		put(s.TRNG, trngSWReset, 1)
		put(s.TRNG, trngSample, 0)
		put(s.TRNG, trngDebug, 0xe)
		put(s.TRNG, trngEnable, 1)
		put(s.TRNG, trngICR, 0xf)
		var got []uint32
		for range 3 {
			if read(s.TRNG, trngEHR0) != 0 || read(s.TRNG, trngBusy) != 1 {
				t.Error("data before it is collected")
			}
			f.run(trngSamples)
			if read(s.TRNG, trngBusy) != 0 || read(s.TRNG, trngISR) != 1 {
				t.Errorf("BUSY %d ISR %#x", read(s.TRNG, trngBusy), read(s.TRNG, trngISR))
			}
			for i := range uint32(6) {
				got = append(got, read(s.TRNG, trngEHR0+4*i))
			}
		}
		if f.irq[irqTRNG] {
			t.Error("masked interrupt")
		}
		put(s.TRNG, trngIMR, 0xe)
		if !f.irq[irqTRNG] {
			t.Error("no interrupt")
		}
		return got
	}
	a, b := collect(), collect()
	seen := map[uint32]bool{}
	for i := range a {
		if a[i] != b[i] {
			t.Error("the sequence does not repeat")
		}
		seen[a[i]] = true
	}
	if len(seen) != len(a) {
		t.Error("words repeat within a run")
	}
}

func TestOTPWindows(t *testing.T) {
	fuses := new(otp.Array)
	fuses.SetData(0, 0xbeef)
	fuses.SetData(1, 0xdead)
	fuses.Program(100, 0xabcdef)
	fuses.SetData(64*3, 0x1234)
	f, s := newFakeWith(t, Config{Fuses: fuses, RISCV: true})
	var plain, guarded *OTPData
	for _, a := range s.Attachments() {
		if d, ok := a.Block.(*OTPData); ok {
			if d.guarded {
				guarded = d
			} else {
				plain = d
			}
		}
	}
	secure := Origin{Privileged: true}
	get := func(d *OTPData, off uint32, o Origin) (uint32, bool) {
		if d.Refuses(off, false, o) {
			return 0, false
		}
		return d.Read(off, false), true
	}
	if v, ok := get(plain, 0, secure); !ok || v != 0xdeadbeef {
		t.Errorf("an ECC pair reads %#x", v)
	}
	if v, ok := get(plain, 0x4000+100*4, secure); !ok || v != 0xabcdef {
		t.Errorf("a raw row reads %#x", v)
	}
	if !plain.Refuses(0, true, secure) {
		t.Error("a write is taken")
	}
	// SW_LOCK of page 3: read-only, then inaccessible; it never goes back.
	put(s.OTP, 3*4, 1)
	if v, ok := get(plain, 64*3*2, secure); !ok || v != 0x1234 {
		t.Errorf("a read-only page reads %#x", v)
	}
	put(s.OTP, 3*4, 3)
	put(s.OTP, 3*4, 0)
	if read(s.OTP, 3*4)&3 != 3 {
		t.Errorf("SW_LOCK3 = %#x", read(s.OTP, 3*4))
	}
	if v, ok := get(plain, 64*3*2, secure); !ok || v != 0xffffffff {
		t.Errorf("a locked page reads %#x, want all ones", v)
	}
	if _, ok := get(guarded, 64*3*2, secure); ok {
		t.Error("a guarded read of a locked page is answered")
	}
	put(s.OTP, otpINTE, otpSecFail)
	if !f.irq[irqOTP] {
		t.Error("a refused read raises no interrupt")
	}
	// Two wrong bits.
	fuses.SetData(10, 0)
	fuses.Program(10, 3)
	if _, ok := get(guarded, 20, secure); ok {
		t.Error("a guarded read with an ECC error is answered")
	}
	put(s.OTP, otpUSR, 0)
	if _, ok := get(plain, 0, secure); ok {
		t.Error("reads work while the bridge is off")
	}
	if read(s.OTP, otpArchStatus) != 3 || read(s.OTP, otpArchSel) != 3 {
		t.Error("ARCHSEL does not say RISC-V")
	}
}
