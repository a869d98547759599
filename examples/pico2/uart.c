/* UART0, an Arm PL011, at 115200 baud. */
#include "pico2.h"

#define BAUD 115200u

void uart_init(void)
{
	/* The divisor has 6 bits behind the point; round to the nearest. */
	uint32_t d = 8 * CLK_SYS_HZ / BAUD + 1;
	UART_IBRD = d >> 7;
	UART_FBRD = (d & 0x7f) >> 1;
	UART_LCR_H = 0x70; /* 8 bits, no parity, one stop bit, FIFOs; latches the divisor */
	UART_CR = 0x301;   /* receiver, transmitter, UART */
	pin_function(0, FUNC_UART);
	pin_function(1, FUNC_UART);
}

static void send(char c)
{
	while (UART_FR & UART_TXFF)
		;
	UART_DR = (uint8_t)c;
}

void uart_putc(char c)
{
	if (c == '\n')
		send('\r');
	send(c);
}

int uart_try_getc(void)
{
	if (UART_FR & UART_RXFE)
		return -1;
	return UART_DR & 0xff;
}

int uart_getc(void)
{
	int c;
	while ((c = uart_try_getc()) < 0)
		;
	return c;
}

void uart_flush(void)
{
	while (UART_FR & UART_BUSY)
		;
}
