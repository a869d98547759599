/* irq: forced interrupts, priorities, preemption, the software interrupt, and a
 * pin that interrupts the core which drives it. */
#include "pico2.h"

/* Three interrupts that no hardware uses, by rising priority. */
enum { A = IRQ_SPARE_0, B, C };
enum { PIN = 2, EDGE_HIGH = 8 };

/* What happened, in order: small letter in, capital letter out. */
static char trail[32];
static volatile unsigned length;
static void note(char c) { trail[length++] = c; }

/* The interrupt that a handler forces while it runs; 0 for none. */
static volatile unsigned a_forces, c_forces;

static void in_a(void)
{
	note('a');
	if (a_forces)
		irq_force(a_forces);
	note('A');
}

static void in_b(void)
{
	note('b');
	note('B');
}

static void in_c(void)
{
	note('c');
	if (c_forces)
		irq_force(c_forces);
	note('C');
}

static void in_soft(void)
{
	SIO_RISCV_SOFTIRQ = 1u << (8 + core_num()); /* the upper byte clears */
	note('s');
}

static void in_pin(void)
{
	IO_INTR(PIN) = EDGE_HIGH << 4 * (PIN % 8); /* edges are latched until cleared */
	note('p');
}

static void show(const char *what)
{
	trail[length] = 0;
	print("%s %s\n", what, trail);
	length = 0;
}

int main(void)
{
	static const struct {
		unsigned irq, priority;
		irq_handler fn;
	} spare[] = {{A, 4, in_a}, {B, 8, in_b}, {C, 12, in_c}};
	for (unsigned n = 0; n < 3; n++) {
		irq_handle(spare[n].irq, spare[n].fn);
		irq_priority(spare[n].irq, spare[n].priority);
		irq_enable(spare[n].irq, true);
	}

	uint32_t on = interrupts_off();
	irq_force(A);
	irq_force(B);
	irq_force(C);
	note('.');
	interrupts_restore(on);
	show("the most urgent first:  ");

	a_forces = C;
	irq_force(A);
	show("C comes in while A runs:");
	a_forces = 0;

	c_forces = A;
	irq_force(C);
	show("A waits until C is done:");

	soft_irq_handler = in_soft;
	csr_set(mie, 1u << 3);
	SIO_RISCV_SOFTIRQ = 1u << core_num();
	while (!length)
		;
	show("software interrupt:     ");

	/* A pin can be read while it is driven, so it can interrupt its driver. */
	pin_output(PIN);
	irq_handle(IRQ_IO_BANK0, in_pin);
	REG_SET(PROC0_INTE(PIN)) = EDGE_HIGH << 4 * (PIN % 8);
	irq_enable(IRQ_IO_BANK0, true);
	for (char c = '1'; c <= '3'; c++) {
		note(c);
		pin_put(PIN, true);
		sleep_us(10);
		pin_put(PIN, false);
		sleep_us(10);
	}
	show("rising edges of a pin:  ");
	return 0;
}
