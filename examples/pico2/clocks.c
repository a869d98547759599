/* Start-up of resets and clocks: from the ring oscillator to 150 MHz. */
#include "pico2.h"

enum { TICK_TIMER0 = 2, TICK_COUNT = 6 };

static void unreset(uint32_t bits)
{
	REG_CLR(RESETS_RESET) = bits;
	while (~RESETS_RESET_DONE & bits)
		;
}

/* VCO = 12 MHz * feedback; out = VCO / (div1 * div2). */
static void pll_start(uint32_t base, uint32_t reset_bit, uint32_t feedback, uint32_t div1, uint32_t div2)
{
	REG_SET(RESETS_RESET) = reset_bit;
	unreset(reset_bit);
	PLL_CS(base) = 1; /* reference divider */
	PLL_FBDIV(base) = feedback;
	REG_CLR(PLL_PWR(base)) = PLL_PD | PLL_VCOPD;
	while (!(PLL_CS(base) & PLL_LOCK))
		;
	PLL_PRIM(base) = div1 << 16 | div2 << 12;
	REG_CLR(PLL_PWR(base)) = PLL_POSTDIVPD;
}

static void clocks_start(void)
{
	CLK_SYS_RESUS_CTRL = 0;

	/* The crystal: 1 to 15 MHz range, and time to settle (in 256 cycles). */
	XOSC_CTRL = 0xaa0;
	XOSC_STARTUP = 282;
	REG_SET(XOSC_CTRL) = 0xfabu << 12;
	while (!(XOSC_STATUS & XOSC_STABLE))
		;

	/* Off the PLLs before they are touched. SELECTED is one-hot. */
	REG_CLR(CLK_SYS_CTRL) = 1;
	while (CLK_SYS_SELECTED != 1)
		;
	REG_CLR(CLK_REF_CTRL) = 3;
	while (CLK_REF_SELECTED != 1)
		;

	pll_start(PLL_SYS_BASE, RESET_PLL_SYS, 125, 5, 2); /* 1500 MHz / 10 = 150 MHz */
	pll_start(PLL_USB_BASE, RESET_PLL_USB, 100, 5, 5); /* 1200 MHz / 25 = 48 MHz */

	/* clk_ref from the crystal, clk_sys from its PLL. */
	REG_SET(CLK_REF_CTRL) = 2;
	while (!(CLK_REF_SELECTED & (1u << 2)))
		;
	CLK_REF_DIV = 1u << 16;
	CLK_SYS_DIV = 1u << 16;
	REG_CLR(CLK_SYS_CTRL) = 7u << 5; /* aux source 0: PLL_SYS */
	REG_SET(CLK_SYS_CTRL) = 1;
	while (!(CLK_SYS_SELECTED & (1u << 1)))
		;

	/* These have no glitchless mux: stop, choose, start. */
	CLK_USB_CTRL = 0;
	CLK_USB_DIV = 1u << 16;
	CLK_USB_CTRL = CLK_ENABLE;
	CLK_ADC_CTRL = 0;
	CLK_ADC_DIV = 1u << 16;
	CLK_ADC_CTRL = CLK_ENABLE;
	CLK_PERI_CTRL = 0;
	CLK_PERI_CTRL = CLK_ENABLE; /* aux source 0: clk_sys */

	/* One tick is 12 cycles of the 12 MHz reference: 1 us. */
	for (unsigned n = 0; n < TICK_COUNT; n++) {
		TICKS_CYCLES(n) = 12;
		TICKS_CTRL(n) = 1;
	}
}

/* Called by crt0.S with memory in order and nothing else. */
void board_init(void);
void board_init(void)
{
	rom_init();
	/* Everything into reset but what holds flash and clocks together: IO_QSPI,
	 * PADS_QSPI, the PLLs, SYSCFG and USB. Then out again, except what still
	 * lacks its clock: ADC, HSTX, SPI, UART, USB. */
	REG_SET(RESETS_RESET) = 0x0fef3b7f;
	unreset(0x03f3fff6);
	clocks_start();
	unreset(RESET_ALL);
	irq_init_core();
	uart_init();
}
