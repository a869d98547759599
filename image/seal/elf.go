package seal

import (
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
)

// patchELF changes one word of an ELF file's contents and adds a segment. The
// program headers move to the end of the file, with the new contents behind
// them; everything else stays where it is.
func patchELF(elf []byte, loads []image.Load, addr, word, at uint32, data []byte) ([]byte, error) {
	le := binary.LittleEndian
	out := append([]byte(nil), elf...)
	phoff, phnum := uint64(le.Uint32(out[28:])), uint64(le.Uint16(out[44:]))
	const size = 32
	patched := false
	for i := range phnum {
		ph := out[phoff+i*size:][:size]
		pa, n := le.Uint32(ph[12:]), min(le.Uint32(ph[16:]), le.Uint32(ph[20:]))
		if le.Uint32(ph) == 1 && addr >= pa && uint64(addr)+4 <= uint64(pa)+uint64(n) {
			le.PutUint32(out[le.Uint32(ph[4:])+addr-pa:], word)
			patched = true
		}
	}
	if !patched {
		return nil, &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: "the block loop's last block spans two segments of the ELF file",
			Seen:    fmt.Sprintf("a link at 0x%08x", addr), Wanted: "a link inside one segment"}
	}
	if phnum >= 0xfffe {
		return nil, &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: "the ELF file has no room for one more segment", Seen: fmt.Sprintf("%d program headers", phnum), Wanted: "fewer"}
	}
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	headers := append([]byte(nil), out[phoff:phoff+phnum*size]...)
	newPhoff := uint32(len(out))
	body := newPhoff + uint32(phnum+1)*size
	for _, v := range []uint32{1, body, at, at, uint32(len(data)), uint32(len(data)), 4, 4} {
		headers = le.AppendUint32(headers, v)
	}
	out = append(append(out, headers...), data...)
	le.PutUint32(out[28:], newPhoff)
	le.PutUint16(out[44:], uint16(phnum+1))
	return out, nil
}
