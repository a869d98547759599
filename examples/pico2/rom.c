/* The boot ROM's table of functions (datasheet 5.4). */
#include "pico2.h"

/* Half-words at fixed places of the ROM hold the addresses of its look-ups. */
#define ROM_LOOKUP_DATA 0x7df8u
#define ROM_LOOKUP_FUNC 0x7dfau
#define MASK_RISCV      0x0001u
#define MASK_DATA       0x0040u

typedef void *(*lookup)(uint32_t code, uint32_t mask);
typedef int (*state_reset)(uint32_t flags);

static void *look_up(uint32_t at, uint32_t code, uint32_t mask)
{
	/* The compiler must not know the address: it takes those near 0 for errors. */
	__asm__("" : "+r"(at));
	return ((lookup)(uintptr_t) * (const uint16_t *)(uintptr_t)at)(code, mask);
}

void *rom_function(uint32_t code) { return look_up(ROM_LOOKUP_FUNC, code, MASK_RISCV); }
void *rom_data(uint32_t code) { return look_up(ROM_LOOKUP_DATA, code, MASK_DATA); }

void rom_init(void)
{
	state_reset reset = (state_reset)rom_function(ROM_CODE('S', 'R'));
	if (reset) {
		reset(4); /* global state */
		reset(1); /* this core's */
	}
	for (unsigned n = 0; n < 8; n++)
		BOOTLOCK(n) = 0;
	/* With this lock claimed the ROM insists on the lock of each resource. */
	while (!BOOTLOCK(BOOTLOCK_ENABLE))
		;
}
