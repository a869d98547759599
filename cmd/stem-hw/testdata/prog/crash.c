/* Three calls deep, loads from an address where nothing is. */
#include "tb.h"
static inline __attribute__((always_inline)) uint32_t load(volatile uint32_t *p) {
    return *p;
}
__attribute__((noinline)) uint32_t inner(uint32_t addr) {
    uint32_t a = load((volatile uint32_t *)addr);
    tb_puts("never\n");
    return a;
}
__attribute__((noinline)) uint32_t outer(uint32_t n) {
    return inner(n * 4) + 1;
}
int main(void) {
    tb_puts("going down\n");
    return (int)outer(0x33333333u);
}
