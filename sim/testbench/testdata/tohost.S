# riscv-tests' platform: writes a text by the system call of tohost, then exits
# with code 42.
	.globl _start
_start:
	la a0, block
	la a1, tohost
	la a2, fromhost
	sw a0, 0(a1)
	sw zero, 4(a1)
1:	lw t0, 0(a2)
	beqz t0, 1b
	li t0, 42*2+1
	sw t0, 0(a1)
2:	j 2b
	.balign 64
block:	.dword 64, 1, text, 6
text:	.ascii "hello\n"
	.balign 64
	.globl tohost
tohost: .dword 0
	.balign 64
	.globl fromhost
fromhost: .dword 0
