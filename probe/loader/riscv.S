# The loader on a Hazard3: executes what the host puts into a ring of calls.
# loader.go says how the two talk. a0 is the address of the control block.
#
#   s0 control block   s1 first table of sums   s2 entry of the ring

	.option	norelax
	.text
	.global _start
_start:
	mv	s0, a0
	addi	s1, s0, 0x200

	# Tables of the two sums, 256 words each.
	li	a0, 0xedb88320
	mv	a1, s1
	jal	table
	li	a0, 0x82f63b78
	jal	table

loop:
	lw	s3, 0(s0)		# calls asked for
	lw	s4, 4(s0)		# calls done
	beq	s3, s4, loop
	fence	rw, rw
	andi	s2, s4, 7
	slli	s2, s2, 5
	add	s2, s2, s0
	lw	s5, 16(s2)
	lw	a0, 20(s2)
	lw	a1, 24(s2)
	lw	a2, 28(s2)
	lw	a3, 32(s2)
	beqz	s5, leave
	li	t0, 1
	beq	s5, t0, sums
	jalr	s5
done:
	sw	a0, 36(s2)
	addi	s4, s4, 1
	fence	rw, rw
	sw	s4, 4(s0)
	j	loop

leave:
	addi	s4, s4, 1
	sw	s4, 4(s0)
	fence	rw, rw
	ebreak
1:	j	1b

	# table(a0 polynomial, a1 where): a1 is behind the table afterwards.
table:
	li	a2, 0
1:	mv	a3, a2
	li	a4, 8
2:	andi	a5, a3, 1
	srli	a3, a3, 1
	neg	a5, a5
	and	a5, a5, a0
	xor	a3, a3, a5
	addi	a4, a4, -1
	bnez	a4, 2b
	sw	a3, 0(a1)
	addi	a1, a1, 4
	addi	a2, a2, 1
	li	a5, 256
	bne	a2, a5, 1b
	ret

	# sums(a0 address, a1 number of sectors, a2 where): two words a sector.
sums:
	addi	a3, s1, 0x400
sector:
	li	t0, -1
	li	t1, -1
	li	t2, 1024
word:
	lw	t3, 0(a0)
	addi	a0, a0, 4
	xor	t0, t0, t3
	xor	t1, t1, t3
	.rept	4
	andi	t4, t0, 0xff
	slli	t4, t4, 2
	add	t4, t4, s1
	lw	t4, 0(t4)
	srli	t0, t0, 8
	xor	t0, t0, t4
	andi	t5, t1, 0xff
	slli	t5, t5, 2
	add	t5, t5, a3
	lw	t5, 0(t5)
	srli	t1, t1, 8
	xor	t1, t1, t5
	.endr
	addi	t2, t2, -1
	bnez	t2, word
	not	t0, t0
	not	t1, t1
	sw	t0, 0(a2)
	sw	t1, 4(a2)
	addi	a2, a2, 8
	addi	a1, a1, -1
	bnez	a1, sector
	li	a0, 0
	j	done
