package virtual

import "encoding/binary"

// SCSI commands that the boot ROM knows (SPC-2, SBC).
const (
	scsiTestUnitReady   = 0x00
	scsiRequestSense    = 0x03
	scsiInquiry         = 0x12
	scsiModeSense6      = 0x1a
	scsiStartStop       = 0x1b
	scsiPreventRemoval  = 0x1e
	scsiFormatCapacity  = 0x23
	scsiReadCapacity10  = 0x25
	scsiRead10          = 0x28
	scsiWrite10         = 0x2a
	scsiVerify10        = 0x2f
	scsiSynchronize     = 0x35
	senseNotReady       = 0x02
	senseIllegalRequest = 0x05
	senseDataProtect    = 0x07
	codeNoMedium        = 0x3a
	codeUnknownCommand  = 0x20
)

// command takes a command block wrapper.
func (d *drive) command(p []byte) {
	le := binary.LittleEndian
	if len(p) != cbwSize || le.Uint32(p) != cbwSignature || p[13] != 0 || p[12]&0x7f != 0 || p[14] == 0 || p[14] > 16 {
		d.phase = driveLost
		d.halt(epDriveIn)
		d.halt(epDriveOut)
		return
	}
	d.tag, d.residue, d.status = le.Uint32(p[4:]), le.Uint32(p[8:]), cswPassed
	way := fromHost
	if p[12]&0x80 != 0 {
		way = toHost
	}
	cb := p[15:]
	if cb[0] != scsiRequestSense {
		d.sense = [3]byte{}
	}
	switch cb[0] {
	case scsiTestUnitReady:
		if d.flash.ejected {
			d.refuse(way, senseNotReady, codeNoMedium)
			return
		}
		d.noData(way)
	case scsiStartStop:
		if cb[4]&3 == 2 {
			d.flash.ejected = true
		}
		d.noData(way)
	case scsiPreventRemoval, scsiSynchronize, scsiVerify10:
		d.noData(way)
	case scsiRequestSense:
		s := make([]byte, 18)
		s[0], s[2], s[7], s[12], s[13] = 0x70, d.sense[0], 10, d.sense[1], d.sense[2]
		d.sense = [3]byte{}
		d.answer(way, s)
	case scsiInquiry:
		d.answer(way, d.inquiry())
	case scsiModeSense6:
		d.answer(way, []byte{3, 0, 0, 0})
	case scsiReadCapacity10:
		b := binary.BigEndian.AppendUint32(nil, diskSectors-1)
		d.answer(way, binary.BigEndian.AppendUint32(b, sectorSize))
	case scsiFormatCapacity:
		b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0}, diskSectors-1)
		d.answer(way, binary.BigEndian.AppendUint32(b, 2<<24|sectorSize))
	case scsiRead10:
		d.blocks(way, toHost, cb)
	case scsiWrite10:
		d.blocks(way, fromHost, cb)
	default:
		d.refuse(way, senseIllegalRequest, codeUnknownCommand)
	}
}

// inquiry is the standard answer: a removable disk.
func (d *drive) inquiry() []byte {
	b := []byte{0, 0x80, 2, 2, 31, 0, 0, 0}
	b = append(b, padded(d.label.text(labelSCSIVendor, "RPI", 8), 8)...)
	b = append(b, padded(d.label.text(labelSCSIProduct, "RP2350", 16), 16)...)
	return append(b, padded(d.label.text(labelSCSIVersion, "1", 4), 4)...)
}

// noData ends a command that has none; a host that expects some meets a halt.
func (d *drive) noData(way direction) {
	d.stall = nowhere
	if d.residue > 0 {
		d.stall = way
	}
	d.endData()
}

// refuse fails a command.
func (d *drive) refuse(way direction, key, code byte) {
	d.status, d.sense = cswFailed, [3]byte{key, code, 0}
	d.noData(way)
}

// expect compares what the host expects with what there is (the thirteen cases
// of the transport, as the ROM treats them) and returns the bytes to move.
func (d *drive) expect(way, real direction, n uint64) uint32 {
	d.stall = nowhere
	if way != real {
		d.stall, d.status = way, cswPhaseError
		return 0
	}
	if n != uint64(d.residue) {
		d.stall = real
	}
	if n > uint64(d.residue) {
		d.status = cswPhaseError
	}
	return uint32(min(n, uint64(d.residue)))
}

// answer sends a short answer.
func (d *drive) answer(way direction, b []byte) {
	n := d.expect(way, toHost, uint64(min(uint32(len(b)), d.residue)))
	if n == 0 {
		d.endData()
		return
	}
	d.reply, d.phase = b[:n], driveDataIn
}

// blocks begins to read or write sectors. Only whole packets are moved.
func (d *drive) blocks(way, real direction, cb []byte) {
	d.lba = binary.BigEndian.Uint32(cb[2:])
	n := uint64(binary.BigEndian.Uint16(cb[7:])) * sectorSize
	d.left = d.expect(way, real, n) &^ (packetSize - 1)
	d.reply, d.fill = nil, 0
	switch {
	case d.left == 0:
		d.endData()
	case real == toHost:
		d.phase = driveDataIn
	default:
		d.phase = driveDataOut
	}
}
