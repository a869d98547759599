/* From reset to main().
 *
 * The boot ROM looks for an image definition in the first 4 KiB of flash
 * (datasheet 5.9), takes the entry point and the stack from it, and jumps. */

	.file "pico2/crt0.S"

#include "image.h"

	/* The linker may shorten code, but not the lengths in the debug information
	 * of an assembly file: a debugger would take main() for a part of _reset. */
	.option norelax

	.section .boot, "ax"

	/* First block of the loop: what this image is and where it begins. */
	.balign 4
first_block:
	.word BLOCK_BEGIN
	.word ITEM_IMAGE_TYPE | IMAGE_EXE_RISCV_RP2350
	.word ITEM_ENTRY_POINT
	.word _reset
	.word __stack_top
	.word ITEM_LAST(4)
#ifdef RAM_IMAGE
	.word 0                         /* a loop of one block */
#else
	.word last_block - first_block
#endif
	.word BLOCK_END

	/* Where a debugger that only knows the ELF file starts. A flash image goes
	 * through the boot ROM, as after power-up. */
	.global _entry
_entry:
#ifdef RAM_IMAGE
	j _reset
#else
	li t0, ROM_RISCV_ENTRY
	jr t0
#endif

#ifndef RAM_IMAGE
	/* Second block, at the very end: an image that was not written to its end
	 * has no closed loop, and does not boot. */
	.section .boot_end, "a"
	.balign 4
last_block:
	.word BLOCK_BEGIN
	.word ITEM_IGNORED
	.word ITEM_LAST(1)
	.word first_block - last_block
	.word BLOCK_END
#endif

	.section .text.reset, "ax"
	.global _reset
	.type _reset, @function
_reset:
	.option push
	.option norelax
	la gp, __global_pointer$
	.option pop
	la sp, __stack_top
	la t0, vectors
	ori t0, t0, 1                   /* vectored: each cause has its own slot */
	csrw mtvec, t0

	/* Core 1 waits in the boot ROM until it is launched. */
	csrr t0, mhartid
	bnez t0, 9f

#ifndef RAM_IMAGE
	/* Initialised data, and code that runs from RAM. */
	la a0, __data_begin
	la a1, __data_end
	la a2, __data_load
1:	bgeu a0, a1, 2f
	lw t0, (a2)
	sw t0, (a0)
	addi a0, a0, 4
	addi a2, a2, 4
	j 1b
2:
#endif
	/* Memory that C wants zero. */
	la a0, __bss_begin
	la a1, __bss_end
3:	bgeu a0, a1, 4f
	sw zero, (a0)
	addi a0, a0, 4
	j 3b
4:
	fence.i                         /* code was written */
	call board_init
	call main
	call exit
9:	li t0, ROM_RISCV_ENTRY
	jr t0
	.size _reset, . - _reset
