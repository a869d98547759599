/* SPI: a device of registers in mode 3, with how long the bits take. SCK GPIO18,
 * TX GPIO19, RX GPIO16, chip select GPIO17 by software. */
#include "pico2.h"
#include "periph.h"

static uint8_t exchange(uint8_t v)
{
	while (!(SPI_SR & SPI_TNF))
		;
	SPI_DR = v;
	while (!(SPI_SR & SPI_RNE))
		;
	return (uint8_t)SPI_DR;
}

static uint8_t get(uint8_t reg)
{
	pin_put(17, false);
	exchange(0x80 | reg);
	uint8_t v = exchange(0);
	pin_put(17, true);
	return v;
}

static void put(uint8_t reg, uint8_t v)
{
	pin_put(17, false);
	exchange(reg);
	exchange(v);
	pin_put(17, true);
}

int main(void)
{
	pin_function(16, FUNC_SPI);
	pin_function(18, FUNC_SPI);
	pin_function(19, FUNC_SPI);
	pin_output(17);
	pin_put(17, true);
	/* 150 MHz / 10 / 15 = 1 MHz, 8 bits, clock idles high, second edge. */
	SPI_CPSR = 10;
	SPI_CR0 = 14u << 8 | 1u << 7 | 1u << 6 | 7;
	SPI_CR1 = 2;
	print("who am I: %x\n", get(0x0f));
	put(0x20, 0x5a);
	put(0x21, 0xa5);
	print("registers: %x %x\n", get(0x20), get(0x21));
	/* One select, eight registers: the address counts by itself. */
	pin_put(17, false);
	exchange(0x80 | 0x28);
	uint32_t sum = 0;
	for (unsigned i = 0; i < 8; i++)
		sum += exchange(0);
	pin_put(17, true);
	print("sum of eight: %u\n", sum);
	/* 8 bits back to back: eight of them in 64 us. */
	STOPWATCH_SOURCE = 1;
	uint32_t start = STOPWATCH;
	for (unsigned i = 0; i < 8; i++)
		SPI_DR = i;
	while (SPI_SR & SPI_BSY)
		;
	uint32_t us = (STOPWATCH - start + 75) / 150;
	print("64 bits in %u us\n", us);
	return us >= 64 && us <= 70 ? 0 : 1;
}
