/* Prints a line and then computes for ever. */
#include "tb.h"
int main(void) {
    tb_puts("busy\n");
    for (volatile uint32_t n = 0;; n++) {}
}
