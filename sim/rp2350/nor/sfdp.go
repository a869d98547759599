package nor

import "encoding/binary"

// sfdp returns a byte of the Serial Flash Discoverable Parameters: the header
// of JESD216 with one basic parameter table of nine words at 0x80.
func (f *Flash) sfdp(addr uint32) byte {
	const table = 0x80
	var b [table + 36]byte
	copy(b[:], "SFDP")
	b[4], b[5], b[6], b[7] = 5, 1, 0, 0xff // revision 1.5, one header
	b[8], b[9], b[10], b[11] = 0, 5, 1, 9  // JEDEC id, revision 1.5, 9 words
	b[12], b[15] = table, 0xff
	word := func(i int, v uint32) { binary.LittleEndian.PutUint32(b[table+4*i:], v) }
	// 4 KiB erase by 20h, 64-byte or larger write granule, 1-1-2, 1-2-2, 1-4-4
	// and 1-1-4 reads, three address bytes.
	word(0, 0xfff920e5)
	word(1, f.Size()*8-1)
	word(2, 0x6b08eb44) // 1-4-4 EBh, 1-1-4 6Bh
	word(3, 0xbb423b08) // 1-1-2 3Bh, 1-2-2 BBh
	word(4, 0xfffffffe) // no 2-2-2, 4-4-4 modes here
	word(5, 0x0000ffff)
	word(6, 0x0000ffff)
	word(7, 0x520f200c) // 4 KiB 20h, 32 KiB 52h
	word(8, 0x0000d810) // 64 KiB D8h
	if int(addr) < len(b) {
		return b[addr]
	}
	return 0xff
}
