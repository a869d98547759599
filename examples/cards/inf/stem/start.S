/* What the boot ROM looks for, and the first instructions, for both
 * architectures (RP2350 datasheet 5.9). */

#if defined(__riscv)
	.option norelax
	.section .boot, "ax"
	.balign 4
	.word 0xffffded3                /* an image definition: RISC-V, RP2350 */
	.word 0x11010142
	.word 0x00000344                /* where it begins, and its stack */
	.word reset
	.word stack_top
	.word 0x000004ff
	.word 0
	.word 0xab123579

	.text
	.global reset
	.type reset, @function
reset:
	.option push
	.option norelax
	la gp, __global_pointer$
	.option pop
	la sp, stack_top
	la t0, trap
	csrw mtvec, t0
	csrr t0, mhartid
	bnez t0, 1f
	j start
1:	li t0, 0x7dfc                   /* core 1 goes back to the boot ROM */
	jr t0
	.size reset, . - reset

	/* A breakpoint without a debugger is passed over, with -1 as its answer;
	 * everything else stops here. */
	.balign 4
trap:	csrr t0, mcause
	addi t0, t0, -3
	bnez t0, 2f
	csrr t0, mepc
	addi t0, t0, 4
	csrw mepc, t0
	li a0, -1
	mret
2:	ebreak
	j 2b
#else
	.syntax unified
	.thumb
	.section .boot, "a"
	.balign 128
	.word stack_top
	.word reset + 1
	.rept 14
	.word fault + 1
	.endr
	.word 0xffffded3                /* an image definition: Arm, secure, RP2350 */
	.word 0x10210142
	.word 0x000001ff
	.word 0
	.word 0xab123579

	.text
	.global reset
	.thumb_func
	.type reset, %function
reset:
	ldr r0, =stack_top
	mov sp, r0
	b start
	.size reset, . - reset
	.thumb_func
fault:	bkpt 0
	b fault
#endif
