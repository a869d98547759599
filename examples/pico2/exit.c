/* The end of a program. */
#include "pico2.h"

#define SYS_EXIT_EXTENDED      0x20
#define APPLICATION_EXIT       0x20026u

void exit(int status)
{
	uart_flush();
	const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
	semihost(SYS_EXIT_EXTENDED, block);
	/* Nobody answered: sleep for ever. */
	interrupts_off();
	csr_write(mie, 0);
	for (;;)
		wait_for_interrupt();
}
