@ The loader on a Cortex-M33: executes what the host puts into a ring of calls.
@ loader.go says how the two talk. r0 is the address of the control block.
@
@   r4 control block   r5 first table of sums   r8 entry of the ring

	.syntax unified
	.cpu cortex-m33
	.thumb
	.text
	.global _start
	.thumb_func
_start:
	mov	r4, r0
	add	r5, r4, #0x200

	@ The redundancy coprocessor, which the boot ROM's functions use: on, and
	@ with a salt, which may be set once after a reset and not again.
	ldr	r1, =0xe000ed88		@ CPACR
	ldr	r2, [r1]
	orr	r2, r2, #0xc000
	str	r2, [r1]
	dsb
	isb
	mrc	p7, #1, r2, c0, c0, #0	@ is the salt valid?
	ldr	r3, =0xa500a500
	cmp	r2, r3
	beq	salted
	ldr	r2, =0x5a17ed01
	ldr	r3, =0x0badcafe
	mcrr	p7, #8, r2, r3, c0
	mcrr	p7, #8, r3, r2, c1
	sev
salted:

	@ Tables of the two sums, 256 words each.
	ldr	r0, =0xedb88320
	mov	r1, r5
	bl	table
	ldr	r0, =0x82f63b78
	bl	table

loop:
	ldr	r6, [r4, #0]		@ calls asked for
	ldr	r7, [r4, #4]		@ calls done
	cmp	r6, r7
	beq	loop
	dmb
	and	r8, r7, #7
	add	r8, r4, r8, lsl #5
	ldr	r9, [r8, #16]
	ldr	r0, [r8, #20]
	ldr	r1, [r8, #24]
	ldr	r2, [r8, #28]
	ldr	r3, [r8, #32]
	cmp	r9, #1
	blo	leave
	beq	sums
	blx	r9
done:
	str	r0, [r8, #36]
	adds	r7, r7, #1
	dmb
	str	r7, [r4, #4]
	b	loop

leave:
	adds	r7, r7, #1
	str	r7, [r4, #4]
	dsb
	bkpt	#0x11
	b	.

	@ table(r0 polynomial, r1 where): r1 is behind the table afterwards.
table:
	movs	r2, #0
1:	mov	r3, r2
	movs	r6, #8
2:	lsrs	r3, r3, #1
	it	cs
	eorcs	r3, r3, r0
	subs	r6, r6, #1
	bne	2b
	str	r3, [r1], #4
	adds	r2, r2, #1
	cmp	r2, #256
	bne	1b
	bx	lr

	@ sums(r0 address, r1 number of sectors, r2 where): two words a sector.
sums:
	add	r3, r5, #0x400
sector:
	mov	r10, #-1
	mov	r11, #-1
	mov	r9, #1024
word:
	ldr	r12, [r0], #4
	eor	r10, r10, r12
	eor	r11, r11, r12
	.rept	4
	uxtb	r6, r10
	ldr	r6, [r5, r6, lsl #2]
	eor	r10, r6, r10, lsr #8
	uxtb	r12, r11
	ldr	r12, [r3, r12, lsl #2]
	eor	r11, r12, r11, lsr #8
	.endr
	subs	r9, r9, #1
	bne	word
	mvn	r10, r10
	mvn	r11, r11
	str	r10, [r2], #4
	str	r11, [r2], #4
	subs	r1, r1, #1
	bne	sector
	movs	r0, #0
	b	done

	.align	2
	.ltorg
