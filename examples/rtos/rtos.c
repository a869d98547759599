/* rtos: a small preemptive kernel on both cores, with the mechanisms that
 * FreeRTOS's ports for this chip use: a tick from a timer interrupt, a yield by
 * an exception (ecall, PendSV), a doorbell to the other core, and spinlocks made
 * of atomic instructions. port.h has what differs between the architectures. */
#include "port.h"

enum { TASKS = 6, STACK = 256 };

struct task {
	uint32_t *sp;
	uint32_t wake; /* tick at which it goes on, 0 if it is ready */
	int core;      /* that runs it, -1 if none does */
	uint32_t runs[2];
	uint32_t stack[STACK] __attribute__((aligned(8)));
};

static struct task tasks[TASKS + 2]; /* the last two idle */
static struct task *current[2];
static volatile uint32_t now;
static unsigned last;

/* --- spinlocks --------------------------------------------------------------- */

typedef volatile uint32_t spinlock;

static inline void lock(spinlock *l)
{
	while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
		;
}
static inline void unlock(spinlock *l) { __atomic_store_n(l, 0, __ATOMIC_RELEASE); }

static spinlock kernel_lock;

/* --- the scheduler ----------------------------------------------------------- */

/* The next ready task after the one that was chosen last; interrupts are off. */
uint32_t *kernel_switch(uint32_t *sp)
{
	uint32_t me = core_num();
	lock(&kernel_lock);
	struct task *t = current[me];
	t->sp = sp;
	t->core = -1;
	t = &tasks[TASKS + me];
	for (unsigned i = 1; i <= TASKS; i++) {
		struct task *c = &tasks[(last + i) % TASKS];
		if (c->core < 0 && (c->wake == 0 || (int32_t)(now - c->wake) >= 0)) {
			last = (unsigned)(c - tasks);
			c->wake = 0;
			t = c;
			break;
		}
	}
	t->core = (int)me;
	t->runs[me]++;
	current[me] = t;
	uint32_t *next = t->sp;
	unlock(&kernel_lock);
	return next;
}

void kernel_tick(void)
{
	now++;
	call_other_core();
}

static void delay(uint32_t ticks)
{
	uint32_t on = interrupts_off();
	current[core_num()]->wake = now + ticks;
	interrupts_restore(on);
	yield();
}

static void idle(void *arg)
{
	(void)arg;
	for (;;)
		wait_for_interrupt();
}

static void ended(void)
{
	for (;;)
		delay(1000000);
}

static void make(unsigned n, void (*fn)(void *), void *arg)
{
	struct task *t = &tasks[n];
	t->core = -1;
	t->sp = frame_make(t->stack + STACK, fn, arg, ended);
}

static void start(void)
{
	struct task *t = &tasks[TASKS + core_num()];
	current[core_num()] = t;
	t->core = (int)core_num();
	port_start(t->sp);
}

/* --- the program -------------------------------------------------------------- */

static spinlock count_lock;
static uint32_t shared, finished, sum;
static volatile uint32_t queue[4], head, tail;
static spinlock queue_lock;

/* Counts under a lock without ever giving way by itself. */
static void counter(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t on = interrupts_off();
		lock(&count_lock);
		shared++;
		unlock(&count_lock);
		interrupts_restore(on);
	}
	__atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
}

static void producer(void *arg)
{
	(void)arg;
	for (uint32_t v = 1; v <= 200;) {
		uint32_t on = interrupts_off();
		lock(&queue_lock);
		if (head - tail < 4)
			queue[head++ % 4] = v++;
		unlock(&queue_lock);
		interrupts_restore(on);
		yield();
	}
	__atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
}

static void consumer(void *arg)
{
	(void)arg;
	for (unsigned n = 0; n < 200;) {
		uint32_t on = interrupts_off();
		lock(&queue_lock);
		if (head != tail) {
			sum += queue[tail++ % 4];
			n++;
		}
		unlock(&queue_lock);
		interrupts_restore(on);
		yield();
	}
	__atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
}

static void sleeper(void *arg)
{
	(void)arg;
	uint64_t began = time_us();
	for (unsigned i = 0; i < 10; i++)
		delay(5);
	uint32_t ms = (uint32_t)((time_us() - began + 500) / 1000);
	while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) < 5)
		delay(2);
	uint32_t runs[2] = {0, 0};
	for (unsigned i = 0; i < TASKS; i++)
		for (unsigned c = 0; c < 2; c++)
			runs[c] += tasks[i].runs[c];
	print("counted to %u under a lock\n", shared);
	print("the queue carried a sum of %u\n", sum);
	print("10 delays of 5 ticks: %s\n", ms >= 50 && ms <= 62 ? "on time" : "late");
	print("both cores switched tasks: %s\n", runs[0] > 5 && runs[1] > 5 ? "yes" : "no");
	exit(shared == 60000 && sum == 20100 ? 0 : 1);
}

int main(void)
{
	make(0, counter, 0);
	make(1, counter, 0);
	make(2, counter, 0);
	make(3, producer, 0);
	make(4, consumer, 0);
	make(5, sleeper, 0);
	make(TASKS, idle, 0);
	make(TASKS + 1, idle, 0);
	core1_start(start);
	start();
	return 1;
}
