package virtual

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image/boot"
)

// Bulk-only transport (USB Mass Storage Class, Bulk-Only Transport 1.0).
const (
	cbwSize      = 31
	cswSize      = 13
	cbwSignature = 0x43425355
	cswSignature = 0x53425355

	reqBulkReset = 0xff
	reqMaxLUN    = 0xfe

	cswPassed     = 0
	cswFailed     = 1
	cswPhaseError = 2
)

// drivePhase is what comes next on the drive's endpoints.
type drivePhase uint8

const (
	driveCommand drivePhase = iota
	driveDataIn
	driveDataOut
	driveStatus
	driveStalled // the status follows when the host has cleared the halt
	driveLost    // an unusable command: only a reset helps
)

// direction of a data phase.
type direction uint8

const (
	nowhere direction = iota
	toHost
	fromHost
)

// drive is the mass-storage interface.
type drive struct {
	flash *flashState
	disk  *disk
	label label
	halt  func(address uint8)

	phase   drivePhase
	tag     uint32
	residue uint32
	status  uint8
	stall   direction // halt this way before the status
	sense   [3]byte   // key, code, qualifier

	reply []byte // what is left of a short answer
	lba   uint32
	left  uint32 // bytes of a data phase of sectors that are to come
	buf   [sectorSize]byte
	fill  int
}

func (d *drive) reset() {
	d.phase, d.stall, d.sense = driveCommand, nowhere, [3]byte{}
	d.reply, d.left, d.fill = nil, 0, 0
	d.flash.ejected = false
}

// control answers the class requests.
func (d *drive) control(s Setup) (reply []byte, ok bool) {
	switch {
	case s.In() && s.Request == reqMaxLUN && s.Value == 0 && s.Length > 0:
		return []byte{0}, true
	case !s.In() && s.Request == reqBulkReset && s.Value == 0 && s.Length == 0:
		d.reset()
		return nil, true
	}
	return nil, false
}

// cleared is the end of a halt. After an unusable command the halts stay until
// a reset.
func (d *drive) cleared(ep uint8) {
	switch {
	case d.phase == driveLost:
		d.halt(ep)
	case d.phase == driveStalled && ep == epDriveIn:
		d.phase = driveStatus
	}
}

// out takes a packet.
func (d *drive) out(p []byte) Answer {
	switch d.phase {
	case driveCommand:
		d.command(p)
		return Acknowledged
	case driveDataOut:
		d.take(p)
		return Acknowledged
	}
	return Later
}

// in gives a packet.
func (d *drive) in() ([]byte, Answer) {
	switch d.phase {
	case driveDataIn:
		return d.give(), Acknowledged
	case driveStatus:
		b := make([]byte, cswSize)
		binary.LittleEndian.PutUint32(b, cswSignature)
		binary.LittleEndian.PutUint32(b[4:], d.tag)
		binary.LittleEndian.PutUint32(b[8:], d.residue)
		b[12] = d.status
		d.phase = driveCommand
		return b, Acknowledged
	}
	return nil, Later
}

// give is the next packet of a data phase to the host.
func (d *drive) give() []byte {
	if d.reply == nil {
		if d.fill == 0 {
			d.disk.read(d.lba, d.buf[:])
			d.lba++
		}
		p := append([]byte(nil), d.buf[d.fill:d.fill+packetSize]...)
		d.fill = (d.fill + packetSize) % sectorSize
		d.left -= packetSize
		d.residue -= packetSize
		if d.left == 0 {
			d.endData()
		}
		return p
	}
	p := d.reply[:min(packetSize, len(d.reply))]
	d.residue -= uint32(len(p))
	if d.reply = d.reply[len(p):]; len(d.reply) == 0 {
		d.endData()
	}
	return p
}

// take is a packet of a data phase from the host.
func (d *drive) take(p []byte) {
	n := min(len(p), int(d.left), sectorSize-d.fill)
	copy(d.buf[d.fill:], p[:n])
	d.fill += n
	d.left -= uint32(n)
	d.residue -= uint32(n)
	if d.fill == sectorSize {
		d.fill = 0
		if !d.sector() { // the rest of the data meets a halt
			const accessDenied, noAccessRights = 0x20, 2
			d.status, d.sense, d.stall = cswFailed, [3]byte{senseDataProtect, accessDenied, noAccessRights}, fromHost
			d.endData()
			return
		}
	}
	if d.left == 0 || len(p) < packetSize {
		d.endData()
	}
}

// sector is a sector that was written: a UF2 block, or dropped. It is false if the
// block could not be written.
func (d *drive) sector() bool {
	if d.flash.rebooting {
		return true
	}
	w := d.flash.uf2.Sector(d.buf[:])
	d.lba++
	if !w.Taken {
		return true
	}
	rom, page := d.flash.rom, d.buf[32:32+pageSize]
	d.flash.byDrive = true
	switch {
	case w.RAM:
		rom.Write(w.Addr, page)
	case w.HasErase && !rom.FlashAllowed(w.Erase, boot.SectorSize, true), !rom.FlashAllowed(w.Addr, pageSize, true):
		d.flash.uf2.WriteFailed()
		return false
	default:
		if w.HasErase {
			d.flash.clock.erased(rom.EraseSector(w.Erase))
		}
		d.flash.clock.programmed(rom.Program(w.Addr, page))
	}
	if w.Reboot != nil {
		d.reboot(w.Reboot)
	}
	return true
}

// reboot restarts the chip after a whole file.
func (d *drive) reboot(r *boot.Reboot) {
	const (
		delay       = 500 // ms
		ramImage    = 3
		flashUpdate = 4
		toArm       = 0x10
		toRISCV     = 0x20
	)
	flags := uint32(flashUpdate)
	if r.RAM {
		flags = ramImage
	}
	if r.ForceCPU && r.CPU == boot.Arm {
		flags |= toArm
	} else if r.ForceCPU {
		flags |= toRISCV
	}
	if !d.flash.rom.Reboot(flags, delay, r.Base, r.Size) {
		d.flash.uf2.RebootFailed()
		return
	}
	d.flash.rebooting = true
}

// endData goes on to the status, over a halt if the host expects other data than
// there was.
func (d *drive) endData() {
	way := d.stall
	d.stall, d.reply, d.left, d.fill = nowhere, nil, 0, 0
	d.phase = driveStatus
	switch way {
	case toHost:
		d.phase = driveStalled
		d.halt(epDriveIn)
	case fromHost:
		d.halt(epDriveOut)
	case nowhere:
	}
}
