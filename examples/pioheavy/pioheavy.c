/* pioheavy: all twelve state machines of the three PIO blocks at once, fed and
 * emptied by DMA: four LED strips, four serial lines out and four in (GPIO8..11
 * wired to GPIO16..19), while the processor adds up what comes. */
#include "pico2.h"
#include "periph.h"

/* WS2812: 10 cycles a bit, high for 3 or 7 of them. */
static const uint16_t strip[] = {
	0x6221, /* out x, 1 side 0 [2]     */
	0x1223, /* jmp !x 3 side 1 [2]     */
	0x1300, /* jmp 0 side 1 [3]        */
	0xa342, /* nop side 0 [3]          */
};
static const uint16_t send[] = {
	0x9fa0, /* pull side 1 [7]         */
	0xf727, /* set x, 7 side 0 [7]     */
	0x6001, /* loop: out pins, 1       */
	0x0642, /* jmp x-- loop [6]        */
};
static const uint16_t receive[] = {
	0x2020, /* wait 0 pin, 0           */
	0xea27, /* set x, 7 [10]           */
	0x4001, /* loop: in pins, 1        */
	0x0642, /* jmp x-- loop [6]        */
	0x2120, /* wait 1 pin, 0 [1]       */
};

enum { BYTES = 500, PIXELS = 200 };
static uint32_t colours[PIXELS];
static uint32_t out[BYTES];
static uint32_t in[4][BYTES];

static void load(unsigned block, const uint16_t *code, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		PIO_MEM(block, i) = code[i];
}

static void start_dma(unsigned channel, const volatile void *from, const volatile void *to, uint32_t n, uint32_t ctrl)
{
	DMA_READ(channel) = (uint32_t)(uintptr_t)from;
	DMA_WRITE(channel) = (uint32_t)(uintptr_t)to;
	DMA_COUNT(channel) = n;
	DMA_CTRL_TRIG(channel) = DMA_EN | DMA_SIZE(2u) | DMA_CHAIN(channel) | ctrl;
}

int main(void)
{
	for (unsigned i = 0; i < PIXELS; i++)
		colours[i] = (i * 0x010305u) << 8;
	for (unsigned i = 0; i < BYTES; i++)
		out[i] = i * 7 & 0xff;
	load(0, strip, 4);
	load(1, send, 4);
	load(2, receive, 5);
	const uint32_t mbaud = 18u << 16 | 192u << 8;
	for (unsigned n = 0; n < 4; n++) {
		/* Strips on GPIO2..5, 800 kHz: 150 MHz / 18.75 / 10. */
		pin_function(2 + n, FUNC_PIO0);
		PIO_CLKDIV(0, n) = mbaud;
		PIO_EXECCTRL(0, n) = PIO_WRAP(0u, 3u);
		PIO_SHIFTCTRL(0, n) = 1u << 17 | 24u << 25 | 1u << 30; /* autopull at 24, one long FIFO */
		PIO_PINCTRL(0, n) = 1u << 29 | 1u << 26 | (2 + n) << 10 | (2 + n) << 5;
		PIO_INSTR(0, n) = 0xe081;
		PIO_INSTR(0, n) = 0;
		/* Lines out on GPIO8..11 and in on GPIO16..19, 1 Mbaud. */
		pin_function(8 + n, FUNC_PIO1);
		PIO_CLKDIV(1, n) = mbaud;
		PIO_EXECCTRL(1, n) = PIO_WRAP(0u, 3u) | 1u << 30;
		PIO_SHIFTCTRL(1, n) = 1u << 19 | 1u << 30;
		PIO_PINCTRL(1, n) = 2u << 29 | 1u << 26 | 1u << 20 | (8 + n) << 10 | (8 + n) << 5 | (8 + n);
		PIO_INSTR(1, n) = 0xe001;
		PIO_INSTR(1, n) = 0xe081;
		PIO_INSTR(1, n) = 0;
		pin_function(16 + n, FUNC_PIO2);
		PIO_CLKDIV(2, n) = mbaud;
		PIO_EXECCTRL(2, n) = PIO_WRAP(0u, 4u);
		PIO_SHIFTCTRL(2, n) = 1u << 18 | 1u << 16 | 8u << 20 | 1u << 31;
		PIO_PINCTRL(2, n) = (16 + n) << 15;
	}
	for (unsigned n = 0; n < 4; n++) {
		start_dma(n, colours, &PIO_TXF(0, n), PIXELS, DMA_INCR_READ | DMA_TREQ(DREQ_PIO_TX(0u, n)));
		start_dma(4 + n, out, &PIO_TXF(1, n), BYTES, DMA_INCR_READ | DMA_TREQ(DREQ_PIO_TX(1u, n)));
		start_dma(8 + n, &PIO_RXF(2, n), in[n], BYTES, DMA_INCR_WRITE | DMA_TREQ(DREQ_PIO_RX(2u, n)));
	}
	PIO_CTRL(2) = 0xf;
	uint64_t start = time_us();
	PIO_CTRL(0) = 0xf;
	PIO_CTRL(1) = 0xf;
	uint32_t turns = 0;
	for (unsigned n = 0; n < 12; n++)
		while (DMA_CTRL(n) & DMA_BUSY)
			turns++;
	uint32_t us = (uint32_t)(time_us() - start);
	uint32_t wrong = 0;
	for (unsigned n = 0; n < 4; n++)
		for (unsigned i = 0; i < BYTES; i++)
			wrong += in[n][i] >> 24 != out[i];
	print("2000 bytes over four lines, %u wrong\n", wrong);
	/* The strips take longest: 200 pixels of 24 bits of 1.25 us are 6 ms, of
	 * which the last eight wait in the FIFO when DMA is done. */
	print("all done in %u us\n", us / 10 * 10);
	print("the processor went round %s\n", turns > 1000 ? "meanwhile" : "rarely");
	return wrong != 0;
}
