/* POWMAN: the always-on timer and its alarm as an interrupt; a dormant chip that
 * a button at GPIO14 wakes; and the core domain switched off until the alarm,
 * after which the chip boots again and finds what it kept. */
#include "pico2.h"
#include "periph.h"

#define POWMAN_STATE       POWMAN(0x38)
#define POWMAN_LAST_PWRUP  POWMAN(0xa0)
#define POWMAN_SCRATCH(n)  POWMAN(0xb0 + 4 * (n))
#define TIMER_ALARM_ON     (1u << 4)
#define TIMER_PWRUP        (1u << 5)
#define TIMER_FIRED        (1u << 6)
#define XOSC_DORMANT       REG(0x40048008)
#define IO_DORMANT_INTE(n) REG(0x400282d8 + 4 * ((n) / 8))

static volatile bool rang;

static uint32_t timer_bits(void) { return POWMAN_TIMER & 0x33u; }

static void on_alarm(void)
{
	POWMAN_TIMER = POWMAN_PASSWORD | (timer_bits() & ~TIMER_ALARM_ON) | TIMER_FIRED;
	rang = true;
}

static uint32_t now_ms(void) { return POWMAN_TIME_LOWER; }

static void alarm_ms(uint32_t ms, uint32_t how)
{
	POWMAN_TIMER = POWMAN_PASSWORD | (timer_bits() & ~TIMER_ALARM_ON);
	POWMAN_ALARM(0) = POWMAN_PASSWORD;
	POWMAN_ALARM(1) = POWMAN_PASSWORD;
	POWMAN_ALARM(2) = POWMAN_PASSWORD | ms >> 16;
	POWMAN_ALARM(3) = POWMAN_PASSWORD | (ms & 0xffff);
	POWMAN_TIMER = POWMAN_PASSWORD | timer_bits() | how;
}

static void first_boot(void)
{
	for (unsigned i = 0; i < 4; i++)
		POWMAN_SET_TIME(i) = POWMAN_PASSWORD;
	POWMAN_TIMER = POWMAN_PASSWORD | 1u << 8 | 1u << 1; /* from the low-power oscillator, run */
	uint64_t start = time_us();
	irq_handle(IRQ_POWMAN_TIMER, on_alarm);
	POWMAN_INTE = 1u << 1;
	irq_enable(IRQ_POWMAN_TIMER, true);
	alarm_ms(now_ms() + 250, TIMER_ALARM_ON);
	while (!rang)
		wait_for_interrupt();
	irq_enable(IRQ_POWMAN_TIMER, false);
	print("woken after %u ms\n", (unsigned)((time_us() - start + 500) / 1000));
	uart_flush();

	/* Dormant: the crystal stops, and the chip with it. */
	pin_function(14, FUNC_SIO);
	REG_SET(PAD(14)) = 1u << 3; /* pull up */
	REG_CLR(PAD(14)) = 1u << 2;
	sleep_us(10);
	IO_INTR(14) = 0xfu << 24;
	IO_DORMANT_INTE(14) = 4u << 24; /* a falling edge */
	uint64_t before = time_us();
	uint32_t at = now_ms();
	XOSC_DORMANT = 0x636f6d61; /* "coma" */
	while (!(XOSC_STATUS & XOSC_STABLE))
		;
	IO_DORMANT_INTE(14) = 0;
	print("dormant for %s of the always-on timer, %u ms of the others\n",
		now_ms() - at > 200 ? "a while" : "no time", (unsigned)((time_us() - before) / 1000));
	uart_flush();

	/* Everything off but the always-on domain. */
	POWMAN_SCRATCH(0) = now_ms();
	POWMAN_SCRATCH(1) = 0x600d;
	alarm_ms(now_ms() + 500, TIMER_ALARM_ON | TIMER_PWRUP);
	POWMAN_STATE = POWMAN_PASSWORD | 0xfu << 4;
	for (;;)
		wait_for_interrupt();
}

int main(void)
{
	if (POWMAN_SCRATCH(1) != 0x600d)
		first_boot();
	uint32_t off = now_ms() - POWMAN_SCRATCH(0);
	print("powered up by the %s after %s\n", POWMAN_LAST_PWRUP & 1u << 6 ? "alarm" : "wrong reason",
		off >= 500 && off < 510 ? "500 ms" : "another time");
	return 0;
}
