/* flash: erases a sector, programs it, and shows what flash memory is like:
 * programming only turns ones into zeros. A counter survives every reset. */
#include "pico2.h"

#define SECTOR  (4u * 1024 * 1024 - FLASH_SECTOR) /* the last one of 4 MiB */
#define COUNTER (SECTOR - FLASH_SECTOR)

static uint8_t page[FLASH_PAGE];

static const volatile uint8_t *at(uint32_t offset) { return (const volatile uint8_t *)(uintptr_t)(XIP_BASE + offset); }

static bool is(uint32_t offset, uint32_t n, uint8_t value)
{
	while (n--)
		if (at(offset++)[0] != value)
			return false;
	return true;
}

int main(void)
{
	flash_erase(SECTOR, FLASH_SECTOR);
	print("erased: %s\n", is(SECTOR, FLASH_SECTOR, 0xff) ? "all ones" : "wrong");

	for (unsigned n = 0; n < FLASH_PAGE; n++)
		page[n] = (uint8_t)n;
	flash_program(SECTOR, page, FLASH_PAGE);
	bool same = true;
	for (unsigned n = 0; n < FLASH_PAGE; n++)
		same &= at(SECTOR)[n] == n;
	print("programmed: %s\n", same && is(SECTOR + FLASH_PAGE, FLASH_PAGE, 0xff) ? "one page, the rest untouched" : "wrong");

	/* Again without erasing: each bit becomes the AND of old and new. */
	memset(page, 0x0f, sizeof page);
	flash_program(SECTOR, page, FLASH_PAGE);
	bool anded = true;
	for (unsigned n = 0; n < FLASH_PAGE; n++)
		anded &= at(SECTOR)[n] == (n & 0x0f);
	print("programmed again: %s\n", anded ? "zeros stay zeros" : "wrong");

	flash_erase(SECTOR, FLASH_SECTOR);
	print("erased again: %s\n", is(SECTOR, FLASH_SECTOR, 0xff) ? "all ones" : "wrong");

	/* A counter in unary: each run clears one more bit, with no erase. */
	uint32_t runs = 0;
	while (runs < 8 * FLASH_PAGE && !(at(COUNTER)[runs / 8] >> runs % 8 & 1))
		runs++;
	memset(page, 0xff, sizeof page);
	page[runs / 8] = (uint8_t)~(1u << runs % 8);
	flash_program(COUNTER, page, FLASH_PAGE);
	print("this program has run %u times on this board\n", runs + 1);
	return 0;
}
