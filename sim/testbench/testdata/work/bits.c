/* Bit manipulation: counts, rotates, single bits, byte swaps, and a checksum. */
#include <stdint.h>
void plat_puts(const char *s);
void plat_exit(int code);

#ifndef ROUNDS
#define ROUNDS 400000
#endif

static void hex(uint32_t v)
{
	char s[10];
	for (int i = 0; i < 8; i++)
		s[i] = "0123456789abcdef"[v >> (28 - 4 * i) & 15];
	s[8] = '\n', s[9] = 0;
	plat_puts(s);
}

int main(void)
{
	uint32_t x = 0x12345678, h = 0;
	for (int i = 0; i < ROUNDS; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		h += __builtin_popcount(x) + __builtin_clz(x | 1) + __builtin_ctz(x | 0x80000000);
		h = h << 7 | h >> 25;
		h ^= __builtin_bswap32(x);
		h |= 1u << (x & 31);
		h &= ~(1u << (x >> 5 & 31));
		h += (int32_t)x > (int32_t)h ? x : h;
		h ^= x & ~h;
	}
	hex(h);
	plat_exit(0);
	return 0;
}
