/* HSTX: words that leave a pin bit by bit with a clock beside them, how fast DMA
 * can feed them, and a colour as a DVI cable carries it. Data GPIO12, clock GPIO13. */
#include "pico2.h"
#include "periph.h"

static uint32_t words[256];

static void drain(void)
{
	while (!(HSTX_STAT & HSTX_EMPTY))
		;
	sleep_us(2); /* the last word is still in the shift register */
}

int main(void)
{
	pin_function(12, FUNC_HSTX);
	pin_function(13, FUNC_HSTX);
	CLK_HSTX_DIV = 3u << 16; /* 50 MHz */
	CLK_HSTX_CTRL = 1u << 11;

	/* Eight shifts by one to the left; the pin shows the top bit. */
	HSTX_BIT(0) = 31u << 8 | 31u;
	HSTX_BIT(1) = HSTX_BIT_CLK;
	HSTX_CSR = 1u << 28 | 8u << 16 | 31u << 8 | HSTX_EN;
	HSTX_FIFO = 0xa5u << 24;
	HSTX_FIFO = 0x3cu << 24;
	drain();

	/* 256 words of 8 bits: 2048 bits at 50 MHz. */
	for (unsigned i = 0; i < 256; i++)
		words[i] = i << 24;
	STOPWATCH_SOURCE = 1;
	uint32_t start = STOPWATCH;
	DMA_READ(0) = (uint32_t)(uintptr_t)words;
	DMA_WRITE(0) = (uint32_t)(uintptr_t)&HSTX_FIFO;
	DMA_COUNT(0) = 256;
	DMA_CTRL_TRIG(0) = DMA_EN | DMA_SIZE(2u) | DMA_INCR_READ | DMA_TREQ(DREQ_HSTX);
	while (DMA_CTRL(0) & DMA_BUSY || !(HSTX_STAT & HSTX_EMPTY))
		;
	uint32_t ns = (STOPWATCH - start) / 3 * 20;
	print("2048 bits in %u us\n", (ns + 500) / 1000);
	drain();

	/* Three pixels, of which lane 0 alone is shown, least significant bit first:
	 * ten bits for each of 0x00, 0x00 and 0xff. */
	HSTX_CSR = 0;
	HSTX_BIT(0) = 0;
	HSTX_TMDS = 7u << 5;                          /* lane 0: eight bits, as they are */
	HSTX_SHIFT = 1u << 24 | 1u << 8;              /* one word for each symbol */
	HSTX_CSR = 1u << 28 | 10u << 16 | 1u << 8 | HSTX_EXPAND | HSTX_EN;
	HSTX_FIFO = HSTX_CMD_TMDS | 3;
	HSTX_FIFO = 0x00;
	HSTX_FIFO = 0x00;
	HSTX_FIFO = 0xff;
	drain();
	print("three pixels sent\n");
	return 0;
}
