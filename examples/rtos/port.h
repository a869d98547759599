/* What the kernel needs of an architecture: how a task is interrupted and
 * another one resumed, the tick, and the call of the other core. */
#ifndef PORT_H
#define PORT_H

#include "pico2.h"

#define TICK_HZ 1000u
#define SIO_DOORBELL_IN REG(0xd0000188)

/* The kernel's side. */
uint32_t *kernel_switch(uint32_t *sp); /* keeps sp for the present task, returns the next one's */
void kernel_tick(void);

#ifdef __riscv
/* A task's registers on its stack: pc, x1, x3..x31, mstatus. */
#define FRAME 32

static inline void yield(void) { __asm__ volatile("ecall" ::: "memory"); }

static inline uint32_t *frame_make(uint32_t *top, void (*fn)(void *), void *arg, void (*end)(void))
{
	uint32_t *f = top - FRAME;
	uint32_t gp;
	__asm__("mv %0, gp" : "=r"(gp));
	for (unsigned i = 0; i < FRAME; i++)
		f[i] = 0;
	f[0] = (uint32_t)(uintptr_t)fn;
	f[1] = (uint32_t)(uintptr_t)end;
	f[2] = gp;
	f[9] = (uint32_t)(uintptr_t)arg; /* a0 is x10 */
	f[31] = 0x1880;                  /* mstatus: machine mode, interrupts on */
	return f;
}

uint32_t *port_trap(uint32_t *sp, uint32_t cause);

/* Every trap: all registers to the stack, the kernel says whose stack is next. */
__attribute__((naked, aligned(64), section(".ram_text"))) static void trap(void)
{
	__asm__ volatile(
		"addi sp, sp, -128\n"
		"sw x1, 4(sp)\n sw x3, 8(sp)\n sw x4, 12(sp)\n sw x5, 16(sp)\n sw x6, 20(sp)\n sw x7, 24(sp)\n"
		"sw x8, 28(sp)\n sw x9, 32(sp)\n sw x10, 36(sp)\n sw x11, 40(sp)\n sw x12, 44(sp)\n sw x13, 48(sp)\n"
		"sw x14, 52(sp)\n sw x15, 56(sp)\n sw x16, 60(sp)\n sw x17, 64(sp)\n sw x18, 68(sp)\n sw x19, 72(sp)\n"
		"sw x20, 76(sp)\n sw x21, 80(sp)\n sw x22, 84(sp)\n sw x23, 88(sp)\n sw x24, 92(sp)\n sw x25, 96(sp)\n"
		"sw x26, 100(sp)\n sw x27, 104(sp)\n sw x28, 108(sp)\n sw x29, 112(sp)\n sw x30, 116(sp)\n sw x31, 120(sp)\n"
		"csrr t0, mepc\n sw t0, 0(sp)\n csrr t0, mstatus\n sw t0, 124(sp)\n"
		"mv a0, sp\n csrr a1, mcause\n call port_trap\n"
		".globl port_resume\n port_resume:\n"
		"mv sp, a0\n"
		"lw t0, 124(sp)\n csrw mstatus, t0\n lw t0, 0(sp)\n csrw mepc, t0\n"
		"lw x1, 4(sp)\n lw x3, 8(sp)\n lw x4, 12(sp)\n lw x5, 16(sp)\n lw x6, 20(sp)\n lw x7, 24(sp)\n"
		"lw x8, 28(sp)\n lw x9, 32(sp)\n lw x11, 40(sp)\n lw x12, 44(sp)\n lw x13, 48(sp)\n"
		"lw x14, 52(sp)\n lw x15, 56(sp)\n lw x16, 60(sp)\n lw x17, 64(sp)\n lw x18, 68(sp)\n lw x19, 72(sp)\n"
		"lw x20, 76(sp)\n lw x21, 80(sp)\n lw x22, 84(sp)\n lw x23, 88(sp)\n lw x24, 92(sp)\n lw x25, 96(sp)\n"
		"lw x26, 100(sp)\n lw x27, 104(sp)\n lw x28, 108(sp)\n lw x29, 112(sp)\n lw x30, 116(sp)\n lw x31, 120(sp)\n"
		"lw x10, 36(sp)\n addi sp, sp, 128\n mret\n");
}

static void tick_set(void)
{
	/* Two word writes: the upper half is out of reach in between. */
	uint64_t next = ((uint64_t)SIO_MTIMEH << 32 | SIO_MTIME) + 1000000 / TICK_HZ;
	SIO_MTIMECMPH = ~0u;
	SIO_MTIMECMP = (uint32_t)next;
	SIO_MTIMECMPH = (uint32_t)(next >> 32);
}

/* Interrupts as Xh3irq gives them, calls as ecall: mepc goes on behind it. */
uint32_t *port_trap(uint32_t *sp, uint32_t cause)
{
	if (cause == 11) {
		sp[0] += 4;
		return kernel_switch(sp);
	}
	if (cause != 0x8000000b)
		for (;;)
			__asm__ volatile("ebreak");
	bool turn = false;
	for (;;) {
		uint32_t n;
		__asm__ volatile("csrrsi %0, 0xbe4, 1" : "=r"(n)::"memory"); /* meinext */
		if (n >> 31)
			break;
		if (n / 4 == IRQ_MTIMECMP) {
			tick_set();
			kernel_tick();
			turn = true;
		} else if (n / 4 == IRQ_SIO_BELL) {
			SIO_DOORBELL_IN_CLR = 1;
			turn = true;
		}
	}
	return turn ? kernel_switch(sp) : sp;
}

/* Starts the first task of this core; the first core has the tick. */
static inline void port_start(uint32_t *sp)
{
	interrupts_off();
	csr_write(mtvec, (uint32_t)(uintptr_t)trap);
	irq_enable(IRQ_SIO_BELL, true);
	if (core_num() == 0) {
		REG(0xd00001a4) = 1; /* mtime counts microseconds */
		tick_set();
		irq_enable(IRQ_MTIMECMP, true);
	}
	__asm__ volatile("mv a0, %0\n la t0, port_resume\n jr t0" ::"r"(sp));
}

#else /* Arm v8-M */
/* r4..r11 and the return code, below what the exception has put there. */
#define FRAME 17

static inline void yield(void)
{
	SCB_ICSR = 1u << 28; /* PendSV */
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

static inline uint32_t *frame_make(uint32_t *top, void (*fn)(void *), void *arg, void (*end)(void))
{
	uint32_t *f = top - FRAME - 1; /* keeps eight bytes */
	for (unsigned i = 0; i < FRAME; i++)
		f[i] = 0;
	f[8] = 0xfffffffd; /* to a thread, on its own stack, without floats */
	f[9] = (uint32_t)(uintptr_t)arg;
	f[14] = (uint32_t)(uintptr_t)end;
	f[15] = (uint32_t)(uintptr_t)fn & ~1u;
	f[16] = 1u << 24;
	return f;
}

/* PendSV is the least urgent exception: it switches when nothing else is to do. */
__attribute__((naked)) static void pendsv(void)
{
	__asm__ volatile(
		"mrs r0, psp\n"
		"mov r3, lr\n"
		"stmdb r0!, {r3}\n stmdb r0!, {r4-r11}\n"
		"cpsid i\n bl kernel_switch\n cpsie i\n"
		"ldmia r0!, {r4-r11}\n ldmia r0!, {r3}\n"
		"msr psp, r0\n bx r3\n");
}

/* SVC starts the first task: its stack pointer is in r0. */
__attribute__((naked)) static void svc(void)
{
	__asm__ volatile(
		"mrs r1, msp\n ldr r0, [r1]\n"
		"ldmia r0!, {r4-r11}\n ldmia r0!, {r3}\n"
		"msr psp, r0\n bx r3\n");
}

static void on_tick(void)
{
	kernel_tick();
	SCB_ICSR = 1u << 28;
}

static void on_bell(void)
{
	SIO_DOORBELL_IN_CLR = 1;
	SCB_ICSR = 1u << 28;
}

extern const void *vectors[];

static inline void port_start(uint32_t *sp)
{
	vectors[11] = (const void *)svc;
	vectors[14] = (const void *)pendsv;
	vectors[15] = (const void *)on_tick;
	irq_handle(IRQ_SIO_BELL, on_bell);
	SCB_SHPR3 = 0xe0f00000; /* PendSV below SysTick */
	irq_enable(IRQ_SIO_BELL, true);
	if (core_num() == 0) {
		SYST_RVR = CLK_SYS_HZ / TICK_HZ - 1;
		SYST_CVR = 0;
		SYST_CSR = 7;
	}
	register uint32_t *r0 __asm__("r0") = sp;
	__asm__ volatile("svc 0" ::"r"(r0) : "memory");
}
#endif

/* Makes the other core look for something to do. */
static inline void call_other_core(void) { SIO_DOORBELL_OUT_SET = 1; }

#endif
