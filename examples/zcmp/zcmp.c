/* zcmp: compiled with the Zcmp extension, whose cm.push and cm.popret save and
 * restore many registers in one instruction of 16 bits. */
#include "pico2.h"

/* Enough live values for many saved registers, and deep recursion. */
static uint32_t __attribute__((noinline)) mix(uint32_t depth, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	if (depth == 0)
		return a ^ b ^ c ^ d;
	uint32_t x = mix(depth - 1, b + depth, c, d, a);
	uint32_t y = mix(depth - 1, c, d ^ x, a, b);
	uint32_t z = depth > 4 ? mix(depth - 2, x, y, a, b) : 0;
	return (x << 5 | x >> 27) + y * 3 + z + a - b + c - d;
}

static uint32_t __attribute__((noinline)) ackermann(uint32_t m, uint32_t n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

/* Insertion sort through a function pointer. */
static int __attribute__((noinline)) compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void __attribute__((noinline)) sort(int *v, unsigned n, int (*cmp)(const void *, const void *))
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned j = i; j > 0 && cmp(&v[j - 1], &v[j]) > 0; j--) {
			int t = v[j];
			v[j] = v[j - 1];
			v[j - 1] = t;
		}
}

int main(void)
{
	print("mix %08x\n", mix(10, 1, 2, 3, 4));
	print("ackermann(2, 9) = %u\n", ackermann(2, 9));
	int v[] = {5, -3, 12, 0, 7, -8, 1};
	sort(v, sizeof v / sizeof *v, compare);
	for (unsigned n = 0; n < sizeof v / sizeof *v; n++)
		print("%d%c", v[n], n + 1 < sizeof v / sizeof *v ? ' ' : '\n');
	return 0;
}
