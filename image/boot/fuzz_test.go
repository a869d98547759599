package boot

import "testing"

// FuzzPicobin lets the boot ROM's rules loose on arbitrary flash: they end,
// decide something, and stay inside flash.
func FuzzPicobin(f *testing.F) {
	small := func(build func(b *builder) int) []byte {
		b := newBuilder(0x400)
		return b.data[:build(b)]
	}
	f.Add(small(func(b *builder) int { return b.block(0, 0, imageType(riscv), entryItem(0x10000100, 0x20001000)) }), byte(2))
	f.Add(small(func(b *builder) int {
		b.block(0x20, 0x40, imageType(armS), version(1, 2))
		return 0x60 + b.block(0x60, -0x40, imageType(0x0011))
	}), byte(0))
	f.Add(small(func(b *builder) int {
		n := b.block(0, 0x80, table(false, part(0, 0, FlagArmS|FlagRISCV), part(1, 1, FlagArmS|bFlags(0))), version(1, 0))
		if n > 0x80 {
			panic(n)
		}
		return 0x80 + b.block(0x80, -0x80, []uint32{0x1fe})
	}), byte(0))
	f.Add(small(func(b *builder) int {
		lm := []uint32{0x706 | 2<<24, 0xfffffff0, 0x20000000, 32, 0, 0x20000040, 8}
		return b.block(0, 0, imageType(armS), lm, []uint32{0x01000247, 4}, []uint32{0x24b, 0})
	}), byte(8))
	f.Fuzz(func(t *testing.T, data []byte, mode byte) {
		m := Flash{Data: data, Size: 1 << 20}
		o := Options{Chip: A2 + Chip(mode&1)*2, CPU: CPU(mode >> 1 & 1)}
		if mode&4 != 0 {
			o.HasUpdate, o.UpdateBase = true, FlashBase+uint32(mode>>4)*0x1000
		}
		o.OTP.SecureBoot = mode&8 != 0
		d, _ := Boot(m, o)
		switch d.Outcome {
		case OutcomeBoot:
			if d.Image == nil || d.Check == nil || !d.Check.OK {
				t.Fatalf("an unverified image is started: %+v", d)
			}
			if o.OTP.SecureBoot && !d.Check.Signed {
				t.Fatal("a secured chip starts an unsigned image")
			}
		case OutcomeBootsel, OutcomeHang:
		default:
			t.Fatalf("outcome %q", d.Outcome)
		}
		if d.Reason == "" {
			t.Fatalf("no reason for %s", d.Outcome)
		}
		tab := ResidentTable(m, o)
		if len(tab.Partitions) > 16 {
			t.Fatalf("%d partitions", len(tab.Partitions))
		}
		for _, fam := range []uint32{0xe48bff57, 0xe48bff58, 0xe48bff59, 0xe48bff5a, 1} {
			tg := TargetFor(m, o, tab, fam)
			if tg.Accepted && tg.Partition >= len(tab.Partitions) {
				t.Fatalf("target %+v", tg)
			}
		}
		FindInWindow(m, Window{FlashBase, uint32(len(data))}, o)
	})
}
