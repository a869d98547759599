#include "tb.h"
void tb_exit(int code) {
    *(volatile uint32_t *)0x80000008 = (uint32_t)code;
    for (;;) {}
}
__attribute__((naked, aligned(16))) uint32_t semihost(uint32_t op, const void *param) {
    (void)op; (void)param;
    __asm__(".option push\n.option norvc\n"
            "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\nret\n.option pop");
}
