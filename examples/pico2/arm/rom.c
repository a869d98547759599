/* The boot ROM's table of functions (datasheet 5.4), as Arm code finds it. */
#include "pico2.h"

#define ROM_LOOKUP_VALUE 0x16u
#define ROM_LOOKUP_FUNC  0x18u
#define MASK_ARM_SECURE  0x0004u
#define MASK_DATA        0x0040u

typedef void *(*lookup)(uint32_t code, uint32_t mask);
typedef int (*state_reset)(uint32_t flags);

static void *look_up(uint32_t at, uint32_t code, uint32_t mask)
{
	/* The compiler must not know the address: it takes those near 0 for errors. */
	__asm__("" : "+r"(at));
	return ((lookup)(uintptr_t) * (const uint16_t *)(uintptr_t)at)(code, mask);
}

void *rom_function(uint32_t code) { return look_up(ROM_LOOKUP_VALUE, code, MASK_ARM_SECURE); }
void *rom_data(uint32_t code) { return look_up(ROM_LOOKUP_FUNC, code, MASK_DATA); }

void rom_init(void)
{
	state_reset reset = (state_reset)rom_function(ROM_CODE('S', 'R'));
	if (reset) {
		reset(4);
		reset(1);
	}
}
