package virtual

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The geometry of the drive (pico-bootrom usb_virtual_disk.c).
const (
	sectorSize      = 512
	diskSectors     = 262144
	clusterSectors  = 8
	fatSectors      = 129
	fatCount        = 2
	rootEntries     = 512
	rootSectors     = rootEntries * 32 / sectorSize
	partitionFAT16  = 0x0e
	mediaDisk       = 0xf8
	attrReadOnly    = 0x01
	attrVolumeLabel = 0x08
	attrArchive     = 0x20

	// The files' date, 5 September 2008, and its hundredths of a second.
	fileDate  = 28<<9 | 9<<5 | 5
	fileTime  = 16<<11 | 20<<5 | 51>>1
	fileTicks = 100
)

// disk makes up the contents of the drive.
type disk struct {
	label, index, info string
	serial             uint32
}

// revision is what the URL in INDEX.HTM tells of the chip: six digits each of
// SYSINFO's GITREF and of the ROM's git revision, those of A2.
const revision = "5A09D5312E22"

func newDisk(rom BootROM, l label) *disk {
	id := rom.ChipID()
	url := l.text(labelURL, "https://raspberrypi.com/device/RP2?version="+revision, 127)
	return &disk{
		label:  l.text(labelVolume, "RP2350", 11),
		serial: uint32(id>>32)*31 + uint32(id),
		index: fmt.Sprintf(`<html><head><meta http-equiv="refresh" content="0;URL='%s'"/></head>`+
			`<body>Redirecting to <a href='%s'>%s</a></body></html>`, url, url, l.text(labelURLName, "raspberrypi.com", 127)),
		info: fmt.Sprintf("UF2 Bootloader v1.0\nModel: %s\nBoard-ID: %s\n",
			l.text(labelModel, "Raspberry Pi RP2350", 127), l.text(labelBoardID, "RP2350", 127)),
	}
}

// read fills a sector.
func (d *disk) read(lba uint32, b []byte) {
	clear(b)
	le := binary.LittleEndian
	if lba == 0 { // partition table
		le.PutUint32(b[0x1b8:], d.serial)
		e := b[0x1be:]
		e[4] = partitionFAT16
		le.PutUint32(e[8:], 1)
		le.PutUint32(e[12:], diskSectors-1)
		le.PutUint16(b[510:], 0xaa55)
		return
	}
	lba--
	if lba == 0 {
		d.bootSector(b)
		return
	}
	lba--
	if lba < fatSectors*fatCount {
		if lba%fatSectors == 0 {
			for i, v := range []uint16{0xff00 | mediaDisk, 0xffff, 0xffff, 0xffff} {
				le.PutUint16(b[2*i:], v)
			}
		}
		return
	}
	lba -= fatSectors * fatCount
	if lba < rootSectors {
		if lba == 0 {
			entry(b, d.label, attrVolumeLabel|attrArchive, 0, 0)
			entry(b[32:], "INDEX   HTM", attrReadOnly|attrArchive, 2, len(d.index))
			entry(b[64:], "INFO_UF2TXT", attrReadOnly|attrArchive, 3, len(d.info))
		}
		return
	}
	switch lba - rootSectors {
	case 0:
		copy(b, d.index)
	case clusterSectors:
		copy(b, d.info)
	}
}

// bootSector is the first one of the FAT16 volume.
func (d *disk) bootSector(b []byte) {
	le := binary.LittleEndian
	copy(b, "\xeb\x3c\x90MSWIN4.1")
	le.PutUint16(b[0x0b:], sectorSize)
	b[0x0d] = clusterSectors
	le.PutUint16(b[0x0e:], 1)
	b[0x10] = fatCount
	le.PutUint16(b[0x11:], rootEntries)
	b[0x15] = mediaDisk
	le.PutUint16(b[0x16:], fatSectors)
	le.PutUint16(b[0x18:], 1)
	le.PutUint16(b[0x1a:], 1)
	le.PutUint32(b[0x1c:], 1)
	le.PutUint32(b[0x20:], diskSectors-1)
	b[0x26] = 0x29
	le.PutUint32(b[0x27:], d.serial)
	copy(b[0x2b:], padded(d.label, 11))
	copy(b[0x36:], "FAT16   \xeb\xfe")
	le.PutUint16(b[510:], 0xaa55)
}

// entry fills a directory entry.
func entry(b []byte, name string, attr byte, cluster uint16, size int) {
	le := binary.LittleEndian
	copy(b, padded(name, 11))
	b[11], b[13] = attr, fileTicks
	le.PutUint16(b[14:], fileTime)
	le.PutUint16(b[16:], fileDate)
	le.PutUint16(b[22:], fileTime)
	le.PutUint16(b[24:], fileDate)
	le.PutUint16(b[26:], cluster)
	le.PutUint32(b[28:], uint32(size))
}

// padded is a text of a fixed length.
func padded(s string, n int) string {
	return (s + strings.Repeat(" ", n))[:n]
}
