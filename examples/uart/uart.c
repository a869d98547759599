/* UART1 with its transmitter wired to its receiver (GPIO8 to GPIO9): what comes
 * back, how long a character takes, and a break. */
#include "pico2.h"
#include "periph.h"

int main(void)
{
	pin_function(8, FUNC_UART);
	pin_function(9, FUNC_UART);
	/* 150 MHz / 16 / 9600 = 976.5625. */
	UART1_IBRD = 976;
	UART1_FBRD = 36;
	UART1_LCR_H = 0x70;
	UART1_CR = 0x301;
	for (const char *s = "there and back"; *s; s++) {
		UART1_DR = (uint8_t)*s;
		while (UART1_FR & UART_RXFE)
			;
		uart_putc((char)UART1_DR);
	}
	uart_putc('\n');
	/* Ten characters of ten bits at 9600 baud: 10417 us. */
	while (UART1_FR & UART_BUSY)
		;
	uint64_t start = time_us();
	for (unsigned i = 0; i < 10; i++)
		UART1_DR = '0' + i;
	while (UART1_FR & UART_BUSY)
		;
	uint32_t us = (uint32_t)(time_us() - start);
	print("100 bits in %u us\n", us);
	unsigned sum = 0;
	for (unsigned i = 0; i < 10; i++)
		sum += UART1_DR & 0xff;
	print("sum %u\n", sum);
	/* A break is a character of zeros without a stop bit. */
	UART1_LCR_H = 0x71;
	sleep_ms(3);
	UART1_LCR_H = 0x70;
	print("a break came: %s\n", UART1_DR & 1u << 10 ? "yes" : "no");
	return 0;
}
