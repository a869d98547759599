/* Traps: exceptions and interrupts. Everything here is in RAM, because a trap
 * may come while flash is switched off. */

	.file "pico2/vectors.S"

#define MEINEXT    0xbe4
#define MEICONTEXT 0xbe5

	.section .ram_text, "ax"

	/* mtvec in vectored mode: exceptions at the base, interrupt n at base + 4n. */
	.balign 64
	.global vectors
vectors:
	.option push
	.option norvc
	.option norelax
	j trap_exception
	j fatal_exception
	j fatal_exception
	j trap_soft                     /* 3: software interrupt */
	j fatal_exception
	j fatal_exception
	j fatal_exception
	j trap_timer                    /* 7: machine timer */
	j fatal_exception
	j fatal_exception
	j fatal_exception
	j trap_external                 /* 11: everything else */
	.option pop

/* An ebreak in front of srai x0, x0, 7 is a semihosting call. A debugger or simulator
 * answers it and nothing arrives here. If it does arrive, nobody listens: the
 * call returns -1. Every other exception is the end. */
	.balign 4
	.type trap_exception, @function
trap_exception:
	csrw mscratch, t0
	csrr t0, mcause
	addi t0, t0, -3                 /* 3: breakpoint */
	bnez t0, 1f
	csrr t0, mepc
	andi t0, t0, 3
	bnez t0, 1f
	csrr t0, mepc
	lw t0, 4(t0)
	/* Is it srai x0, x0, 7 (0x40705013)? Only t0 is free, so flip bit after bit. */
	binvi t0, t0, 30
	binvi t0, t0, 22
	binvi t0, t0, 21
	binvi t0, t0, 20
	binvi t0, t0, 14
	binvi t0, t0, 12
	addi t0, t0, -0x13
	bnez t0, 1f
	csrr t0, mepc
	addi t0, t0, 4
	csrw mepc, t0
	li a0, -1
	csrr t0, mscratch
	mret
1:	csrr t0, mscratch
	.size trap_exception, . - trap_exception

/* mcause, mepc and mtval say what happened; a debugger finds the core here. */
	.global fatal_exception
	.type fatal_exception, @function
fatal_exception:
	j fatal_exception
	.size fatal_exception, . - fatal_exception

/* The registers that a C function may destroy, and the trap CSRs (so that a
 * more urgent interrupt can come in between). */
	.macro save
	addi sp, sp, -80
	sw ra, 0(sp)
	sw t0, 4(sp)
	sw t1, 8(sp)
	sw t2, 12(sp)
	sw a0, 16(sp)
	sw a1, 20(sp)
	sw a2, 24(sp)
	sw a3, 28(sp)
	sw a4, 32(sp)
	sw a5, 36(sp)
	sw a6, 40(sp)
	sw a7, 44(sp)
	sw t3, 48(sp)
	sw t4, 52(sp)
	sw t5, 56(sp)
	sw t6, 60(sp)
	csrr t0, mepc
	csrr t1, mstatus
	sw t0, 64(sp)
	sw t1, 68(sp)
	.endm

	.macro restore_and_return
	lw t0, 64(sp)
	lw t1, 68(sp)
	csrw mepc, t0
	csrw mstatus, t1
	lw ra, 0(sp)
	lw t0, 4(sp)
	lw t1, 8(sp)
	lw t2, 12(sp)
	lw a0, 16(sp)
	lw a1, 20(sp)
	lw a2, 24(sp)
	lw a3, 28(sp)
	lw a4, 32(sp)
	lw a5, 36(sp)
	lw a6, 40(sp)
	lw a7, 44(sp)
	lw t3, 48(sp)
	lw t4, 52(sp)
	lw t5, 56(sp)
	lw t6, 60(sp)
	addi sp, sp, 80
	mret
	.endm

	.type trap_soft, @function
trap_soft:
	save
	lw t0, soft_irq_handler
	jalr t0
	restore_and_return
	.size trap_soft, . - trap_soft

	.type trap_timer, @function
trap_timer:
	save
	lw t0, timer_irq_handler
	jalr t0
	restore_and_return
	.size trap_timer, . - trap_timer

/* Xh3irq (datasheet 3.8.6.1): 52 interrupts with priorities behind one cause.
 * Reading meinext with bit 0 set picks the most urgent one and raises the level
 * that may preempt; it comes already multiplied by four. */
	.type trap_external, @function
trap_external:
	save
	/* Bit 1 saves mie.MTIE and MSIE in the value read and clears them: the
	 * timer and software interrupts have no priority and would always nest. */
	csrrsi a0, MEICONTEXT, 2
	sw a0, 72(sp)
1:	csrrsi a0, MEINEXT, 1
	bltz a0, 2f                     /* bit 31: no more */
	la t0, irq_handlers
	add t0, t0, a0
	lw t0, (t0)
	csrsi mstatus, 8                /* higher priorities may come in */
	jalr t0
	csrci mstatus, 8
	j 1b
2:	lw a0, 72(sp)
	csrw MEICONTEXT, a0             /* also puts MTIE and MSIE back */
	restore_and_return
	.size trap_external, . - trap_external
