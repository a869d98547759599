/* Interrupts: priorities, preemption, tail-chaining, masking, SysTick, PendSV,
   stacking of floating-point state, sleep, exclusives. */
#include "test.h"

static char log_[512];
static int n_;
static void put(char c)
{
    if (n_ < 500)
        log_[n_++] = c;
}
static void flush(const char *title)
{
    log_[n_] = 0;
    plat_puts(title);
    plat_puts(" ");
    plat_puts(log_);
    plat_puts("\n");
    n_ = 0;
}

static volatile int action;
static volatile uint32_t seen_lr, seen_icsr, seen_val;

/* What each interrupt does is told by the scenario. Interrupt n logs its letter
   on entry and the small letter on exit. */
__attribute__((used)) void irq(uint32_t num, uint32_t lr)
{
    uint32_t n = num - 16;
    put((char)('A' + n));
    seen_lr = lr;
    switch (action) {
    case 1: /* 0 pends 1, 2 and 3 */
        if (n == 0)
            ISPR(0) = 0xe;
        BARRIER();
        break;
    case 2: /* 0 pends itself once */
        if (n == 0) {
            action = 0;
            ISPR(0) = 1;
            BARRIER();
            seen_icsr = ICSR;
        }
        break;
    case 3: /* pends PendSV and SysTick */
        ICSR = 1 << 28 | 1 << 26;
        BARRIER();
        break;
    case 4: { /* raises the priority above by BASEPRI, pends 1 */
        uint32_t p = 0x20;
        if (n != 0)
            break;
        __asm__ volatile("msr basepri, %0" ::"r"(p) : "memory");
        ISPR(0) = 2;
        BARRIER();
        put('.');
        __asm__ volatile("msr basepri, %0\n isb" ::"r"(0) : "memory");
        break;
    }
    case 5: /* uses floating point */
        __asm__ volatile("vmov.f32 s0, #2.0\n vmov.f32 s20, #3.0\n vadd.f32 s1, s0, s20" ::: "s0", "s1", "s20");
        seen_val = FPCCR;
        break;
    }
    put((char)('a' + n));
}

__attribute__((naked)) void irq_handler(void)
{
    __asm__("mrs r0, ipsr\n mov r1, lr\n b irq\n");
}

void pendsv_handler(void) { put('P'); }
static volatile int ticks;
void systick_handler(void)
{
    put('S');
    if (++ticks >= 3)
        REG(0xe000e010) = 0;
}
void svc_handler(void)
{
    put('V');
    if (action == 1)
        ISPR(0) = 2;
    BARRIER();
    put('v');
}

static void prio(int a, int b, int c, int d)
{
    IPR(0) = (uint8_t)a;
    IPR(1) = (uint8_t)b;
    IPR(2) = (uint8_t)c;
    IPR(3) = (uint8_t)d;
}

static uint32_t apsr_test(void)
{
    /* Flags and registers survive an interrupt between two instructions. */
    uint32_t r;
    __asm__ volatile("movs r0, #0\n adds r0, #0\n mov r1, #1\n movw r2, #0xe200\n movt r2, #0xe000\n cmp r0, #5\n str r1, [r2]\n dsb\n"
                     " ite lt\n movlt %0, #7\n movge %0, #9" : "=r"(r) :: "r0", "r1", "r2", "cc", "memory");
    return r;
}

static void excl(void)
{
    static uint32_t word;
    uint32_t r, v;
    __asm__ volatile("ldrex %1, [%2]\n adds %1, #1\n strex %0, %1, [%2]" : "=&r"(r), "=&r"(v) : "r"(&word) : "cc", "memory");
    say("strex", r);
    say("word", word);
    __asm__ volatile("ldrex %1, [%2]\n clrex\n strex %0, %1, [%2]" : "=&r"(r), "=&r"(v) : "r"(&word) : "memory");
    say("strex after clrex", r);
    __asm__ volatile("ldrex %1, [%2]\n svc 0\n strex %0, %1, [%2]" : "=&r"(r), "=&r"(v) : "r"(&word) : "memory");
    n_ = 0;
    say("strex after an exception", r);
    __asm__ volatile("ldaexb %1, [%2]\n adds %1, #3\n stlexb %0, %1, [%2]" : "=&r"(r), "=&r"(v) : "r"(&word) : "cc", "memory");
    say("stlexb", r);
    __asm__ volatile("ldrexh %1, [%2]\n adds %1, #3\n strexh %0, %1, [%2]" : "=&r"(r), "=&r"(v) : "r"(&word) : "cc", "memory");
    say("strexh", r);
    say("word", word);
    __asm__ volatile("strex %0, %1, [%2]" : "=&r"(r) : "r"(5), "r"(&word) : "memory");
    say("strex alone", r);
}

__attribute__((noinline)) static void run(void)
{
    ISER(0) = 0xf;
    say("iser", ISER(0));
    IPR(0) = 0xff;
    say("priority bits", IPR(0) & 0xf0);

    prio(0x40, 0x20, 0x40, 0x60);
    action = 1;
    ISPR(0) = 1;
    BARRIER();
    flush("preempt one, chain two:");
    prio(0x40, 0x40, 0x20, 0x20);
    ISPR(0) = 1;
    BARRIER();
    flush("preempt twice:");
    prio(0x80, 0x80, 0x80, 0x80);
    ISPR(0) = 0xf;
    BARRIER();
    flush("same priority, by number:");
    prio(0xc0, 0xa0, 0x80, 0x60);
    action = 0;
    __asm__ volatile("cpsid i" ::: "memory");
    ISPR(0) = 0xf;
    BARRIER();
    put('|');
    say("icsr", ICSR);
    say("pending", ISPR(0));
    __asm__ volatile("cpsie i\n isb" ::: "memory");
    flush("masked, then by priority:");
    say("pending", ISPR(0));

    AIRCR = 0x05fa0000 | 5 << 8; /* two group bits */
    prio(0x40, 0x60, 0x50, 0x20);
    action = 1;
    ISPR(0) = 1;
    BARRIER();
    flush("grouped priorities:");
    AIRCR = 0x05fa0000;

    action = 2;
    ISPR(0) = 1;
    BARRIER();
    flush("pended while active:");
    say("icsr in handler", seen_icsr);

    SHPR(14) = 0xe0;
    SHPR(15) = 0x10;
    SHPR(11) = 0x30;
    action = 3;
    prio(0x40, 0x40, 0x40, 0x40);
    ISPR(0) = 1;
    BARRIER();
    flush("systick preempts, pendsv chains:");
    action = 4;
    prio(0x40, 0x20, 0x40, 0x60);
    ISPR(0) = 1;
    BARRIER();
    flush("basepri:");
    action = 1;
    prio(0x40, 0x20, 0x40, 0x60);
    __asm__ volatile("svc 0" ::: "memory");
    flush("svc preempted:");
    action = 0;
    say("flags", apsr_test());
    flush("between instructions:");

    __asm__ volatile("cpsid f" ::: "memory");
    ISPR(0) = 2;
    BARRIER();
    put('|');
    __asm__ volatile("cpsie f\n isb" ::: "memory");
    flush("faultmask:");

    /* WFI with interrupts masked wakes and goes on. */
    __asm__ volatile("cpsid i" ::: "memory");
    ISPR(0) = 4;
    __asm__ volatile("wfi" ::: "memory");
    put('w');
    __asm__ volatile("cpsie i\n isb" ::: "memory");
    flush("wfi:");
    __asm__ volatile("sev\n wfe\n" ::: "memory");
    flush("wfe:");

    REG(0xe000e014) = 9999;
    REG(0xe000e018) = 0;
    REG(0xe000e010) = 7;
    while (ticks < 3)
        __asm__ volatile("wfi" ::: "memory");
    flush("ticks:");
    say("countflag", REG(0xe000e010) >> 16 & 1);
    say("reload", REG(0xe000e014));

    /* Floating-point context across an interrupt that uses it too. */
    action = 5;
    prio(0x40, 0x40, 0x40, 0x40);
    uint32_t s0, s1, s20, fpscr, control;
    __asm__ volatile("vmov.f32 s0, #1.0\n vmov.f32 s20, #5.0\n vmov.f32 s1, #0.5\n mov r0, #0x02400000\n vmsr fpscr, r0\n"
                     "movw r0, #0xe200\n movt r0, #0xe000\n movs r1, #1\n str r1, [r0]\n dsb\n isb\n"
                     "vmov %0, s0\n vmov %1, s1\n vmov %2, s20\n vmrs %3, fpscr\n mrs %4, control"
                     : "=r"(s0), "=r"(s1), "=r"(s20), "=r"(fpscr), "=r"(control) :: "r0", "r1", "s0", "s1", "s20", "memory");
    say("s0", s0);
    say("s1", s1);
    say("s20", s20);
    say("fpscr", fpscr);
    say("control", control);
    say("lr", seen_lr);
    say("fpccr in handler", seen_val & 0xc0000001);
    flush("floating point:");
    action = 0;
    ISPR(0) = 1;
    BARRIER();
    say("lr", seen_lr);
    say("lspact", FPCCR & 1);
    /* Without lazy stacking. */
    FPCCR &= ~(1u << 30);
    action = 5;
    __asm__ volatile("vmov.f32 s0, #1.0\n movw r0, #0xe200\n movt r0, #0xe000\n movs r1, #1\n str r1, [r0]\n dsb\n isb\n vmov %0, s0" : "=r"(s0) :: "r0", "r1", "s0", "memory");
    say("s0", s0);
    say("fpccr in handler", seen_val & 0xc0000001);
    n_ = 0;
    excl();
}

int main(void)
{
    CPACR = 0xf << 20;
    BARRIER();
    run();
    return 0;
}
