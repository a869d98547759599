/* Interrupts through Xh3irq, the interrupt controller inside the Hazard3 core
 * (datasheet 3.8.6.1). Its CSRs are arrays seen through a window: the low bits
 * of what is written choose 16 interrupts (or 4 priorities), the high half
 * acts on them. */
#include "pico2.h"

#define MIE_SOFT  (1u << 3)
#define MIE_TIMER (1u << 7)
#define MIE_EXT   (1u << 11)

/* The table that vectors.S calls through. One for both cores. */
irq_handler irq_handlers[IRQ_COUNT];
irq_handler soft_irq_handler, timer_irq_handler;

static uint32_t window(unsigned irq) { return irq / 16 | 1u << (16 + irq % 16); }

void irq_init_core(void)
{
	for (uint32_t w = 0; w < 4; w++) {
		csr_write(0xbe2, w); /* meifa: nothing forced */
		csr_write(0xbe0, w); /* meiea: nothing enabled */
	}
	csr_write(mie, MIE_EXT);
	csr_set(mstatus, 8);
}

void irq_handle(unsigned irq, irq_handler fn) { irq_handlers[irq] = fn; }

void irq_enable(unsigned irq, bool on)
{
	if (on) {
		csr_clear(0xbe2, window(irq));
		csr_set(0xbe0, window(irq));
	} else {
		csr_clear(0xbe0, window(irq));
	}
}

void irq_priority(unsigned irq, unsigned priority)
{
	uint32_t w = irq / 4, shift = 16 + 4 * (irq % 4);
	csr_clear(0xbe3, w | 0xfu << shift);
	csr_set(0xbe3, w | priority << shift);
}

void irq_force(unsigned irq) { csr_set(0xbe2, window(irq)); }
