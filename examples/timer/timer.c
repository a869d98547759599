/* timer: alarms, a repeating alarm that does not drift, and the machine timer
 * of the RISC-V privileged specification. */
#include "pico2.h"

static volatile uint32_t beats, machine_ticks;
static volatile bool once;
static uint64_t next_beat;

/* A new alarm is set from the old one's time, not from now: no drift. */
static void beat(void)
{
	beats++;
	next_beat += 10000;
	if (beats < 10)
		alarm_at(2, next_beat, beat);
}

static void one_shot(void) { once = true; }

static uint64_t mtime(void)
{
	uint32_t hi, lo;
	do {
		hi = SIO_MTIMEH;
		lo = SIO_MTIME;
	} while (hi != SIO_MTIMEH);
	return (uint64_t)hi << 32 | lo;
}

static void mtime_at(uint64_t t)
{
	SIO_MTIMECMP = 0xffffffff; /* never in between */
	SIO_MTIMECMPH = (uint32_t)(t >> 32);
	SIO_MTIMECMP = (uint32_t)t;
}

static void machine_timer(void)
{
	if (++machine_ticks < 5) {
		mtime_at(mtime() + 1000);
		return;
	}
	SIO_MTIMECMPH = 0xffffffff;
	SIO_MTIMECMP = 0xffffffff;
}

int main(void)
{
	uint64_t begin = time_us();
	sleep_ms(5);
	uint32_t slept = (uint32_t)(time_us() - begin);
	print("slept 5 ms: %s\n", slept >= 5000 && slept < 5100 ? "yes" : "no");

	alarm_at(3, time_us() + 1500, one_shot);
	while (!once)
		wait_for_interrupt();
	print("one-shot alarm fired\n");

	/* An alarm in the past must fire at once. */
	once = false;
	alarm_at(3, time_us() - 10, one_shot);
	while (!once)
		;
	print("late alarm fired\n");

	next_beat = time_us() + 10000;
	uint64_t first = next_beat;
	alarm_at(2, next_beat, beat);
	while (beats < 10)
		wait_for_interrupt();
	uint32_t took = (uint32_t)(time_us() - first);
	print("10 beats, 9 intervals of 10 ms: %s\n", took >= 90000 && took < 90100 ? "no drift" : "drift");

	/* mtime counts the 1 us ticks once FULLSPEED is off. */
	SIO_MTIME_CTRL = 1;
	timer_irq_handler = machine_timer;
	mtime_at(mtime() + 1000);
	csr_set(mie, 1u << 7);
	while (machine_ticks < 5)
		wait_for_interrupt();
	print("machine timer ticked %u times\n", machine_ticks);
	return 0;
}
