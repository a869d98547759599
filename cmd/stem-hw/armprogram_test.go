package main

import (
	"encoding/binary"
	"encoding/hex"
)

// armProgram is a raw image for the Cortex-M33: it says hello by semihosting and
// exits with status 0.
func armProgram() []byte {
	le := binary.LittleEndian
	p := make([]byte, 0x70)
	for at, w := range map[int]uint32{
		0x00: 0x20082000, // stack
		0x04: 0x10000041, // reset
		0x50: 0x10000058, // the text
		0x54: 0x00020026, // ADP_Stopped_ApplicationExit
	} {
		le.PutUint32(p[at:], w)
	}
	// Image definition: executable, Arm, secure, RP2350 (datasheet 5.9.3.1).
	block, err := hex.DecodeString("d3deffff" + "42012110" + "ff010000" + "00000000" + "793512ab")
	if err != nil {
		panic(err)
	}
	copy(p[0x10:], block)
	for i, h := range []uint16{
		0x4903, // ldr r1, =text
		0x2004, // movs r0, #SYS_WRITE0
		0xbeab, // bkpt 0xab
		0x2018, // movs r0, #SYS_EXIT
		0x4902, // ldr r1, =ADP_Stopped_ApplicationExit
		0xbeab, // bkpt 0xab
		0xe7fe, // b .
		0xbf00, // nop
	} {
		le.PutUint16(p[0x40+2*i:], h)
	}
	copy(p[0x58:], "hello from Arm\n\x00")
	return p
}
