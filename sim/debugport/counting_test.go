//go:build judges || rig

package debugport_test

// counting is an image that counts in SRAM, with the block that makes it one of
// its architecture (datasheet 5.9.5).
func counting(arch string) []byte {
	var w []uint32
	switch arch {
	case "arm":
		// Vectors; ldr r1, =0x20030000; l: ldr r0, [r1]; adds r0, #1; str r0, [r1]; b l
		w = []uint32{0x20082000, 0x10000009, 0x68084902, 0x60083001, 0xbf00e7fb, 0x20030000}
		w = append(w, 0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579)
	default:
		// lui a1, 0x20030; l: lw a0, 0(a1); addi a0, a0, 1; sw a0, 0(a1); j l
		w = []uint32{0x200305b7, 0x0005a503, 0x00150513, 0x00a5a023, 0xff5ff06f}
		w = append(w, 0xffffded3, 0x11010142, 0x000001ff, 0, 0xab123579)
	}
	var p []byte
	for _, v := range w {
		p = append(p, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return p
}
