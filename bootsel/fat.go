package bootsel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sectorBytes is the size of the drive's sectors.
const sectorBytes = 512

// volume is what has to be known of the FAT16 file system on the drive (Microsoft,
// FAT: General Overview of On-Disk Format).
type volume struct {
	root      int64 // where the root directory begins, in bytes
	entries   int
	data      int64 // where cluster 2 begins
	cluster   int64 // bytes of a cluster
	end       int64
	clusterOf map[string]fileAt
}

type fileAt struct {
	cluster, size uint32
}

// infoFile is the file by which a drive is known, as a directory has it.
const infoFile = "INFO_UF2TXT"

var errNoVolume = errors.New("no FAT file system as a boot ROM shows it")

// readVolume reads a partition's boot sector and root directory.
func readVolume(r io.ReaderAt) (volume, error) {
	var b [sectorBytes]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return volume{}, err
	}
	le := binary.LittleEndian
	per, reserved, fats := int64(b[13]), int64(le.Uint16(b[14:])), int64(b[16])
	v := volume{entries: int(le.Uint16(b[17:])), clusterOf: map[string]fileAt{}}
	total, fat := int64(le.Uint16(b[19:])), int64(le.Uint16(b[22:]))
	if total == 0 {
		total = int64(le.Uint32(b[32:]))
	}
	if le.Uint16(b[11:]) != sectorBytes || per == 0 || per > 128 || reserved == 0 || fats == 0 || fats > 4 || v.entries == 0 || fat == 0 || b[510] != 0x55 || b[511] != 0xaa {
		return volume{}, errNoVolume
	}
	v.root = (reserved + fats*fat) * sectorBytes
	v.data = v.root + int64(v.entries*32+sectorBytes-1)/sectorBytes*sectorBytes
	v.cluster, v.end = per*sectorBytes, total*sectorBytes
	if v.end <= v.data {
		return volume{}, errNoVolume
	}
	dir := make([]byte, min(v.entries, 512)*32)
	if _, err := r.ReadAt(dir, v.root); err != nil {
		return volume{}, err
	}
	for e := dir; len(e) >= 32 && e[0] != 0; e = e[32:] {
		const attrVolume, attrFolder = 0x08, 0x10
		if e[0] != 0xe5 && e[11]&(attrVolume|attrFolder) == 0 {
			v.clusterOf[string(e[:11])] = fileAt{uint32(le.Uint16(e[26:])), le.Uint32(e[28:])}
		}
	}
	return v, nil
}

// file reads the beginning of a small file, up to one cluster.
func (v volume) file(r io.ReaderAt, name string) (string, error) {
	f, ok := v.clusterOf[name]
	at := v.data + (int64(f.cluster)-2)*v.cluster
	if !ok || f.cluster < 2 || at >= v.end {
		return "", fmt.Errorf("there is no file %s", strings.TrimSpace(name[:8])+"."+strings.TrimSpace(name[8:]))
	}
	b := make([]byte, (min(int64(f.size), v.cluster)+sectorBytes-1)/sectorBytes*sectorBytes)
	if _, err := r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(b[:min(len(b), int(min(int64(f.size), v.cluster)))]), nil
}

// free is a place behind the files, where blocks may be written to.
func (v volume) free() int64 {
	const clusters = 64
	return v.data + clusters*v.cluster
}

// checkInfo reads INFO_UF2.TXT: a drive is a boot ROM's if it says so.
func checkInfo(text string) error {
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), "uf2 bootloader") {
			return nil
		}
	}
	return errors.New("its INFO_UF2.TXT is not that of a UF2 boot loader")
}
