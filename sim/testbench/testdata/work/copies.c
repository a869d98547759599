/* Block copies: words, bytes and fills over 16 KiB, and a checksum. */
#include <stdint.h>
void plat_puts(const char *s);
void plat_exit(int code);

#ifndef ROUNDS
#define ROUNDS 200
#endif

static uint32_t a[4096], b[4096];

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
	uint32_t sum = 0;
	for (int i = 0; i < 4096; i++)
		a[i] = i * 2654435761u;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 4096; i += 4) {
			uint32_t p = a[i], q = a[i + 1], r = a[i + 2], s = a[i + 3];
			b[i] = p, b[i + 1] = q, b[i + 2] = r, b[i + 3] = s;
		}
		const volatile uint8_t *from = (uint8_t *)b + 1;
		volatile uint8_t *to = (uint8_t *)a;
		for (int i = 0; i < 8000; i++)
			to[i] = from[i];
		for (int i = 3000; i < 4000; i++)
			((volatile uint32_t *)b)[i] = round;
		for (int i = 0; i < 4096; i += 16)
			sum = sum * 31 + a[i] + b[i];
	}
	hex(sum);
	plat_exit(0);
	return 0;
}
