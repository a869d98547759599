/* SHA-256 in hardware: the digest of "abc" (FIPS 180-4), and of a million times
 * "a" with DMA. */
#include "pico2.h"
#include "periph.h"

static void digest(void)
{
	while (!(SHA_CSR & SHA_VALID))
		;
	for (unsigned i = 0; i < 8; i++)
		print("%08x", (unsigned)SHA_SUM(i));
	print("\n");
}

/* The padding of a message of n bytes: a one, zeros, the length in bits. The
 * last block begins with rest bytes that are in block already. */
static void finish(uint8_t *block, unsigned rest, uint32_t n)
{
	block[rest++] = 0x80;
	while (rest < 60)
		block[rest++] = 0;
	for (unsigned i = 0; i < 4; i++)
		block[60 + i] = (uint8_t)(n * 8 >> (24 - 8 * i));
	for (unsigned i = 0; i < 16; i++) {
		while (!(SHA_CSR & SHA_READY))
			;
		SHA_WDATA = ((uint32_t *)(void *)block)[i];
	}
}

static uint8_t block[64] __attribute__((aligned(4)));

int main(void)
{
	SHA_CSR = SHA_START | 1 << 12; /* BSWAP: bytes in the order of memory */
	block[0] = 'a';
	block[1] = 'b';
	block[2] = 'c';
	finish(block, 3, 3);
	digest();

	/* 15625 blocks of 64 bytes, word by word as the block asks for them. */
	static uint32_t as[1] = {0x61616161};
	SHA_CSR = SHA_START | 2 << 8 | 1 << 12; /* DMA in words */
	DMA_READ(0) = (uint32_t)(uintptr_t)as;
	DMA_WRITE(0) = (uint32_t)(uintptr_t)&SHA_WDATA;
	DMA_COUNT(0) = 15625 * 16;
	DMA_CTRL_TRIG(0) = DMA_EN | DMA_SIZE(2u) | DMA_TREQ(54u);
	while (DMA_CTRL(0) & DMA_BUSY)
		;
	while (!(SHA_CSR & SHA_READY))
		;
	finish(block, 0, 1000000);
	digest();
	return 0;
}
