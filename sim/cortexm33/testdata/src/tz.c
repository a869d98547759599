/* The Security Extension: attribution, calls both ways, exceptions across
   states, faults. Secure code and stack lie below 0x20000000 and 0x40000000 with
   bit 28 set, Non-secure code and data at 0x80000000. */
#include "test.h"

#define SFSR REG(0xe000ede4)
#define SFAR REG(0xe000ede8)
#define SAU_CTRL REG(0xe000edd0)
#define SAU_RNR REG(0xe000edd8)
#define SAU_RBAR REG(0xe000eddc)
#define SAU_RLAR REG(0xe000ede0)
#define VTOR_NS REG(0xe002ed08)
#define NS_DATA 0x80010000u
#define NS(n) REG(NS_DATA + 4 * (n))

/* Non-secure code. */
__asm__(
    ".section .nonsecure, \"ax\"\n .syntax unified\n .thumb\n"
    ".global ns_vectors\n .balign 128\n ns_vectors:\n .word 0x80020000, ns_reset + 1\n .rept 9\n .word ns_reset + 1\n .endr\n"
    ".word ns_svc + 1\n .rept 4\n .word ns_reset + 1\n .endr\n .rept 8\n .word ns_irq + 1\n .endr\n"
    "ns_reset: b ns_reset\n"
    ".thumb_func\n ns_svc: ldr r0, =0x80010000\n ldr r1, [r0, #4]\n adds r1, #1\n str r1, [r0, #4]\n str lr, [r0, #8]\n mrs r1, ipsr\n str r1, [r0, #12]\n bx lr\n"
    /* The handler stores what it sees of the registers of Secure code. */
    ".thumb_func\n ns_irq: push {r0, r1}\n ldr r0, =0x80010040\n stmia r0!, {r2-r12}\n str lr, [r0], #4\n pop {r2, r3}\n stmia r0!, {r2, r3}\n mrs r2, apsr\n str r2, [r0]\n movs r4, #0x55\n movs r11, #0x66\n bx lr\n"
    ".global ns_add\n .thumb_func\n ns_add: adds r0, #1\n mrs r1, control\n ldr r2, =0x80010000\n str r1, [r2]\n str lr, [r2, #4]\n mrs r1, ipsr\n str r1, [r2, #8]\n bx lr\n"
    ".global ns_gate\n .thumb_func\n ns_gate: push {r4, lr}\n ldr r3, =gate + 1\n blx r3\n adds r0, #0x10\n pop {r4, pc}\n"
    ".global ns_load\n .thumb_func\n ns_load: ldr.w r0, [r0]\n bx lr\n"
    ".global ns_store\n .thumb_func\n ns_store: str.w r0, [r0]\n bx lr\n"
    ".global ns_jump\n .thumb_func\n ns_jump: push {r4, lr}\n blx r0\n pop {r4, pc}\n"
    ".global ns_call_svc\n .thumb_func\n ns_call_svc: push {r4, lr}\n svc 3\n pop {r4, pc}\n"
    ".global ns_scb\n .thumb_func\n ns_scb: ldr r1, =0xe000ed08\n ldr r0, [r1]\n ldr r1, =0xe000edd0\n ldr r1, [r1]\n adds r0, r1\n bx lr\n"
    ".global ns_tt\n .thumb_func\n ns_tt: tt r0, r0\n bx lr\n"
    ".global ns_masks\n .thumb_func\n ns_masks: movs r0, #1\n msr primask, r0\n mrs r0, primask\n bx lr\n"
    ".ltorg\n .text\n");

/* What Non-secure code may call. */
__asm__(
    ".section .nsc, \"ax\"\n .thumb\n .balign 32\n"
    ".global gate\n .thumb_func\n gate: sg\n b.w secure_service\n .balign 32\n .text\n");

extern char ns_vectors[], ns_add[], ns_gate[], ns_load[], ns_store[], ns_jump[], ns_call_svc[], ns_scb[], ns_tt[], ns_masks[], gate[];

__attribute__((used)) uint32_t service_c(uint32_t v, uint32_t lr)
{
    say("  service", v);
    say("  lr", lr);
    return v * 2;
}
__attribute__((naked, used)) void secure_service(void)
{
    __asm__("push {r4, lr}\n mov r1, lr\n bl service_c\n pop {r4, lr}\n bxns lr\n");
}

/* Calls a Non-secure function. */
__attribute__((naked, noinline)) static uint32_t call_ns(const void *f, uint32_t arg)
{
    __asm__("push {r4-r11, lr}\n mov r3, r0\n mov r0, r1\n lsrs r3, r3, #1\n lsls r3, r3, #1\n mov r4, r3\n blxns r3\n pop {r4-r11, pc}\n");
}

static volatile uint32_t skip;

__attribute__((used)) void report(uint32_t *frame, uint32_t lr, uint32_t num)
{
    say("  exception", num);
    /* QEMU 7.2 does not set SFARVALID (bit 6), which the architecture asks for
       (Armv8-M ARM, D1.2.225). */
    say("  sfsr", SFSR & ~0x40u);
    say("  cfsr", CFSR);
    say("  lr", lr);
    SFSR = SFSR;
    CFSR = CFSR;
    if (skip == 2) { /* a jump: return to the caller */
        frame[6] = frame[5] & ~1u;
        frame[7] = (frame[7] & 0x200) | 1 << 24;
    } else
        frame[6] += skip;
}
#define ENTRY(name) __attribute__((naked)) void name(void) \
    { __asm__("mrs r2, ipsr\n tst lr, #0x40\n ite eq\n mrseq r0, msp_ns\n mrsne r0, msp\n mov r1, lr\n push {r4, lr}\n bl report\n pop {r4, pc}\n"); }
ENTRY(securefault_handler)
ENTRY(hardfault_handler)
ENTRY(usagefault_handler)
ENTRY(busfault_handler)

void irq_handler(void)
{
    uint32_t n;
    __asm__ volatile("mrs %0, ipsr" : "=r"(n));
    say("  secure interrupt", n);
}

static void tt(const char *name, uint32_t a)
{
    uint32_t v;
    plat_puts(name);
    __asm__ volatile("tt %0, %1" : "=r"(v) : "r"(a));
    say(" tt", v & 0x007f0000);
    __asm__ volatile("tta %0, %1" : "=r"(v) : "r"(a));
    say("  tta", v & 0x007f0000);
    __asm__ volatile("ttt %0, %1" : "=r"(v) : "r"(a));
    say("  ttt", v & 0x007f0000);
    __asm__ volatile("ttat %0, %1" : "=r"(v) : "r"(a));
    say("  ttat", v & 0x007f0000);
}

static void region(uint32_t n, uint32_t lo, uint32_t hi, uint32_t nsc)
{
    SAU_RNR = n;
    SAU_RBAR = lo;
    SAU_RLAR = (hi & ~31u) | nsc << 1 | 1;
}

int main(void)
{
    uint32_t v;
    REG(0x50080014) = 1; /* the machine's attribution unit lets code memory be Non-secure callable */
    SHCSR |= 0xf0000;
    region(0, 0x80000000, 0x80ffffff, 0);
    region(1, (uint32_t)gate & ~31u, ((uint32_t)gate & ~31u) + 31, 1);
    SAU_CTRL = 1;
    BARRIER();
    say("sau", SAU_CTRL);
    SAU_RNR = 1;
    say("rlar", SAU_RLAR - (uint32_t)gate);
    VTOR_NS = (uint32_t)ns_vectors;
    __asm__ volatile("msr msp_ns, %0" ::"r"(0x80020000));
    tt("code", 0x10000000);
    tt("gate", (uint32_t)gate);
    tt("non-secure", 0x80000000);
    tt("peripheral", 0x40000000);

    plat_puts("-- calls\n");
    say("add", call_ns(ns_add, 41));
    say("  control", NS(0));
    say("  lr", NS(1));
    say("  ipsr", NS(2));
    say("gate", call_ns(ns_gate, 5));
    say("scb", call_ns(ns_scb, 0) - (uint32_t)ns_vectors);
    say("tt", call_ns(ns_tt, 0x80000000));
    say("tt of secure memory", call_ns(ns_tt, 0x10000000));
    say("masks", call_ns(ns_masks, 0));
    __asm__ volatile("mrs %0, primask_ns" : "=r"(v));
    say("  primask_ns", v);
    __asm__ volatile("mrs %0, primask" : "=r"(v));
    say("  primask", v);
    __asm__ volatile("msr primask_ns, %0" ::"r"(0));

    plat_puts("-- faults\n");
    skip = 4;
    plat_puts("load\n");
    call_ns(ns_load, 0x38000000);
    plat_puts("store\n");
    call_ns(ns_store, 0x10000100);
    skip = 2;
    plat_puts("jump past the gate\n");
    call_ns(ns_jump, (uint32_t)secure_service | 1);
    plat_puts("jump into the gate's second instruction\n");
    call_ns(ns_jump, (uint32_t)gate + 5);
    plat_puts("jump to non-secure code without bxns\n");
    {
        void (*f)(void) = (void (*)(void))((uint32_t)ns_add | 1);
        f();
    }

    plat_puts("-- exceptions\n");
    NS(1) = 0;
    call_ns(ns_call_svc, 0);
    say("svc count", NS(1));
    say("  lr", NS(2));
    say("  ipsr", NS(3));
    /* A Non-secure interrupt of Secure code sees no register of it. */
    REG(0xe000e380) = 2;
    say("itns", REG(0xe000e380));
    REG(0xe002e100) = 2;
    __asm__ volatile("mov r4, #0x44\n mov r11, #0x77\n movw r0, #0xe200\n movt r0, #0xe000\n movs r1, #2\n cmp r1, r1\n str r1, [r0]\n dsb\n isb\n mov %0, r4\n add %0, %0, r11, lsl #16\n" : "=&r"(v) :: "r0", "r1", "r4", "r11", "cc", "memory");
    say("r4, r11", v);
    for (int i = 0; i < 15; i++)
        say("  seen", NS(16 + i));
    REG(0xe000e100) = 1;
    REG(0xe000e200) = 1;
    BARRIER();
    /* Priorities: AIRCR.PRIS puts Non-secure ones below. */
    AIRCR = 0x05fa4000;
    IPR(0) = 0x80;
    IPR(1) = 0x20;
    say("aircr", AIRCR);
    say("ipr", REG(0xe000e400));
    say("ipr_ns", REG(0xe002e400));
    AIRCR = 0x05fa2000;
    say("aircr", AIRCR);
    AIRCR = 0x05fa0000;
    say("icsr", ICSR);
    return 0;
}
