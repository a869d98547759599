# Two harts: hart 0 wakes hart 1 by a software interrupt; both add to a counter,
# 1000 times with amoadd.w and 1000 times under a lock of lr.w and sc.w; hart 0
# prints both counters. Build: see Makefile.
	.globl _start
	.org 0x40
_start:
	li s0, 0x80000000
	la s1, data
	li t0, 1
	sw t0, 0x18(s0)		# exclusive monitor on
	csrr a0, mhartid
	bnez a0, hart1
	li t0, 2
	sw t0, 0x10(s0)		# software interrupt to hart 1
	jal work
1:	lw t0, 12(s1)		# hart 1 done?
	beqz t0, 1b
	lw t0, 0(s1)
	sw t0, 4(s0)
	lw t0, 4(s1)
	sw t0, 4(s0)
	sw zero, 8(s0)		# exit 0
2:	j 2b
hart1:
	csrwi mie, 8
	wfi
	li t0, 2
	sw t0, 0x14(s0)
	jal work
	li t0, 1
	fence
	sw t0, 12(s1)
	csrw mie, zero
3:	wfi
	j 3b
work:
	li t1, 1000
4:	li t0, 1
	amoadd.w zero, t0, (s1)
	addi t1, t1, -1
	bnez t1, 4b
	li t1, 1000
	addi t2, s1, 8
5:	lr.w t0, (t2)
	bnez t0, 5b
	li t0, 1
	sc.w t3, t0, (t2)
	bnez t3, 5b
	lw t0, 4(s1)
	addi t0, t0, 1
	sw t0, 4(s1)
	fence
	sw zero, 8(s1)
	addi t1, t1, -1
	bnez t1, 5b
	ret
	.balign 64
data:
	.word 0, 0, 0, 0
