/* The end of a program, and semihosting: bkpt 0xab with the operation in r0. */
#include "pico2.h"

#define SYS_EXIT_EXTENDED 0x20
#define APPLICATION_EXIT  0x20026u

int semihost(int operation, const void *argument)
{
	register uintptr_t r0 __asm__("r0") = (uintptr_t)operation;
	register uintptr_t r1 __asm__("r1") = (uintptr_t)argument;
	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return (int)r0;
}

void exit(int status)
{
	uart_flush();
	const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
	semihost(SYS_EXIT_EXTENDED, block);
	interrupts_off();
	for (;;)
		wait_for_interrupt();
}
