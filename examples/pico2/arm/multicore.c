/* The second core, as ../multicore.c, with what an Arm core wants: its vectors
 * and its stack. */
#include "pico2.h"

extern const void *vectors[];
extern uint32_t __stack_one_top[];

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

static void core1_main(void)
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
		0, 0, 1, (uint32_t)(uintptr_t)vectors, (uint32_t)(uintptr_t)__stack_one_top, (uint32_t)(uintptr_t)core1_main,
	};
	for (unsigned n = 0; n < 6;) {
		if (words[n] == 0) {
			while (SIO_FIFO_ST & SIO_FIFO_VLD)
				(void)SIO_FIFO_RD;
			send_event();
		}
		fifo_push(words[n]);
		n = fifo_pop() == words[n] ? n + 1 : 0;
	}
}
