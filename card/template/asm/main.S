/* Adds the numbers from 1 to 10; the sum is what main returns to C's print. */
	.text
	.global main
	.type main, @function
main:
	addi sp, sp, -16
	sw ra, 12(sp)
	li t0, 10
	li a1, 0
1:	add a1, a1, t0
	addi t0, t0, -1
	bnez t0, 1b
	la a0, text
	call print
	li a0, 0
	lw ra, 12(sp)
	addi sp, sp, 16
	ret
	.size main, . - main

	.section .rodata
text:	.asciz "1 + ... + 10 = %d\n"
