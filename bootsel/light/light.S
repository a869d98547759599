/* A program for RAM that blinks the light of a Pico 2 (GPIO 25) and goes back
   into BOOTSEL mode. It leaves flash alone and needs nothing but the ROM.
   Addresses: RP2350 datasheet 2.2 and the chapters of each block. */
	.syntax unified
	.cpu cortex-m33
	.thumb

	.equ RESETS, 0x40020000
	.equ RESETS_CLR, 0x40023000
	.equ RESET_DONE, 8
	.equ BLOCKS, (1 << 6) | (1 << 9)        /* IO_BANK0, PADS_BANK0 */
	.equ PAD, 0x40038000 + 4 + 25 * 4
	.equ CTRL, 0x40028000 + 25 * 8 + 4
	.equ SIO, 0xd0000000
	.equ OUT_XOR, 0x28
	.equ OE_SET, 0x38
	.equ LED, 1 << 25
	.equ TOGGLES, 8
	.equ COUNT, 1100000                     /* a third of a second at 11 MHz */
	.equ ROM_LOOKUP, 0x16
	.equ REBOOT, 'R' | ('B' << 8)
	.equ ARM_SECURE, 4
	.equ TO_BOOTSEL, 0x102                  /* and do not return */

	.text
	.global vectors
vectors:
	.word 0x20042000
	.word start + 1

	/* the image definition: an executable for Arm, secure, RP2350 */
	.word 0xffffded3
	.word 0x10210142
	.word 0x00000203, vectors
	.word 0x000003ff
	.word 0
	.word 0xab123579

	.thumb_func
start:
	ldr r0, =RESETS_CLR
	ldr r2, =BLOCKS
	str r2, [r0]
	ldr r0, =RESETS
1:	ldr r1, [r0, #RESET_DONE]
	ands r1, r2
	cmp r1, r2
	bne 1b

	ldr r0, =PAD                            /* no isolation, no pulls */
	movs r1, #0x50
	str r1, [r0]
	ldr r0, =CTRL                           /* function SIO */
	movs r1, #5
	str r1, [r0]

	ldr r4, =SIO
	ldr r5, =LED
	str r5, [r4, #OE_SET]
	movs r6, #TOGGLES
2:	str r5, [r4, #OUT_XOR]
	ldr r0, =COUNT
3:	subs r0, #1
	bne 3b
	subs r6, #1
	bne 2b

	movs r0, #ROM_LOOKUP
	ldrh r3, [r0]
	ldr r0, =REBOOT
	movs r1, #ARM_SECURE
	blx r3
	mov r4, r0
	ldr r0, =TO_BOOTSEL
	movs r1, #10                            /* ms */
	movs r2, #0
	movs r3, #0
	blx r4
4:	b 4b
	.ltorg
