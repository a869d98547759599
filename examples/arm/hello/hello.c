/* hello for the Cortex-M33: what a program does from reset to main() on Arm, in
 * one file: vectors, image definition, data and bss, the coprocessors, clocks,
 * ticks, the UART, an alarm that wakes the core, and the second core.
 * build.sh builds hello.elf from it. */
#include <stdint.h>

#define REG(a) (*(volatile uint32_t *)(a))
#define SET(a) REG((a) + 0x2000)
#define CLR(a) REG((a) + 0x3000)

enum {
	RESETS = 0x40020000, CLOCKS = 0x40010000, XOSC = 0x40048000, PLL_SYS = 0x40050000, PLL_USB = 0x40058000,
	TICKS = 0x40108000, IO_BANK0 = 0x40028000, PADS = 0x40038000, UART0 = 0x40070000, TIMER0 = 0x400b0000,
	PSM = 0x40018000, SIO = (int)0xd0000000, VTOR = (int)0xe000ed08, CPACR = (int)0xe000ed88,
	NVIC_ISER0 = (int)0xe000e100,
};
enum { LED = 25, TIMER_IRQ = 0 };

extern uint32_t data_begin, data_end, data_load, bss_begin, bss_end, stack_top, core1_stack_top;
void reset(void);
int main(void);
static void fault(void) { for (;;) __asm__ volatile("bkpt 0"); }
static void on_timer(void);

__attribute__((section(".vectors"), used)) const void *const vectors[16 + 52] = {
	[0] = &stack_top, [1] = reset, [2] = fault, [3] = fault, [4] = fault, [5] = fault, [6] = fault,
	[16 + TIMER_IRQ] = on_timer,
};

/* An executable for Arm, secure (datasheet 5.9.3). */
__attribute__((section(".imagedef"), used)) const uint32_t image_def[5] = {
	0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579,
};

/* Vectors that can be changed at run time live in RAM. */
static const void *ram_vectors[16 + 52] __attribute__((aligned(512)));

static void wait_for(uint32_t address, uint32_t bits)
{
	while ((REG(address) & bits) != bits)
		;
}

static void unreset(uint32_t bits)
{
	CLR(RESETS) = bits;
	wait_for(RESETS + 8, bits);
}

static void pll(uint32_t base, uint32_t reset_bit, uint32_t fbdiv, uint32_t postdiv)
{
	SET(RESETS) = reset_bit;
	unreset(reset_bit);
	REG(base) = 1;
	REG(base + 8) = fbdiv;
	CLR(base + 4) = 0x21;
	wait_for(base, 1u << 31);
	REG(base + 12) = postdiv;
	CLR(base + 4) = 8;
}

/* XOSC 12 MHz, clk_sys 150 MHz from PLL_SYS, clk_usb 48 MHz, clk_peri from clk_sys. */
static void clocks_init(void)
{
	REG(CLOCKS + 0x84) = 0;
	REG(XOSC) = 0xaa0;
	REG(XOSC + 0xc) = 282;
	SET(XOSC) = 0xfab << 12;
	wait_for(XOSC + 4, 1u << 31);
	CLR(CLOCKS + 0x3c) = 1;
	while (REG(CLOCKS + 0x44) != 1)
		;
	CLR(CLOCKS + 0x30) = 3;
	while (REG(CLOCKS + 0x38) != 1)
		;
	pll(PLL_SYS, 1 << 14, 125, 5 << 16 | 2 << 12);
	pll(PLL_USB, 1 << 15, 100, 5 << 16 | 5 << 12);
	REG(CLOCKS + 0x30) = 2;
	wait_for(CLOCKS + 0x38, 4);
	REG(CLOCKS + 0x3c) = 0;
	SET(CLOCKS + 0x3c) = 1;
	wait_for(CLOCKS + 0x44, 2);
	REG(CLOCKS + 0x48) = 1 << 11;
	for (unsigned n = 0; n < 6; n++) {
		REG(TICKS + 12 * n + 4) = 12;
		REG(TICKS + 12 * n) = 1;
	}
}

static void putc(char c)
{
	while (REG(UART0 + 0x18) & 0x20)
		;
	REG(UART0) = (uint8_t)c;
}

static void puts(const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			putc('\r');
		putc(*s);
	}
}

static void putu(uint32_t v)
{
	if (v >= 10)
		putu(v / 10);
	putc('0' + v % 10);
}

static void uart_init(void)
{
	SET(RESETS) = 1 << 26;
	unreset(1 << 26);
	REG(UART0 + 0x24) = 81; /* 115200 from 150 MHz */
	REG(UART0 + 0x28) = 24;
	REG(UART0 + 0x2c) = 0x70;
	REG(UART0 + 0x30) = 0x301;
	for (unsigned pin = 0; pin < 2; pin++) {
		REG(PADS + 4 + 4 * pin) = 0x56;
		REG(IO_BANK0 + 4 + 8 * pin) = 2;
		CLR(PADS + 4 + 4 * pin) = 1 << 8;
	}
}

/* --- time -------------------------------------------------------------- */

static volatile uint32_t alarms;

static void on_timer(void)
{
	REG(TIMER0 + 0x3c) = 1;
	alarms++;
}

/* Sleeps in WFE until the alarm's interrupt. */
static void sleep_us(uint32_t us)
{
	uint32_t seen = alarms;
	REG(TIMER0 + 0x10) = REG(TIMER0 + 0x28) + us;
	while (alarms == seen)
		__asm__ volatile("wfe");
}

/* --- the GPIO coprocessor (datasheet 3.6.1): set and clear one output ---- */

static void led(int on)
{
	__asm__ volatile("mcrr p0, #4, %0, %1, c0" ::"r"(LED), "r"(on));
}

/* --- the other core ------------------------------------------------------- */

static volatile uint32_t from_core1;

static void core1_main(void)
{
	float f = 1.5f;
	for (int n = 0; n < 3; n++)
		f = f * f; /* its own FPU */
	from_core1 = (uint32_t)f;
	__asm__ volatile("dmb\n\tsev");
	for (;;)
		__asm__ volatile("wfe");
}

static void core1_entry(void)
{
	REG(CPACR) |= 0x00f0c303;
	__asm__ volatile("dsb\n\tisb");
	core1_main();
}

/* The boot ROM's handshake (datasheet 5.3): each word is echoed. */
static void core1_start(void)
{
	const uint32_t words[6] = {0, 0, 1, (uint32_t)ram_vectors, (uint32_t)&core1_stack_top, (uint32_t)core1_entry};
	for (unsigned i = 0; i < 6;) {
		if (words[i] == 0) {
			while (REG(SIO + 0x50) & 1)
				(void)REG(SIO + 0x58);
			__asm__ volatile("sev");
		}
		wait_for(SIO + 0x50, 2);
		REG(SIO + 0x54) = words[i];
		__asm__ volatile("sev");
		while (!(REG(SIO + 0x50) & 1))
			__asm__ volatile("wfe");
		i = REG(SIO + 0x58) == words[i] ? i + 1 : 0;
	}
}

/* --- the beginning ---------------------------------------------------------- */

void reset(void)
{
	uint32_t *from = &data_load;
	for (uint32_t *to = &data_begin; to < &data_end;)
		*to++ = *from++;
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	/* GPIO (0), double precision (4), redundancy (7) and the FPU (10, 11). */
	REG(CPACR) |= 0x00f0c303;
	__asm__ volatile("dsb\n\tisb");
	for (unsigned i = 0; i < 16 + 52; i++)
		ram_vectors[i] = vectors[i];
	REG(VTOR) = (uint32_t)ram_vectors;
	SET(RESETS) = 0x0fef3b7f & ~(1u << 7 | 1u << 10);
	unreset(0x03f3fff6);
	clocks_init();
	unreset(0x1fffffff);
	REG(TIMER0 + 0x40) = 1;
	REG(NVIC_ISER0) = 1 << TIMER_IRQ;
	uart_init();
	int status = main();
	wait_for(UART0 + 0x18, 0x80);
	while (REG(UART0 + 0x18) & 8)
		;
	/* Semihosting: the end of the program, with its status. */
	const uint32_t block[2] = {0x20026, (uint32_t)status};
	register uint32_t r0 __asm__("r0") = 0x20, r1 __asm__("r1") = (uint32_t)block;
	__asm__ volatile("bkpt 0xab" ::"r"(r0), "r"(r1) : "memory");
	for (;;)
		__asm__ volatile("wfi");
}

int main(void)
{
	puts("Hello from a Cortex-M33\n  ");
	uint32_t canary;
	__asm__ volatile("mrc p7, #1, %0, c0, c0, #0" : "=r"(canary));
	puts(canary == 0xa500a500 ? "the redundancy coprocessor has its salt\n" : "no salt\n");
	REG(PADS + 4 + 4 * LED) = 0x56;
	REG(IO_BANK0 + 4 + 8 * LED) = 5;
	REG(SIO + 0x38) = 1u << LED;
	CLR(PADS + 4 + 4 * LED) = 1 << 8;
	for (int n = 1; n <= 3; n++) {
		led(n & 1);
		sleep_us(100000);
		puts("  ");
		putu(n * 100);
		puts(" ms  LED ");
		puts(REG(SIO + 0x10) >> LED & 1 ? "on\n" : "off\n");
	}
	core1_start();
	while (!from_core1)
		__asm__ volatile("wfe");
	puts("  core 1 says ");
	putu(from_core1);
	puts("\n");
	return alarms == 3 && from_core1 == 25 ? 0 : 1;
}
