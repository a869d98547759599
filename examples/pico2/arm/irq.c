/* Interrupts through the NVIC (Arm v8-M B3). */
#include "pico2.h"

extern const void *vectors[16 + IRQ_COUNT];

void irq_init_core(void)
{
	/* GPIO (0), double precision (4), redundancy (7) coprocessors and the FPU. */
	SCB_CPACR |= 0x00f0c303;
	SCB_VTOR = (uint32_t)(uintptr_t)vectors;
	__asm__ volatile("dsb\n\tisb");
	for (unsigned w = 0; w < 2; w++) {
		NVIC_ICER(w) = ~0u;
		NVIC_ICPR(w) = ~0u;
	}
	for (unsigned n = 0; n < IRQ_COUNT; n++)
		NVIC_IPR(n) = 0x80;
	__asm__ volatile("cpsie i");
}

void irq_handle(unsigned irq, irq_handler fn) { vectors[16 + irq] = (const void *)fn; }

void irq_enable(unsigned irq, bool on)
{
	if (on) {
		NVIC_ICPR(irq / 32) = 1u << irq % 32;
		NVIC_ISER(irq / 32) = 1u << irq % 32;
	} else {
		NVIC_ICER(irq / 32) = 1u << irq % 32;
	}
	__asm__ volatile("dsb\n\tisb");
}

/* The NVIC counts the other way round, in the upper four bits. */
void irq_priority(unsigned irq, unsigned priority) { NVIC_IPR(irq) = (uint8_t)((15 - priority) << 4); }

void irq_force(unsigned irq) { NVIC_ISPR(irq / 32) = 1u << irq % 32; }
