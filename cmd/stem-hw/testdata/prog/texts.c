/* Prints three lines, then sleeps for ever. */
#include "tb.h"
int main(void) {
    tb_puts("first\r\nsecond\nthird and last\nbehind it\n");
    for (;;) __asm__ volatile("wfi");
}
