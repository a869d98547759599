/* The RP2350 from reset to main() and back, for both architectures: memory,
 * clocks (150 MHz from the crystal), UART0 at 115200 8N1 on GPIO0, the end. */
#include <stdint.h>

#define REG(a) (*(volatile uint32_t *)(a))
#define SET(a) REG((a) + 0x2000)
#define CLR(a) REG((a) + 0x3000)

#define RESETS   0x40020000u
#define CLOCKS   0x40010000u
#define XOSC     0x40048000u
#define PLL_SYS  0x40050000u
#define IO_BANK0 0x40028000u
#define PADS     0x40038000u
#define UART0    0x40070000u

extern uint32_t data_begin, data_end, data_load, bss_begin, bss_end;
int main(void);
void start(void) __attribute__((noreturn));

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

static void clocks_start(void)
{
	REG(CLOCKS + 0x84) = 0; /* no resuscitation */
	REG(XOSC) = 0xaa0;
	REG(XOSC + 0xc) = 282;
	SET(XOSC) = 0xfabu << 12;
	wait_for(XOSC + 4, 1u << 31);
	CLR(CLOCKS + 0x3c) = 1; /* clk_sys and clk_ref off the PLL, one-hot SELECTED */
	while (REG(CLOCKS + 0x44) != 1)
		;
	CLR(CLOCKS + 0x30) = 3;
	while (REG(CLOCKS + 0x38) != 1)
		;
	SET(RESETS) = 1u << 14;
	unreset(1u << 14);
	REG(PLL_SYS) = 1;
	REG(PLL_SYS + 8) = 125; /* 12 MHz * 125 / (5 * 2) */
	CLR(PLL_SYS + 4) = 0x21;
	wait_for(PLL_SYS, 1u << 31);
	REG(PLL_SYS + 12) = 5u << 16 | 2u << 12;
	CLR(PLL_SYS + 4) = 8;
	REG(CLOCKS + 0x30) = 2; /* clk_ref from the crystal */
	wait_for(CLOCKS + 0x38, 4);
	REG(CLOCKS + 0x3c) = 0;
	SET(CLOCKS + 0x3c) = 1; /* clk_sys from the PLL */
	wait_for(CLOCKS + 0x44, 2);
	REG(CLOCKS + 0x48) = 1u << 11; /* clk_peri */
}

static void uart_start(void)
{
	SET(RESETS) = 1u << 26;
	unreset(1u << 26 | 1u << 6 | 1u << 9); /* UART0, IO_BANK0, PADS_BANK0 */
	REG(UART0 + 0x24) = 81; /* 115200 from 150 MHz */
	REG(UART0 + 0x28) = 24;
	REG(UART0 + 0x2c) = 0x70;
	REG(UART0 + 0x30) = 0x301;
	for (unsigned pin = 0; pin < 2; pin++) {
		REG(PADS + 4 + 4 * pin) = 0x56;
		REG(IO_BANK0 + 4 + 8 * pin) = 2;
		CLR(PADS + 4 + 4 * pin) = 1u << 8;
	}
}

void board_putc(char c)
{
	if (c == '\n')
		board_putc('\r');
	while (REG(UART0 + 0x18) & 0x20)
		;
	REG(UART0) = (uint8_t)c;
}

/* Tells a debugger or a simulator the status (semihosting, SYS_EXIT_EXTENDED). */
static void finish(int status)
{
	static uint32_t block[2];
	while (REG(UART0 + 0x18) & 8)
		;
	block[0] = 0x20026; /* ADP_Stopped_ApplicationExit */
	block[1] = (uint32_t)status;
#if defined(__riscv)
	register uint32_t op __asm__("a0") = 0x20;
	register void *arg __asm__("a1") = block;
	__asm__ volatile(
		".option push\n.option norvc\n.balign 16\n"
		"slli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n.option pop"
		: "+r"(op) : "r"(arg) : "memory");
#else
	register uint32_t op __asm__("r0") = 0x20;
	register void *arg __asm__("r1") = block;
	__asm__ volatile("bkpt 0xab" : "+r"(op) : "r"(arg) : "memory");
#endif
}

void start(void)
{
	uint32_t *from = &data_load;
	for (uint32_t *to = &data_begin; to < &data_end;)
		*to++ = *from++;
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	clocks_start();
	uart_start();
	finish(main());
	for (;;) /* nobody answered: sleep */
		__asm__ volatile("wfi");
}
