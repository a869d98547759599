/* ram: a program that lives in RAM alone; flash keeps what it holds. */
#include "pico2.h"

static uint32_t initialised = 42, zero;

int main(void)
{
	uint32_t here = (uint32_t)(uintptr_t)main;
	print("main is at 0x%08x: %s\n", here, here >= SRAM_BASE ? "RAM" : "not RAM");
	print("data %u, bss %u\n", initialised, zero);
	initialised++;

	/* Self-written code: addi a0, a0, 1; ret. It works after fence.i. */
	static uint32_t code[2] = {0x00150513, 0x00008067};
	int (*add)(int) = (int (*)(int))(uintptr_t)code;
	__asm__ volatile("fence.i" ::: "memory");
	print("written code: %d", add(41));
	code[0] = 0x00250513; /* addi a0, a0, 2 */
	__asm__ volatile("fence.i" ::: "memory");
	print(" %d\n", add(41));
	return 0;
}
