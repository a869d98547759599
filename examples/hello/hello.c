/* hello: the board introduces itself, both cores work, the LED blinks. */
#include "pico2.h"

/* Core 1: counts the primes below each number that arrives. */
static void count_primes(void)
{
	for (;;) {
		uint32_t limit = fifo_pop(), count = 0;
		for (uint32_t n = 2; n < limit; n++) {
			uint32_t d = 2;
			while (d * d <= n && n % d)
				d++;
			count += d * d > n;
		}
		fifo_push(count);
	}
}

int main(void)
{
	uint32_t id = SYSINFO_CHIP_ID;
	print("Hello from a Pico 2!\n");
	print("  chip    RP2350, revision %u, part %04x\n", id >> 28, id >> 12 & 0xffff);
	print("  core 0  Hazard3 RISC-V at %u MHz\n", CLK_SYS_HZ / 1000000);

	core1_start(count_primes);
	print("  core 1  is up and counts primes\n");

	pin_output(LED_PIN);
	uint64_t begin = time_us(), next = begin;
	for (uint32_t tick = 1; tick <= 4; tick++) {
		fifo_push(tick * 1000);
		pin_put(LED_PIN, tick & 1);
		next += 250000;
		sleep_until(next);
		print("  %u ms  LED %s  %3u primes below %u\n",
		      (uint32_t)(time_us() - begin) / 1000, pin_get(LED_PIN) ? "on " : "off",
		      fifo_pop(), tick * 1000);
	}
	print("Goodbye.\n");
	return 0;
}
