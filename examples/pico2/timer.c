/* Time: TIMER0 counts microseconds in 64 bits and has four alarms. */
#include "pico2.h"

static void (*alarm_fn[4])(void);

uint64_t time_us(void)
{
	/* The halves are read one after the other; again if the low one wrapped. */
	uint32_t hi = TIMER_RAWH, lo;
	for (;;) {
		lo = TIMER_RAWL;
		uint32_t again = TIMER_RAWH;
		if (again == hi)
			return (uint64_t)hi << 32 | lo;
		hi = again;
	}
}

static void fired(unsigned n)
{
	TIMER_INTR = 1u << n; /* write 1 to clear */
	if (alarm_fn[n])
		alarm_fn[n]();
}
static void fired0(void) { fired(0); }
static void fired1(void) { fired(1); }
static void fired2(void) { fired(2); }
static void fired3(void) { fired(3); }

void alarm_at(unsigned n, uint64_t us, void (*fn)(void))
{
	static const irq_handler entry[4] = {fired0, fired1, fired2, fired3};
	alarm_fn[n] = fn;
	irq_handle(IRQ_TIMER0_0 + n, entry[n]);
	REG_SET(TIMER_INTE) = 1u << n;
	irq_enable(IRQ_TIMER0_0 + n, true);
	TIMER_ALARM(n) = (uint32_t)us; /* arms it */
	/* The alarm fires when the counter equals it. If that moment is over, it
	 * would come 71 minutes later: ask for the interrupt by hand. */
	if (time_us() >= us && (TIMER_ARMED & 1u << n)) {
		TIMER_ARMED = 1u << n;
		irq_force(IRQ_TIMER0_0 + n);
	}
}

void sleep_until(uint64_t us)
{
	alarm_at(core_num(), us, 0);
	for (;;) {
		/* wfi wakes on a pending interrupt also while interrupts are off, so
		 * none can slip in between the look at the clock and the sleep. */
		uint32_t on = interrupts_off();
		if (time_us() >= us) {
			interrupts_restore(on);
			return;
		}
		wait_for_interrupt();
		interrupts_restore(on);
	}
}

void sleep_us(uint32_t us) { sleep_until(time_us() + us); }
void sleep_ms(uint32_t ms) { sleep_until(time_us() + (uint64_t)ms * 1000); }
