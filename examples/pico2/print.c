/* A small print: enough for the examples, no more. */
#include <stdarg.h>

#include "pico2.h"

static void number(uint32_t v, unsigned base, bool negative, unsigned width, char fill)
{
	char digits[12];
	unsigned n = 0;
	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	if (negative)
		digits[n++] = '-';
	while (width > n) {
		uart_putc(fill);
		width--;
	}
	while (n)
		uart_putc(digits[--n]);
}

static void text(const char *s)
{
	while (*s)
		uart_putc(*s++);
}

void print(const char *f, ...)
{
	va_list args;
	va_start(args, f);
	for (; *f; f++) {
		if (*f != '%') {
			uart_putc(*f);
			continue;
		}
		char fill = ' ';
		unsigned width = 0;
		if (*++f == '0')
			fill = '0';
		for (; *f >= '0' && *f <= '9'; f++)
			width = width * 10 + (unsigned)(*f - '0');
		if (*f == 'l')
			f++;
		switch (*f) {
		case 'c': uart_putc((char)va_arg(args, int)); break;
		case 's': text(va_arg(args, const char *)); break;
		case 'u': number(va_arg(args, uint32_t), 10, false, width, fill); break;
		case 'x': number(va_arg(args, uint32_t), 16, false, width, fill); break;
		case 'd': {
			int32_t v = va_arg(args, int32_t);
			number(v < 0 ? 0u - (uint32_t)v : (uint32_t)v, 10, v < 0, width, fill);
			break;
		}
		default: uart_putc(*f);
		}
	}
	va_end(args);
}

/* The compiler calls these by itself for structures and arrays. */
void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;
	while (n--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;
	while (n--)
		*t++ = (char)c;
	return to;
}
