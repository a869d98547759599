/* watchdog: feeds it, starves it, and finds out after the reset. */
#include "pico2.h"

enum { MAGIC = 0x57445354 };

int main(void)
{
	uint32_t reason = WATCHDOG_REASON;
	/* The scratch registers survive a watchdog reset, not a power cycle. */
	if (WATCHDOG_SCRATCH(0) != MAGIC) {
		print("power-up, reason %u\n", reason);
		WATCHDOG_SCRATCH(0) = MAGIC;
		WATCHDOG_SCRATCH(1) = 0;
	}
	uint32_t boots = ++WATCHDOG_SCRATCH(1);
	if (boots > 1)
		print("boot %u after the watchdog, reason %u\n", boots, reason);
	if (boots == 3) {
		WATCHDOG_SCRATCH(0) = 0;
		print("enough\n");
		return 0;
	}
	watchdog_start(20000);
	for (unsigned n = 0; n < 10; n++) {
		sleep_ms(10);
		watchdog_feed(20000);
	}
	print("fed for 100 ms, now it starves\n");
	uart_flush();
	for (;;)
		wait_for_interrupt();
}
