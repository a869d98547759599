/* From reset to main() on a Cortex-M33: vectors, the image definition, memory,
 * coprocessors (datasheet 5.9, 3.6). */
#include "pico2.h"

extern uint32_t __data_begin, __data_end, __data_load, __bss_begin, __bss_end, __stack_top;
void _reset(void);
int main(void);
void board_init(void);

/* A debugger finds the core here; registers and stack say why. */
static void fatal_exception(void)
{
	for (;;)
		__asm__ volatile("bkpt 0");
}

/* Until vectors in RAM take over: the two that matter. */
__attribute__((section(".vectors"), used)) const void *const first_vectors[16] = {
	[0] = &__stack_top, [1] = _reset,          [2] = fatal_exception,
	[3] = fatal_exception, [4] = fatal_exception, [5] = fatal_exception, [6] = fatal_exception,
};

/* An executable for Arm, secure. */
__attribute__((section(".imagedef"), used)) static const uint32_t image_def[5] = {
	0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579,
};

/* The vectors of both cores, which irq_handle changes. */
const void *vectors[16 + IRQ_COUNT] __attribute__((aligned(512)));

void _reset(void)
{
	uint32_t *from = &__data_load;
	for (uint32_t *to = &__data_begin; to < &__data_end;)
		*to++ = *from++;
	for (uint32_t *to = &__bss_begin; to < &__bss_end;)
		*to++ = 0;
	for (unsigned i = 0; i < 16; i++)
		vectors[i] = first_vectors[i] ? first_vectors[i] : (const void *)fatal_exception;
	board_init();
	exit(main());
}
