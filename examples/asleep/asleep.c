/* asleep: both cores sleep and nothing is left that could wake them. */
#include "pico2.h"

static void core1(void)
{
	interrupts_off();
	csr_write(mie, 0);
	for (;;)
		wait_for_interrupt();
}

int main(void)
{
	core1_start(core1);
	print("good night\n");
	uart_flush();
	core1();
}
