/* Causes faults of every kind and prints what the handlers see. */
#include "test.h"

static volatile uint32_t resume_at;
static volatile uint32_t base;
static volatile uint32_t user_stack[64] __attribute__((aligned(32)));
#define AREA 0x10040000
#define mpu_area ((volatile uint32_t *)AREA)

__attribute__((used)) void report(uint32_t *frame, uint32_t lr, uint32_t num)
{
    uint32_t cfsr = CFSR;
    say("  exception", num);
    say("  cfsr", cfsr);
    say("  hfsr", HFSR);
    if (cfsr & 0x80)
        say("  mmfar", MMFAR - (MMFAR >= (uint32_t)mpu_area && MMFAR < (uint32_t)mpu_area + 256 ? (uint32_t)mpu_area : 0));
    if (cfsr & 0x8000)
        say("  bfar", BFAR);
    say("  lr", lr);
    say("  shcsr", SHCSR);
    CFSR = cfsr;
    HFSR = HFSR;
    if (!(cfsr & 0x00101010)) {
        say("  pc", frame[6] - base);
        say("  xpsr", frame[7]);
    }
    __asm__ volatile("msr control, %0" ::"r"(0)); /* privileged again */
    frame[6] = resume_at;
    frame[7] = (frame[7] & 0x200) | 1 << 24;
}

#define ENTRY(name) __attribute__((naked)) void name(void) \
    { __asm__("mrs r2, ipsr\n tst lr, #4\n ite eq\n mrseq r0, msp\n mrsne r0, psp\n mov r1, lr\n push {r4, lr}\n bl report\n pop {r4, pc}\n"); }
ENTRY(hardfault_handler)
ENTRY(memmanage_handler)
ENTRY(busfault_handler)
ENTRY(usagefault_handler)
ENTRY(svc_handler)

/* Runs one case: an assembly snippet between two labels; the fault handler goes
   on at the second one. */
#define CASE(title, ...) do { \
    plat_puts(title "\n"); \
    __asm__ volatile("movw r0, #:lower16:1f\n movt r0, #:upper16:1f\n str r0, [%0]\n" \
        "movw r0, #:lower16:2f\n movt r0, #:upper16:2f\n str r0, [%1]\n b 1f\n .balign 4\n1:\n" \
        __VA_ARGS__ "\n .balign 4\n2:\n" :: "r"(&base), "r"(&resume_at) \
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r12", "lr", "cc", "memory"); \
    } while (0)

#define USER "movs r0, #1\n msr control, r0\n isb\n"

static void instructions(void)
{
    CASE("undefined 16", "udf #3");
    CASE("undefined 32", "udf.w #1234");
    CASE("undefined in an IT block", "movs r0, #0\n itt eq\n moveq r1, #1\n udfeq #0");
    CASE("no coprocessor", "mrc p3, 0, r0, c0, c0, 0");
    CASE("bx to an even address", "movw r0, #:lower16:2f\n movt r0, #:upper16:2f\n bic r0, r0, #1\n bx r0");
    CASE("ldm from an odd address", "ldr r0, [sp]\n add r0, sp, #2\n ldm r0, {r1, r2}");
    CASE("ldrd from an odd address", "add r0, sp, #2\n ldrd r1, r2, [r0]");
    CASE("ldrex from an odd address", "add r0, sp, #2\n ldrex r1, [r0]");
    CCR |= 8;
    CASE("ldr unaligned, trapped", "add r0, sp, #1\n ldr r1, [r0]");
    CASE("strh unaligned, trapped", "add r0, sp, #1\n strh r1, [r0]");
    CCR &= ~8u;
    CCR |= 0x10;
    CASE("udiv by zero, trapped", "movs r0, #0\n movs r1, #5\n udiv r2, r1, r0");
    CASE("sdiv by zero, trapped", "movs r0, #0\n movs r1, #5\n sdiv r2, r1, r0");
    CCR &= ~0x10u;
    CASE("floating point while disabled", ".inst.w 0xeeb70a00");
    CASE("vldr while disabled", ".inst.w 0xeddd1a00");
    CASE("bad exc_return outside a handler", "ldr r0, =0xfffffff9\n bx r0\n .ltorg");
}

static void memory(void)
{
    CASE("load from nowhere", "mov r0, #0x60000000\n movs r1, #0\n ldr r2, [r0, #4]");
    CASE("store to nowhere", "mov r0, #0x60000000\n str r1, [r0, #8]!");
    CASE("byte load from nowhere, indexed", "mov r0, #0x60000000\n movs r1, #3\n ldrb r2, [r0, r1]");
    CASE("ldm from nowhere", "mov r0, #0x60000000\n ldm r0!, {r1, r2, r3}");
    CASE("branch to nowhere", "mov r0, #0x60000000\n adds r0, #1\n blx r0");
    CASE("branch to execute-never memory", "ldr r0, =0x40100001\n bx r0\n .ltorg");
    CASE("branch to the system region", "ldr r0, =0xe0100001\n bx r0\n .ltorg");
}

static volatile uint32_t seen[8];

static void unprivileged(void)
{
    CASE("unprivileged load of a system register", USER "ldr r0, =0xe000ed08\n ldr r1, [r0]\n .ltorg");
    CASE("unprivileged store to a system register", USER "ldr r0, =0xe000e100\n str r0, [r0]\n .ltorg");
    CASE("special registers without privilege", USER
        "movw r3, #:lower16:seen\n movt r3, #:upper16:seen\n"
        "movs r1, #1\n msr primask, r1\n mrs r2, primask\n str r2, [r3], #4\n"
        "mrs r2, control\n str r2, [r3], #4\n mrs r2, ipsr\n str r2, [r3], #4\n"
        "mrs r2, msp\n str r2, [r3], #4\n mrs r2, psplim\n str r2, [r3], #4\n"
        "cpsid i\n svc 9");
    for (int i = 0; i < 5; i++)
        say("  seen", seen[i]);
    uint32_t v;
    __asm__ volatile("mrs %0, primask" : "=r"(v));
    say("  primask", v);
}

static void limits(void)
{
    uint32_t lo = (uint32_t)user_stack;
    __asm__ volatile("msr psplim, %0\n msr psp, %1" :: "r"(lo + 32), "r"(lo + 256));
    /* The snippet moves to the process stack, runs into the limit, and the
       handler returns on it. */
#define ONPSP "movs r0, #2\n msr control, r0\n isb\n"
#define OFFPSP "movs r0, #0\n msr control, r0\n isb\n"
    CASE("push below the limit", ONPSP "sub sp, sp, #216\n push {r0-r3}\n");
    __asm__ volatile(OFFPSP ::: "r0");
    __asm__ volatile("msr psp, %0" :: "r"(lo + 256));
    CASE("sub sp below the limit", ONPSP "sub sp, sp, #128\n sub sp, sp, #120\n");
    __asm__ volatile(OFFPSP ::: "r0");
    __asm__ volatile("msr psp, %0" :: "r"(lo + 256));
    CASE("str with write-back below the limit", ONPSP "sub sp, sp, #128\n str r0, [sp, #-100]!\n");
    __asm__ volatile(OFFPSP ::: "r0");
    uint32_t v;
    __asm__ volatile("mrs %0, psplim" : "=r"(v));
    say("psplim", v - lo);
    __asm__ volatile("msr psplim, %0" :: "r"(0));
    }

static void protection(void)
{
    REG(0xe000ed98) = 0;
    REG(0xe000ed9c) = 0x10000000 | 3 << 1;              /* code: read-only, all */
    REG(0xe000eda0) = 0x1001ffe0 | 1;
    REG(0xe000ed98) = 1;
    REG(0xe000ed9c) = (uint32_t)mpu_area | 2 << 1 | 1;  /* read-only, privileged, XN */
    REG(0xe000eda0) = ((uint32_t)mpu_area + 224) | 1;
    REG(0xe000ed98) = 2;
    REG(0xe000ed9c) = 0x38000000 | 1 << 1 | 1;          /* stack: all */
    REG(0xe000eda0) = 0x380fffe0 | 1;
    REG(0xe000edc0) = 0x44;
    REG(0xe000ed98) = 1;
    say("rlar", REG(0xe000eda0) - (uint32_t)mpu_area);
    REG(0xe000ed94) = 5;
    BARRIER();
    say("read", mpu_area[3]);
    CASE("store to a read-only region", "ldr r0, =0x10040000\n  str r0, [r0, #12]");
    CASE("stm into a read-only region", "ldr r0, =0x10040000\n  subs r0, #4\n str r0, [r0]\n stm r0!, {r1, r2, r3}");
    CASE("execute from an XN region", "ldr r0, =0x10040000\n  adds r0, #1\n bx r0");
    CASE("unprivileged load from a privileged region", USER "ldr r0, =0x10040000\n  ldr r1, [r0, #16]");
    CASE("unprivileged load outside all regions", USER "movw r0, #0\n movt r0, #0x3810\n ldr r1, [r0]");
    CASE("unprivileged svc", USER "svc 7");
}

int main(void)
{
    CPACR = 0;
        plat_puts("-- faults enabled\n");
        SHCSR |= 0x70000;
        instructions();
        memory();
        limits();
        plat_puts("-- faults disabled: escalation\n");
        SHCSR &= ~0x70000u;
        instructions();
        memory();
        SHCSR |= 0x70000;
        protection();
        unprivileged();
    return 0;
}
