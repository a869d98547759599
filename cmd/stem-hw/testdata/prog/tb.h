/* What test programs use of the testbench, and semihosting calls. */
#include <stdint.h>
static inline void tb_putc(char c) { *(volatile uint32_t *)0x80000000 = (uint8_t)c; }
static inline void tb_puts(const char *s) { while (*s) tb_putc(*s++); }
__attribute__((noreturn)) void tb_exit(int code);
uint32_t semihost(uint32_t op, const void *param);
