/* Clock outputs: 48 MHz over 480 on GPIO21 (wired to GPIO3, where PWM
 * counts edges) and the frequency counter on clk_sys. */
#include "pico2.h"
#include "periph.h"

int main(void)
{
	CLK_GPOUT_DIV(0) = 480u << 16; /* 48 MHz / 480 = 100 kHz */
	CLK_GPOUT_CTRL(0) = 9u << 5 | CLK_ENABLE; /* clk_usb */
	pin_function(21, FUNC_CLOCK);
	pin_function(3, FUNC_PWM);
	PWM_TOP(1) = 0xffff;
	PWM_CSR(1) = PWM_ENABLE | PWM_B_RISE;
	sleep_ms(10);
	print("%u edges in 10 ms\n", (unsigned)PWM_CTR(1));
	FC0_REF_KHZ = 12000;
	FC0_INTERVAL = 10;
	FC0_MIN = 0;
	FC0_MAX = 0xffffffff;
	FC0_SRC = 9; /* clk_sys */
	while (!(FC0_STATUS & 1u << 4))
		;
	print("clk_sys %u MHz\n", (unsigned)((FC0_RESULT >> 5) + 500) / 1000);
	return 0;
}
