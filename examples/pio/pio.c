/* PIO: a square wave of exact length, a serial line that one machine sends and
 * another one receives, and flags between machines. GPIO2 is wired to GPIO3. */
#include "pico2.h"
#include "periph.h"

/* Assembled by hand (datasheet 11.4); the comments are the source. */
static const uint16_t square[] = {
	0xe101, /* set pins, 1 [1] */
	0xe000, /* set pins, 0     */
};

/* 8 bits, least significant first, a start bit and a stop bit, 8 cycles each. */
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
	0xc010, /* irq nowait 0 rel        */
};

static void load(unsigned block, unsigned at, const uint16_t *code, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint16_t in = code[i];
		if (in >> 13 == 0) /* a jump's target */
			in = (uint16_t)(in + at);
		PIO_MEM(block, at + i) = in;
	}
}

int main(void)
{
	/* 150 MHz / 12.5 = 12 MHz, three cycles a period: 4 MHz. */
	pin_function(10, FUNC_PIO0);
	load(0, 0, square, 2);
	PIO_CLKDIV(0, 0) = 12u << 16 | 128u << 8;
	PIO_EXECCTRL(0, 0) = PIO_WRAP(0u, 1u);
	PIO_PINCTRL(0, 0) = 1u << 26 | 10u << 5; /* SET: one pin, GPIO10 */
	PIO_INSTR(0, 0) = 0xe081;                /* set pindirs, 1 */
	PIO_CTRL(0) = 1;
	print("square wave on GPIO10\n");

	/* A line of 1 Mbaud: 8 cycles a bit at 8 MHz. */
	pin_function(2, FUNC_PIO0);
	pin_function(3, FUNC_PIO0);
	load(0, 8, send, 4);
	load(0, 16, receive, 5);
	const uint32_t divider = 18u << 16 | 192u << 8; /* 18.75 */
	PIO_CLKDIV(0, 1) = divider;
	PIO_EXECCTRL(0, 1) = PIO_WRAP(8u, 11u) | 1u << 30; /* SIDE_EN */
	PIO_SHIFTCTRL(0, 1) = 1u << 19;                     /* OUT to the right */
	PIO_PINCTRL(0, 1) = 2u << 29 | 1u << 26 | 1u << 20 | 2u << 10 | 2u << 5 | 2u;
	PIO_INSTR(0, 1) = 0xe001; /* set pins, 1: the line is idle */
	PIO_INSTR(0, 1) = 0xe081;
	PIO_INSTR(0, 1) = 8;      /* jmp 8 */
	PIO_CLKDIV(0, 2) = divider;
	PIO_EXECCTRL(0, 2) = PIO_WRAP(16u, 20u);
	PIO_SHIFTCTRL(0, 2) = 1u << 18 | 1u << 16 | 8u << 20; /* IN to the right, autopush at 8 */
	PIO_PINCTRL(0, 2) = 3u << 15;
	PIO_INSTR(0, 2) = 16;
	REG_SET(PIO_CTRL(0)) = 6 | 6 << 8; /* both, their dividers in step */

	static const char text[] = "PIO says hello";
	for (const char *s = text; *s; s++) {
		while (PIO_FSTAT(0) & PIO_TXFULL(1))
			;
		PIO_TXF(0, 1) = (uint8_t)*s;
		while (PIO_FSTAT(0) & PIO_RXEMPTY(2))
			;
		uart_putc((char)(PIO_RXF(0, 2) >> 24));
	}
	/* Each byte raised flag 0 relative to machine 2. */
	sleep_us(10);
	print("\nflags %x\n", (unsigned)PIO_IRQ(0));
	return 0;
}
