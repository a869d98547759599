/* DMA: a copy, a list of copies that one channel makes another one do, a ring, a
 * checksum on the way, and a channel that is paced by a timer. */
#include "pico2.h"
#include "periph.h"

static uint32_t words[64], copy[64] __attribute__((aligned(256)));
static const char text[] __attribute__((aligned(4))) = "123456789";
static char out[32];

static const struct {
	uint32_t length;
	const char *from;
} list[] = {{6, "hello "}, {5, "from "}, {3, "DMA"}, {0, 0}};

static volatile unsigned interrupts;

static void on_dma(void)
{
	DMA_INTS0 = DMA_INTS0;
	interrupts++;
}

static void wait(unsigned channel)
{
	while (DMA_CTRL(channel) & DMA_BUSY)
		;
}

int main(void)
{
	for (unsigned i = 0; i < 64; i++)
		words[i] = i * 0x01010101u;
	irq_handle(IRQ_DMA_0, on_dma);
	DMA_INTE0 = 1;
	irq_enable(IRQ_DMA_0, true);
	const uint32_t words_up = DMA_EN | DMA_SIZE(2u) | DMA_INCR_READ | DMA_INCR_WRITE | DMA_TREQ(DMA_TREQ_NOW);
	DMA_READ(0) = (uint32_t)(uintptr_t)words;
	DMA_WRITE(0) = (uint32_t)(uintptr_t)copy;
	DMA_COUNT(0) = 64;
	DMA_CTRL_TRIG(0) = words_up;
	wait(0);
	unsigned same = 0;
	for (unsigned i = 0; i < 64; i++)
		same += copy[i] == words[i];
	print("copied %u words, %u interrupt\n", same, interrupts);

	/* Channel 1 writes length and source of each copy into channel 2, whose end
	 * starts channel 1 again; a zero ends it. */
	DMA_WRITE(2) = (uint32_t)(uintptr_t)out;
	DMA_CTRL(2) = DMA_EN | DMA_INCR_READ | DMA_INCR_WRITE | DMA_CHAIN(1u) | DMA_TREQ(DMA_TREQ_NOW);
	DMA_READ(1) = (uint32_t)(uintptr_t)list;
	DMA_WRITE(1) = (uint32_t)(uintptr_t)&DMA_COUNT(2) + 0x30; /* the alias whose last word triggers */
	DMA_COUNT(1) = 2;
	DMA_CTRL_TRIG(1) = DMA_EN | DMA_SIZE(2u) | DMA_INCR_READ | DMA_INCR_WRITE | DMA_RING_WRITE(3u) |
		DMA_CHAIN(1u) | DMA_TREQ(DMA_TREQ_NOW);
	sleep_us(20);
	print("%s\n", out);

	/* CRC-32 of "123456789", bit-reversed as everybody's. */
	DMA_SNIFF_CTRL = 1 | 3 << 1 | 1 << 5 | 1 << 10 | 1 << 11;
	DMA_SNIFF_DATA = 0xffffffff;
	DMA_READ(3) = (uint32_t)(uintptr_t)text;
	DMA_WRITE(3) = (uint32_t)(uintptr_t)out;
	DMA_COUNT(3) = 9;
	DMA_CTRL_TRIG(3) = DMA_EN | DMA_INCR_READ | DMA_SNIFF | DMA_CHAIN(3u) | DMA_TREQ(DMA_TREQ_NOW);
	wait(3);
	print("crc %x\n", (unsigned)DMA_SNIFF_DATA);

	/* One transfer in 150 cycles: a microsecond each. */
	DMA_TIMER(0) = 1u << 16 | 150;
	DMA_READ(4) = (uint32_t)(uintptr_t)words;
	DMA_WRITE(4) = (uint32_t)(uintptr_t)copy;
	DMA_COUNT(4) = 1000;
	uint64_t before = time_us();
	DMA_CTRL_TRIG(4) = DMA_EN | DMA_SIZE(2u) | DMA_CHAIN(4u) | DMA_TREQ(DMA_TREQ_TIMER0);
	wait(4);
	uint32_t took = (uint32_t)(time_us() - before);
	print("1000 paced transfers in %s\n", took >= 999 && took <= 1001 ? "1000 us" : "another time");

	/* As fast as it can: one transfer a cycle. */
	STOPWATCH_SOURCE = 1;
	DMA_READ(5) = (uint32_t)(uintptr_t)words;
	DMA_WRITE(5) = (uint32_t)(uintptr_t)copy;
	DMA_COUNT(5) = 10000;
	uint32_t start = STOPWATCH;
	DMA_CTRL_TRIG(5) = DMA_EN | DMA_SIZE(2u) | DMA_CHAIN(5u) | DMA_TREQ(DMA_TREQ_NOW);
	wait(5);
	uint32_t cycles = STOPWATCH - start;
	print("10000 transfers in %s\n", cycles >= 10000 && cycles < 10050 ? "10000 cycles" : "other cycles");
	return 0;
}
