/* PWM: two channels of a slice, another slice that counts and measures them
 * (GPIO2 is wired to GPIO5, GPIO3 to GPIO7), and wraps as interrupts. */
#include "pico2.h"
#include "periph.h"

static volatile unsigned wraps;

static void on_wrap(void)
{
	PWM_INTR = 1u << 1;
	wraps++;
}

int main(void)
{
	/* Slice 1 on GPIO2 and 3: 150 MHz / 15 / 1000 = 10 kHz, 25 % and 80 %. */
	PWM_DIV(1) = 15u << 4;
	PWM_TOP(1) = 999;
	PWM_CC(1) = 800u << 16 | 250;
	/* Slice 2 counts rising edges at GPIO5, slice 3 cycles while GPIO7 is high. */
	PWM_TOP(2) = 0xffff;
	PWM_CSR(2) = PWM_ENABLE | PWM_B_RISE;
	PWM_TOP(3) = 0xffff;
	PWM_DIV(3) = 100u << 4;
	PWM_CSR(3) = PWM_ENABLE | PWM_B_HIGH;
	/* Now that GPIO5 and GPIO7 are inputs of their slices nothing drives against the wires. */
	for (unsigned pin = 2; pin <= 7; pin++)
		pin_function(pin, FUNC_PWM);
	irq_handle(IRQ_PWM_0, on_wrap);
	PWM_INTE0 = 1u << 1;
	irq_enable(IRQ_PWM_0, true);
	PWM_CSR(1) = PWM_ENABLE;
	sleep_us(19950); /* the first edge is the start */
	uint32_t edges = PWM_CTR(2), high = PWM_CTR(3);
	PWM_CSR(1) = 0;
	print("%u Hz\n", edges * 50);
	/* 20 ms are 30000 counts at 1.5 MHz. */
	print("high for %u %% of the time\n", (high * 100 + 15000) / 30000);
	print("%s wraps\n", wraps >= 199 && wraps <= 201 ? "200" : "other");
	/* Phase-correct: up and down, half the frequency. */
	PWM_CTR(1) = 0;
	PWM_CTR(2) = 0;
	PWM_CSR(1) = PWM_ENABLE | PWM_PHASE;
	sleep_ms(20);
	print("%u Hz phase-correct\n", PWM_CTR(2) * 50);
	return 0;
}
