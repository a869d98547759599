/* A program for a Cortex-M33 of the RP2350, for sessions of gdb: floating
   point, a call chain, an exception, and a loop to interrupt. arm.elf is built from it by

   arm-none-eabi-gcc -mcpu=cortex-m33 -mfloat-abi=softfp -mfpu=fpv5-sp-d16 -mthumb -O1 -g
     -ffile-prefix-map=$PWD=. -ffreestanding -fno-optimize-sibling-calls -nostdlib
     -Wl,-T,arm.ld -Wl,--build-id=none -o arm.elf arm.c */
typedef unsigned int u32;
extern u32 stack_top;
int main(void);
void reset(void);
void svc(void);
volatile u32 go, calls;
volatile float half;

void spin(void) { while (!go) {} }

__attribute__((section(".vectors"), used)) const void *vectors[16] = {
    &stack_top, reset, spin, spin, spin, spin, spin, spin, 0, 0, 0, svc, 0, 0, spin, spin,
};

/* The image definition (RP2350 datasheet 5.9): an executable for Arm, secure. */
__attribute__((section(".imagedef"), used)) const u32 imagedef[5] = {
    0xffffded3, 0x10210142, 0x000001ff, 0, 0xab123579,
};

void svc(void) { calls++; }

__attribute__((noinline)) float scale(float x) { return x * half + 1.0f; }

__attribute__((noinline)) int depth(int n) { return n == 0 ? 0 : n + depth(n - 1) * (int)half + (n > 100); }

/* main may save registers of the FPU, so that is switched on before it. */
__attribute__((noreturn)) void reset(void) {
    *(volatile u32 *)0xe000ed88 |= 0xf << 20; /* CPACR */
    __asm__ volatile("dsb\n\tisb");
    main();
    for (;;) {}
}

int main(void) {
    half = 0.5f;
    float y = scale(3.0f);
    __asm__ volatile("svc 0");
    int d = depth(4);
    spin();
    return d + (int)y;
}
