/* Console and exit by semihosting. */
#include <stdint.h>

static uint32_t call(uint32_t n, const void *arg)
{
    register uint32_t r0 __asm__("r0") = n;
    register const void *r1 __asm__("r1") = arg;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void plat_puts(const char *s) { call(4, s); }

void plat_exit(int code)
{
    uint32_t block[2] = {0x20026, (uint32_t)code};
    call(0x20, block);
    for (;;) {
    }
}

void plat_hex(uint32_t v)
{
    char o[9];
    for (int i = 0; i < 8; i++)
        o[i] = "0123456789abcdef"[v >> (28 - 4 * i) & 15];
    o[8] = 0;
    plat_puts(o);
}
