/* echo: what is typed comes back in capitals, by interrupts. An empty line or
 * ctrl-d ends it. */
#include "pico2.h"

enum { SIZE = 256, END_OF_TEXT = 4 };

static volatile uint8_t ring[SIZE];
static volatile uint8_t head, tail;

/* The FIFO's level, or silence while something waits in it. */
static void received(void)
{
	int c;
	while ((c = uart_try_getc()) >= 0)
		ring[head++] = (uint8_t)c;
	UART_ICR = UART_RXIM | UART_RTIM;
}

static int next(void)
{
	for (;;) {
		uint32_t on = interrupts_off();
		if (head != tail) {
			int c = ring[tail++];
			interrupts_restore(on);
			return c;
		}
		wait_for_interrupt();
		interrupts_restore(on);
	}
}

int main(void)
{
	irq_handle(IRQ_UART0, received);
	irq_enable(IRQ_UART0, true);
	UART_IMSC = UART_RXIM | UART_RTIM;
	print("type something; an empty line ends\n");
	uint32_t column = 0;
	for (;;) {
		int c = next();
		if (c == '\r')
			c = '\n';
		if (c == END_OF_TEXT || (c == '\n' && column == 0))
			break;
		column = c == '\n' ? 0 : column + 1;
		uart_putc(c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : (char)c);
	}
	print("bye\n");
	return 0;
}
