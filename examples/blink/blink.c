/* blink: the LED goes on and off for ever. The core sleeps in between. */
#include "pico2.h"

int main(void)
{
	pin_output(LED_PIN);
	uint64_t next = time_us();
	for (bool on = true;; on = !on) {
		pin_put(LED_PIN, on);
		print("LED %s\n", on ? "on" : "off");
		next += 500000;
		sleep_until(next);
	}
}
