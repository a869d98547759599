/* print for the board: characters to UART0. */
#include <stdarg.h>
#include <stddef.h>

#include "stem.h"

void board_putc(char c);

static void number(uint32_t v, unsigned base)
{
	if (v >= base)
		number(v / base, base);
	board_putc("0123456789abcdef"[v % base]);
}

void print(const char *f, ...)
{
	va_list args;
	va_start(args, f);
	for (; *f; f++) {
		if (*f != '%') {
			board_putc(*f);
			continue;
		}
		switch (*++f) {
		case 'c': board_putc((char)va_arg(args, int)); break;
		case 's':
			for (const char *s = va_arg(args, const char *); *s; s++)
				board_putc(*s);
			break;
		case 'u': number(va_arg(args, uint32_t), 10); break;
		case 'x': number(va_arg(args, uint32_t), 16); break;
		case 'd': {
			int32_t v = va_arg(args, int32_t);
			if (v < 0)
				board_putc('-');
			number(v < 0 ? 0u - (uint32_t)v : (uint32_t)v, 10);
			break;
		}
		default: board_putc(*f);
		}
	}
	va_end(args);
}

/* The compiler calls these by itself. */
void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	for (const char *f = from; n--;)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	for (char *t = to; n--;)
		*t++ = (char)c;
	return to;
}
