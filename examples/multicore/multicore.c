/* multicore: the ways two cores meet: FIFO, doorbells, atomic operations,
 * a lock in memory. */
#include "pico2.h"

enum { ROUNDS = 1000, BELLS = 50 };

static uint32_t counter, locked_counter;
static volatile uint32_t rung, answered;

/* Core 1 counts each ring and rings back. */
static void bell1(void)
{
	SIO_DOORBELL_IN_CLR = 1;
	rung++;
	SIO_DOORBELL_OUT_SET = 2;
}

static void bell0(void)
{
	SIO_DOORBELL_IN_CLR = 2;
	answered++;
}

/* A lock by lr.w and sc.w. */
static uint32_t lock;
static void take(void)
{
	uint32_t failed, seen;
	do {
		__asm__ volatile(
			"lr.w.aq %1, (%2)\n"
			"bnez    %1, 1f\n"
			"sc.w    %0, %3, (%2)\n"
			"j       2f\n"
			"1: li   %0, 1\n"
			"2:\n"
			: "=&r"(failed), "=&r"(seen)
			: "r"(&lock), "r"(1)
			: "memory");
	} while (failed);
}
static void give(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

/* Both cores do this at the same time. */
static void count(void)
{
	for (unsigned n = 0; n < ROUNDS; n++) {
		__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
		take();
		locked_counter++;
		give();
	}
}

static void core1(void)
{
	irq_handle(IRQ_SIO_BELL, bell1);
	irq_enable(IRQ_SIO_BELL, true);
	for (;;) {
		uint32_t word = fifo_pop();
		if (word == 0)
			break;
		fifo_push(word * word + core_num());
	}
	count();
	fifo_push(1);
}

int main(void)
{
	core1_start(core1);
	print("core 1 answers");
	for (uint32_t n = 1; n <= 5; n++) {
		fifo_push(n);
		print(" %u", fifo_pop());
	}
	print("\n");

	/* One handler table serves both cores, so core 0 takes its bell by hand. */
	for (unsigned n = 0; n < BELLS; n++) {
		SIO_DOORBELL_OUT_SET = 1;
		while (!(SIO_DOORBELL_IN_SET & 2))
			;
		bell0();
	}
	print("doorbells: %u rung, %u answered\n", rung, answered);

	fifo_push(0);
	count();
	fifo_pop();
	print("atomic counter: %u\n", counter);
	print("locked counter: %u\n", locked_counter);
	return counter == 2 * ROUNDS && locked_counter == 2 * ROUNDS ? 0 : 1;
}
