/* usbecho for the Cortex-M33: a USB serial port that sends back what it gets.
 * The USB part is ../../usbecho/usbcdc.c; here is what Arm does differently, from
 * reset to main (arm/hello explains it). build.sh builds usbecho.elf. */
#include <stdbool.h>
#include <stdint.h>

#include "../../usbecho/usbcdc.h"

#define REG(a) (*(volatile uint32_t *)(uintptr_t)(a))
#define SET(a) REG((a) + 0x2000u)
#define CLR(a) REG((a) + 0x3000u)

#define RESETS    0x40020000u
#define CLOCKS    0x40010000u
#define XOSC      0x40048000u
#define PLL_SYS   0x40050000u
#define PLL_USB   0x40058000u
#define CPACR     0xe000ed88u
#define NVIC_ISER 0xe000e100u
#define NVIC_ICPR 0xe000e280u

extern uint32_t data_begin, data_end, data_load, bss_begin, bss_end, stack_top;
void reset(void);
static void fault(void)
{
	for (;;)
		__asm__ volatile("bkpt 0");
}

__attribute__((section(".vectors"), used)) const void *const vectors[16 + 52] = {
	[0] = &stack_top, [1] = reset, [2] = fault, [3] = fault, [4] = fault, [5] = fault, [6] = fault,
};

/* An executable for Arm, secure (datasheet 5.9.3). */
__attribute__((section(".imagedef"), used)) const uint32_t image_def[5] = {
	0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579,
};

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

static void pll(uint32_t base, uint32_t reset_bit, uint32_t feedback, uint32_t dividers)
{
	SET(RESETS) = reset_bit;
	unreset(reset_bit);
	REG(base) = 1;
	REG(base + 8) = feedback;
	CLR(base + 4) = 0x21;
	wait_for(base, 1u << 31);
	REG(base + 12) = dividers;
	CLR(base + 4) = 8;
}

/* clk_sys 150 MHz, clk_usb 48 MHz. */
static void clocks_start(void)
{
	REG(CLOCKS + 0x84) = 0;
	REG(XOSC) = 0xaa0;
	REG(XOSC + 0xc) = 282;
	SET(XOSC) = 0xfabu << 12;
	wait_for(XOSC + 4, 1u << 31);
	CLR(CLOCKS + 0x3c) = 1;
	while (REG(CLOCKS + 0x44) != 1)
		;
	CLR(CLOCKS + 0x30) = 3;
	while (REG(CLOCKS + 0x38) != 1)
		;
	pll(PLL_SYS, 1u << 14, 125, 5u << 16 | 2u << 12);
	pll(PLL_USB, 1u << 15, 100, 5u << 16 | 5u << 12);
	REG(CLOCKS + 0x30) = 2;
	wait_for(CLOCKS + 0x38, 4);
	REG(CLOCKS + 0x3c) = 0;
	SET(CLOCKS + 0x3c) = 1;
	wait_for(CLOCKS + 0x44, 2);
	REG(CLOCKS + 0x60) = 0; /* USB from its PLL */
	REG(CLOCKS + 0x64) = 1u << 16;
	REG(CLOCKS + 0x60) = 1u << 11;
}

/* --- the boot ROM's functions (datasheet 5.4) ------------------------------- */

typedef void *(*lookup)(uint32_t code, uint32_t mask);
typedef int (*get_sys_info)(uint32_t *words, uint32_t n, uint32_t flags);
typedef int (*reboot)(uint32_t flags, uint32_t delay_ms, uint32_t p0, uint32_t p1);

static void *rom_function(char a, char b)
{
	uint32_t at = 0x16; /* where the address of the look-up is */
	__asm__("" : "+r"(at));
	return ((lookup)(uintptr_t) * (const uint16_t *)(uintptr_t)at)((uint32_t)a | (uint32_t)b << 8, 4);
}

static uint64_t chip_id(void)
{
	uint32_t words[8];
	get_sys_info f = (get_sys_info)rom_function('G', 'S');
	if (!f || f(words, 8, 1) < 0)
		return 0;
	return (uint64_t)words[3] << 32 | words[2];
}

void usb_restart(bool bootsel, uint32_t flags)
{
	reboot f = (reboot)rom_function('R', 'B');
	f(bootsel ? 2 : 0, 10, bootsel ? flags : 0, 0);
}

/* --- the beginning ------------------------------------------------------------ */

int main(void)
{
	usb_start(chip_id());
	/* Nothing is taken as an interrupt: it only ends the sleep. */
	__asm__ volatile("cpsid i");
	REG(NVIC_ISER) = 1u << USB_IRQ;
	uint8_t packet[USB_PACKET];
	int n = -1;
	for (;;) {
		REG(NVIC_ICPR) = 1u << USB_IRQ;
		usb_poll();
		bool busy = false;
		if (n < 0 && (n = usb_receive(packet)) >= 0)
			busy = true;
		if (n >= 0 && usb_send(packet, (unsigned)n)) {
			n = -1;
			busy = true;
		}
		if (!busy && !usb_pending())
			__asm__ volatile("wfi");
	}
}

void reset(void)
{
	uint32_t *from = &data_load;
	for (uint32_t *to = &data_begin; to < &data_end;)
		*to++ = *from++;
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	/* The redundancy coprocessor and the FPU. */
	REG(CPACR) |= 0x00f0c303;
	__asm__ volatile("dsb\n\tisb");
	SET(RESETS) = 0x0fef3b7f & ~(1u << 7 | 1u << 10);
	unreset(0x03f3fff6);
	clocks_start();
	unreset(0x1fffffff);
	main();
}
