/* debugme: something to practise a debugger on. Each part is a place where
 * stepping, breakpoints or watchpoints get interesting. */
#include "pico2.h"

/* --- twenty functions to break on ------------------------------------- */

static volatile uint32_t total;

#define PLACE(n) \
	static void __attribute__((noipa)) place_##n(void) { total += (n); }
PLACE(1) PLACE(2) PLACE(3) PLACE(4) PLACE(5) PLACE(6) PLACE(7) PLACE(8) PLACE(9) PLACE(10)
PLACE(11) PLACE(12) PLACE(13) PLACE(14) PLACE(15) PLACE(16) PLACE(17) PLACE(18) PLACE(19) PLACE(20)

static void __attribute__((noipa)) tour(void)
{
	place_1(); place_2(); place_3(); place_4(); place_5();
	place_6(); place_7(); place_8(); place_9(); place_10();
	place_11(); place_12(); place_13(); place_14(); place_15();
	place_16(); place_17(); place_18(); place_19(); place_20();
}

/* --- the other core ------------------------------------------------------ */

volatile uint32_t shared;      /* core 1 writes it */
volatile uint32_t seen_by_1;   /* what core 1 read of it */
volatile uint32_t core1_turns;

static void core1(void)
{
	for (;;) {
		uint32_t word = fifo_pop();
		shared = word;
		seen_by_1 = shared + 1;
		core1_turns++;
		fifo_push(word);
	}
}

static void __attribute__((noipa)) ask_core1(uint32_t word)
{
	fifo_push(word);
	fifo_pop();
}

/* --- waiting --------------------------------------------------------------- */

static void rang(void) {}

static void __attribute__((noipa)) nap(void)
{
	alarm_at(2, time_us() + 100, rang);
	wait_for_interrupt();
	total++;
}

static void __attribute__((noipa)) longer_nap(void)
{
	sleep_ms(5);
	total++;
}

/* --- an exception, and its handler ----------------------------------------- */

volatile uint32_t ecalls, ecall_cause;

static void __attribute__((interrupt("machine"), aligned(64), noipa)) on_exception(void)
{
	uint32_t pc = csr_read(mepc);
	ecall_cause = csr_read(mcause);
	ecalls++;
	csr_write(mepc, pc + 4);
}

static void __attribute__((noipa)) call_machine(void)
{
	uint32_t state = interrupts_off();
	uint32_t old = csr_read(mtvec);
	csr_write(mtvec, (uint32_t)on_exception);
	__asm__ volatile(".option push\n.option norvc\necall\n.option pop" ::: "memory");
	csr_write(mtvec, old);
	interrupts_restore(state);
}

/* --- code that changes ------------------------------------------------------- */

#define ADDI_A0(n) (0x00050513u | (uint32_t)(n) << 20) /* addi a0, a0, n */
#define RET        0x00008067u

static uint32_t patch[2] __attribute__((aligned(16)));

static uint32_t __attribute__((noipa)) run_patch(uint32_t v)
{
	return ((uint32_t(*)(uint32_t))(uintptr_t)patch)(v);
}

static uint32_t __attribute__((noipa)) self_modify(void)
{
	patch[0] = ADDI_A0(1);
	patch[1] = RET;
	__asm__ volatile("fence.i" ::: "memory");
	uint32_t v = run_patch(40);
	patch[0] = ADDI_A0(2);
	__asm__ volatile("fence rw, rw" ::: "memory");
	return run_patch(v - 1);
}

/* --- a tight loop, and recursion ---------------------------------------------- */

volatile uint32_t go;

static void __attribute__((noipa)) spin(void)
{
	while (!go)
		;
}

/* Built with Zcmp: entry and exit are cm.push and cm.popret. */
static volatile uint32_t deepest;

static uint32_t __attribute__((noipa)) depth(uint32_t n)
{
	if (n == 0)
		return 0;
	uint32_t below = depth(n - 1);
	deepest += below;
	return below + n;
}

volatile uint32_t result;

int main(void)
{
	core1_start(core1);
	tour();
	ask_core1(7);
	ask_core1(8);
	nap();
	longer_nap();
	call_machine();
	result = self_modify();
	print("patched: %u\n", result);
	result = depth(5);
	print("depth: %u\n", result);
	spin();
	print("total %u, core 1 turned %u times, %u ecall\n", total, core1_turns, ecalls);
	return total == 212 && core1_turns == 2 && ecalls == 1 ? 0 : 1;
}
