/* int sum(const int *values, int n), for each of the three targets. */
	.text
	.global sum
#if defined(__riscv)
	.type sum, @function
sum:
	mv t0, a0
	li a0, 0
	blez a1, 2f
1:	lw t1, (t0)
	add a0, a0, t1
	addi t0, t0, 4
	addi a1, a1, -1
	bnez a1, 1b
2:	ret
#elif defined(__arm__)
	.syntax unified
	.thumb
	.thumb_func
	.type sum, %function
sum:
	mov r2, r0
	movs r0, #0
1:	subs r1, r1, #1
	blt 2f
	ldr r3, [r2], #4
	add r0, r0, r3
	b 1b
2:	bx lr
#else
	.type sum, @function
sum:
	xorl %eax, %eax
	movslq %esi, %rsi
1:	decq %rsi
	js 2f
	addl (%rdi,%rsi,4), %eax
	jmp 1b
2:	ret
#endif
	.size sum, . - sum
#if defined(__linux__)
	.section .note.GNU-stack, "", %progbits
#endif
