/* The second core. It waits in the boot ROM, which takes six words from the
 * FIFO between the cores and answers each with itself (datasheet 5.3). */
#include "pico2.h"

extern uint32_t vectors[], __stack_one_top[];
void core1_entry(void);

static void (*core1_fn)(void);

void fifo_push(uint32_t v)
{
	while (!(SIO_FIFO_ST & SIO_FIFO_RDY))
		;
	SIO_FIFO_WR = v;
	send_event();
}

uint32_t fifo_pop(void)
{
	while (!(SIO_FIFO_ST & SIO_FIFO_VLD))
		wait_for_event();
	return SIO_FIFO_RD;
}

/* Core 1 arrives here (core1.S) with gp and sp set. */
void core1_main(void);
void core1_main(void)
{
	irq_init_core();
	core1_fn();
	for (;;)
		wait_for_interrupt();
}

void core1_start(void (*fn)(void))
{
	core1_fn = fn;
	const uint32_t words[6] = {
		0, 0, 1,
		(uint32_t)(uintptr_t)vectors | 1,
		(uint32_t)(uintptr_t)__stack_one_top,
		(uint32_t)(uintptr_t)core1_entry,
	};
	for (unsigned n = 0; n < 6;) {
		if (words[n] == 0) {
			while (SIO_FIFO_ST & SIO_FIFO_VLD)
				(void)SIO_FIFO_RD;
			send_event();
		}
		fifo_push(words[n]);
		/* Any other answer: from the beginning. */
		n = fifo_pop() == words[n] ? n + 1 : 0;
	}
}
