/* What the test programs share. */
#include <stdint.h>
void plat_puts(const char *s);
void plat_hex(uint32_t v);
void plat_exit(int code);

#define REG(a) (*(volatile uint32_t *)(a))
#define REG8(a) (*(volatile uint8_t *)(a))
#define SHCSR REG(0xe000ed24)
#define CFSR REG(0xe000ed28)
#define HFSR REG(0xe000ed2c)
#define MMFAR REG(0xe000ed34)
#define BFAR REG(0xe000ed38)
#define CCR REG(0xe000ed14)
#define CPACR REG(0xe000ed88)
#define ICSR REG(0xe000ed04)
#define AIRCR REG(0xe000ed0c)
#define ISER(n) REG(0xe000e100 + 4 * (n))
#define ICER(n) REG(0xe000e180 + 4 * (n))
#define ISPR(n) REG(0xe000e200 + 4 * (n))
#define ICPR(n) REG(0xe000e280 + 4 * (n))
#define IABR(n) REG(0xe000e300 + 4 * (n))
#define IPR(n) REG8(0xe000e400 + (n))
#define SHPR(n) REG8(0xe000ed14 + (n))
#define FPCCR REG(0xe000ef34)
#define FPCAR REG(0xe000ef38)
#define FPDSCR REG(0xe000ef3c)

static inline void say(const char *name, uint32_t v)
{
    plat_puts(name);
    plat_puts(" ");
    plat_hex(v);
    plat_puts("\n");
}

#define BARRIER() __asm__ volatile("dsb\n isb" ::: "memory")
