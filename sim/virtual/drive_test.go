package virtual

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/uf2"
)

// scsi makes a SCSI command: data is what is sent, n what is to come.
func (b *board) scsi(cb, data []byte, n int) (got []byte, csw []byte) {
	b.t.Helper()
	le := binary.LittleEndian
	p := make([]byte, cbwSize)
	le.PutUint32(p, cbwSignature)
	le.PutUint32(p[4:], 77)
	le.PutUint32(p[8:], uint32(max(n, len(data))))
	if n > 0 {
		p[12] = 0x80
	}
	p[14] = byte(len(cb))
	copy(p[15:], cb)
	if s := b.send(2, p); s != StatusOK {
		b.t.Fatalf("CBW: %d", s)
	}
	s := StatusOK
	if n > 0 {
		got, s = b.receive(1, n)
	} else if len(data) > 0 {
		s = b.send(2, data)
	}
	if s == StatusStall && n > 0 {
		ctl(b.dev, Setup{2, reqClearFeature, 0, 0x81, 0}, nil)
	} else if s == StatusStall {
		ctl(b.dev, Setup{2, reqClearFeature, 0, 2, 0}, nil)
	}
	csw, s = b.receive(1, cswSize)
	if s == StatusStall { // the halt came behind whole packets
		ctl(b.dev, Setup{2, reqClearFeature, 0, 0x81, 0}, nil)
		csw, s = b.receive(1, cswSize)
	}
	if s != StatusOK || len(csw) != cswSize || le.Uint32(csw) != cswSignature || le.Uint32(csw[4:]) != 77 {
		b.t.Fatalf("CSW: %d, % x", s, csw)
	}
	return got, csw
}

func (b *board) passes(cb, data []byte, n int) []byte {
	b.t.Helper()
	got, csw := b.scsi(cb, data, n)
	if csw[12] != cswPassed {
		b.t.Fatalf("SCSI %#x: status %d", cb[0], csw[12])
	}
	return got
}

func transfer(op byte, lba uint32, n uint16) []byte {
	cb := append([]byte{op, 0}, binary.BigEndian.AppendUint32(nil, lba)...)
	return append(binary.BigEndian.AppendUint16(append(cb, 0), n), 0)
}

// sectors reads sectors, write writes one.
func (b *board) sectors(lba uint32, n uint16) []byte {
	b.t.Helper()
	return b.passes(transfer(scsiRead10, lba, n), nil, int(n)*sectorSize)
}

func (b *board) write(lba uint32, sector []byte) {
	b.t.Helper()
	b.passes(transfer(scsiWrite10, lba, uint16(len(sector)/sectorSize)), sector, 0)
}

// uf2File makes the blocks of a program.
func uf2File(t *testing.T, family, addr uint32, p []byte) []byte {
	t.Helper()
	var f bytes.Buffer
	w := uf2.NewWriter(&f, family, uint32(len(p)/256))
	for i := 0; i < len(p); i += 256 {
		if err := w.WritePage(addr+uint32(i), p[i:i+256]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return f.Bytes()
}

func TestDriveLooksLikeADisk(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	if u := ctl(b.dev, Setup{0xa1, reqMaxLUN, 0, 0, 1}, nil); !bytes.Equal(u.Data, []byte{0}) {
		t.Errorf("GET_MAX_LUN: %v", u.Data)
	}
	inquiry := b.passes([]byte{scsiInquiry, 0, 0, 0, 36, 0}, nil, 36)
	if got := string(inquiry[8:]); got != "RPI     RP2350          1   " || inquiry[1] != 0x80 {
		t.Errorf("%q", got)
	}
	if c := b.passes(make10(scsiReadCapacity10), nil, 8); !bytes.Equal(c, []byte{0, 3, 0xff, 0xff, 0, 0, 2, 0}) {
		t.Errorf("capacity % x", c)
	}
	if c := b.passes(make10(scsiFormatCapacity), nil, 12); c[3] != 0 || c[8] != 2 {
		t.Errorf("format capacities % x", c)
	}
	if m := b.passes([]byte{scsiModeSense6, 0, 0x3f, 0, 192, 0}, nil, 192); !bytes.Equal(m, []byte{3, 0, 0, 0}) {
		t.Errorf("mode sense % x", m)
	}
	b.passes([]byte{scsiTestUnitReady, 0, 0, 0, 0, 0}, nil, 0)
	b.passes([]byte{scsiPreventRemoval, 0, 0, 0, 1, 0}, nil, 0)

	mbr := b.sectors(0, 1)
	if mbr[0x1be+4] != 0x0e || mbr[510] != 0x55 || mbr[511] != 0xaa {
		t.Errorf("partition table % x", mbr[0x1be:])
	}
	boot := b.sectors(1, 1)
	le := binary.LittleEndian
	fat, dir := 1+uint32(le.Uint16(boot[14:])), uint32(0)
	dir = fat + uint32(boot[16])*uint32(le.Uint16(boot[22:]))
	data := dir + uint32(le.Uint16(boot[17:]))*32/512
	if string(boot[0x36:0x3b]) != "FAT16" || boot[13] != 8 {
		t.Errorf("boot sector % x", boot[:64])
	}
	if f := b.sectors(fat, 1); !bytes.Equal(f[:8], []byte{0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) {
		t.Errorf("FAT % x", f[:8])
	}
	root := b.sectors(dir, 1)
	files := map[string]string{}
	for e := root; e[0] != 0; e = e[32:] {
		if e[11]&attrVolumeLabel != 0 {
			files["label"] = strings.TrimSpace(string(e[:11]))
			continue
		}
		at := data + (uint32(le.Uint16(e[26:]))-2)*8
		files[string(e[:11])] = string(b.sectors(at, 1)[:le.Uint32(e[28:])])
	}
	if files["label"] != "RP2350" || files["INFO_UF2TXT"] != "UF2 Bootloader v1.0\nModel: Raspberry Pi RP2350\nBoard-ID: RP2350\n" {
		t.Errorf("%q", files)
	}
	if !strings.Contains(files["INDEX   HTM"], "https://raspberrypi.com/device/RP2?version=") {
		t.Errorf("%q", files["INDEX   HTM"])
	}
}

func make10(op byte) []byte { return transfer(op, 0, 0) }

func TestDriveTransportErrors(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	if _, csw := b.scsi([]byte{0x9e, 0x10, 0, 0, 0, 0}, nil, 32); csw[12] != cswFailed || csw[8] != 32 {
		t.Errorf("unknown command: % x", csw)
	}
	if s := b.passes([]byte{scsiRequestSense, 0, 0, 0, 18, 0}, nil, 18); s[2] != senseIllegalRequest || s[12] != codeUnknownCommand {
		t.Errorf("sense % x", s)
	}
	if _, csw := b.scsi(transfer(scsiRead10, 0, 1), make([]byte, 512), 0); csw[12] != cswPhaseError {
		t.Errorf("wrong direction: % x", csw)
	}
	if got, csw := b.scsi(transfer(scsiRead10, 0, 1), nil, 1024); len(got) != 512 || csw[12] != cswPassed || binary.LittleEndian.Uint32(csw[8:]) != 512 {
		t.Errorf("host expects more: %d bytes, % x", len(got), csw)
	}
	if got, csw := b.scsi(transfer(scsiRead10, 0, 2), nil, 512); len(got) != 512 || csw[12] != cswPhaseError {
		t.Errorf("host expects less: %d bytes, % x", len(got), csw)
	}
	b.passes([]byte{scsiStartStop, 0, 0, 0, 2, 0}, nil, 0)
	if _, csw := b.scsi([]byte{scsiTestUnitReady, 0, 0, 0, 0, 0}, nil, 0); csw[12] != cswFailed {
		t.Errorf("ejected: % x", csw)
	}
	// An unusable command halts both endpoints until the reset.
	b.send(2, []byte("nonsense"))
	ctl(b.dev, Setup{2, reqClearFeature, 0, 0x81, 0}, nil)
	if _, s := b.receive(1, 13); s != StatusStall {
		t.Errorf("before the reset: %d", s)
	}
	ctl(b.dev, Setup{0x21, reqBulkReset, 0, 0, 0}, nil)
	ctl(b.dev, Setup{2, reqClearFeature, 0, 0x81, 0}, nil)
	ctl(b.dev, Setup{2, reqClearFeature, 0, 2, 0}, nil)
	b.passes([]byte{scsiTestUnitReady, 0, 0, 0, 0, 0}, nil, 0)
}

func TestDriveLoadsUF2(t *testing.T) {
	b := newBoard(t, riscv)
	file := uf2File(t, uf2.FamilyRP2350RISCV, 0x10000000, program())
	b.write(400, make([]byte, 512)) // what a file system writes besides
	for i := 0; i < len(file); i += 512 {
		b.write(1000+uint32(i)/512, file[i:i+512])
	}
	if b.clk.Pages != 2 || b.clk.Sectors != 1 {
		t.Errorf("%+v", *b.clk)
	}
	b.runs("hi")
}

func TestDriveDropsAndTells(t *testing.T) {
	b := newBoard(t, riscv)
	b.write(1000, uf2File(t, uf2.FamilyRP2040, 0x10000000, make([]byte, 512)))
	status := func() []byte {
		return b.ok(cmdGetInfo, append([]byte{infoUF2Status, 0, 0, 0}, words(0, 0, 0)...), nil, 20)
	}
	if s := status(); s[4] != 1 {
		t.Errorf("wrong family: % x", s)
	}
	good := uf2File(t, uf2.FamilyRP2350RISCV, 0x10000000, make([]byte, 512))
	b.ok(cmdExclusive, []byte{1}, nil, 0)
	b.write(1000, good[:512])
	if s := status(); s[4]&0x10 == 0 || b.clk.Pages != 0 {
		t.Errorf("exclusive access: % x", s)
	}
	b.ok(cmdExclusive, []byte{0}, nil, 0)
	// Between two pieces of a PICOBOOT write the drive writes too.
	b.send(3, packet(cmdWrite, 512, words(0x10010000, 512)))
	b.send(3, make([]byte, 256))
	b.write(1000, good[:512])
	b.send(3, make([]byte, 256))
	if st := b.status(); st != pbInterleaved {
		t.Errorf("interleaved: %d", st)
	}
	ctl(b.dev, Setup{0x41, reqPicobootReset, 0, 1, 0}, nil)
	b.ok(cmdExclusive, []byte{2}, nil, 0)
	if _, csw := b.scsi([]byte{scsiTestUnitReady, 0, 0, 0, 0, 0}, nil, 0); csw[12] != cswFailed {
		t.Error("exclusive access 2 ejects")
	}
}

func FuzzDrive(f *testing.F) {
	f.Add([]byte("USBC1234\x00\x02\x00\x00\x00\x00\x0a\x2a\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("USBC1234\x24\x00\x00\x00\x80\x00\x06\x12\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, p []byte) {
		c := rp2350.New(rp2350.Options{Bootsel: func(*rp2350.Chip) {}, FlashSize: 64 << 10})
		c.Run(1_000_000)
		g := NewBootsel(c.BootselMode(), nil)
		configure(t, g)
		in := &URB{Endpoint: 1, In: true, Length: 4096}
		g.Submit(in)
		for len(p) > 0 {
			n := min(len(p), cbwSize)
			g.Submit(&URB{Endpoint: 2, Data: p[:n]})
			p = p[n:]
			ctl(g, Setup{2, reqClearFeature, 0, 0x81, 0}, nil)
		}
	})
}
