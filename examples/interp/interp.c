/* The interpolators of SIO: shifted and masked lanes, a table look-up of one
 * pixel after the other, blending, and clamping (datasheet 3.1.10). */
#include "pico2.h"
#include "periph.h"

#define SHIFT(n)      (n)
#define MASK(lo, hi)  ((lo) << 5 | (hi) << 10)
#define SIGNED        (1u << 15)
#define CROSS_INPUT   (1u << 16)
#define CROSS_RESULT  (1u << 17)
#define BLEND         (1u << 21)
#define INTERP1_ACCUM(l) REG(0xd00000c0 + 4 * (l))
#define INTERP1_BASE(l)  REG(0xd00000c8 + 4 * (l))
#define INTERP1_PEEK(l)  REG(0xd00000e0 + 4 * (l))
#define INTERP1_CTRL(l)  REG(0xd00000ec + 4 * (l))
#define CLAMP            (1u << 22)

int main(void)
{
	/* Lane 0 takes the low 16 bits, lane 1 counts by its base. */
	INTERP_CTRL(0) = SHIFT(4u) | MASK(0u, 7u);
	INTERP_CTRL(1) = MASK(0u, 31u);
	INTERP_ACCUM(0) = 0x12345678;
	INTERP_BASE(0) = 0x1000;
	INTERP_ACCUM(1) = 100;
	INTERP_BASE(1) = 5;
	INTERP_BASE(2) = 1;
	print("peek %x %u %x\n", (unsigned)INTERP_PEEK(0), (unsigned)INTERP_PEEK(1), (unsigned)INTERP_PEEK(2));
	for (unsigned i = 0; i < 3; i++)
		print("pop %u\n", (unsigned)INTERP_POP(1));
	/* Fibonacci: each lane gives its result to the other one. */
	INTERP_CTRL(0) = MASK(0u, 31u) | CROSS_RESULT;
	INTERP_CTRL(1) = MASK(0u, 31u) | CROSS_RESULT;
	INTERP_ACCUM(0) = 0;
	INTERP_ACCUM(1) = 1;
	INTERP_BASE(0) = 0;
	INTERP_BASE(1) = 0;
	INTERP_BASE(2) = 0;
	uint32_t a = 0, b = 1;
	print("fibonacci");
	for (unsigned i = 0; i < 8; i++) {
		INTERP_ACCUM(0) = a;
		INTERP_ACCUM(1) = b;
		uint32_t c = INTERP_PEEK(2);
		a = b;
		b = c;
		print(" %u", c);
	}
	/* A point a quarter of the way from 1000 to 500. */
	INTERP_CTRL(0) = BLEND;
	INTERP_CTRL(1) = MASK(0u, 7u);
	INTERP_BASE(0) = 1000;
	INTERP_BASE(1) = 500;
	INTERP_ACCUM(1) = 64;
	print("\nblend %u\n", (unsigned)INTERP_PEEK(1));
	/* Values kept between -10 and 10. */
	INTERP1_CTRL(0) = CLAMP | MASK(0u, 31u) | SIGNED;
	INTERP1_BASE(0) = (uint32_t)-10;
	INTERP1_BASE(1) = 10;
	print("clamp");
	for (int v = -20; v <= 20; v += 15) {
		INTERP1_ACCUM(0) = (uint32_t)v;
		print(" %d", (int)INTERP1_PEEK(0));
	}
	print("\n");
	return 0;
}
