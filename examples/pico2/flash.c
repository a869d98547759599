/* Erasing and programming flash by the functions of the boot ROM.
 *
 * While that happens nothing can be read from flash, so this code and its data
 * are in RAM, interrupts are off, and the other core must stay in RAM, too.
 * The ROM leaves flash in its plain serial mode; a function that the ROM put
 * into boot RAM at start-up sets up fast reading again. */
#include "pico2.h"

typedef void (*rom_void)(void);
typedef void (*rom_erase)(uint32_t offset, uint32_t n, uint32_t block, uint8_t command);
typedef void (*rom_program)(uint32_t offset, const uint8_t *data, uint32_t n);

#define XIP_SETUP_WORDS 64
#define BLOCK_SIZE      65536u
#define BLOCK_ERASE     0xd8

/* The ROM's functions are looked up before flash goes away. */
static struct {
	rom_void connect, exit_xip, flush;
	rom_erase erase;
	rom_program program;
	uint32_t xip_setup[XIP_SETUP_WORDS];
} rom;

static void prepare(void)
{
	rom.connect = (rom_void)rom_function(ROM_CODE('I', 'F'));
	rom.exit_xip = (rom_void)rom_function(ROM_CODE('E', 'X'));
	rom.flush = (rom_void)rom_function(ROM_CODE('F', 'C'));
	rom.erase = (rom_erase)rom_function(ROM_CODE('R', 'E'));
	rom.program = (rom_program)rom_function(ROM_CODE('R', 'P'));
	for (unsigned n = 0; n < XIP_SETUP_WORDS; n++)
		rom.xip_setup[n] = REG(BOOTRAM_BASE + 4 * n);
	__asm__ volatile("fence.i" ::: "memory");
}

IN_RAM static void operate(uint32_t offset, const void *data, uint32_t n)
{
	rom.connect();
	rom.exit_xip();
	if (data)
		rom.program(offset, data, n);
	else
		rom.erase(offset, n, BLOCK_SIZE, BLOCK_ERASE);
	rom.flush();
	((rom_void)(uintptr_t)rom.xip_setup)();
}

static void locked(uint32_t offset, const void *data, uint32_t n)
{
	prepare();
	uint32_t on = interrupts_off();
	while (!BOOTLOCK(BOOTLOCK_FLASH))
		;
	operate(offset, data, n);
	BOOTLOCK(BOOTLOCK_FLASH) = 0;
	interrupts_restore(on);
}

void flash_erase(uint32_t offset, uint32_t n) { locked(offset, 0, n); }

void flash_program(uint32_t offset, const void *data, uint32_t n) { locked(offset, data, n); }
