/* A small board support library for the Raspberry Pi Pico 2, RISC-V cores.
 *
 * It does what a program needs from reset to main() and a little more, in code
 * short enough to read in an evening: start-up (crt0.S), clocks.c, the console
 * (uart.c, print.c), time and alarms (timer.c), interrupts (irq.c, vectors.S),
 * the second core (multicore.c), flash (flash.c), the boot ROM (rom.c), the
 * watchdog (watchdog.c) and the end of a program (exit.c, semihost.S). */
#ifndef PICO2_H
#define PICO2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "regs.h"

/* Code that must run while flash is switched off or busy lives in RAM. */
#define IN_RAM __attribute__((section(".ram_text"), noinline))

#define CLK_SYS_HZ 150000000u
#define LED_PIN    25u

/* --- processor -------------------------------------------------------- */

#define csr_read(csr)                                                  \
	({                                                             \
		uint32_t v_;                                           \
		__asm__ volatile("csrr %0, " #csr : "=r"(v_)::"memory"); \
		v_;                                                    \
	})
#define csr_write(csr, v) __asm__ volatile("csrw " #csr ", %0" ::"r"(v) : "memory")
#define csr_set(csr, v)   __asm__ volatile("csrs " #csr ", %0" ::"r"(v) : "memory")
#define csr_clear(csr, v) __asm__ volatile("csrc " #csr ", %0" ::"r"(v) : "memory")

static inline uint32_t core_num(void) { return SIO_CPUID; }

/* Waits for an interrupt that is enabled in mie, taken or not. */
static inline void wait_for_interrupt(void) { __asm__ volatile("wfi" ::: "memory"); }

/* h3.block and h3.unblock of the Hazard3 core are hints in the encoding of
 * "slt x0, x0, x0" and "slt x0, x0, x1" (datasheet 3.8.6.3). An event that is
 * sent before the wait is not lost. */
static inline void wait_for_event(void) { __asm__ volatile(".insn r 0x33, 2, 0, x0, x0, x0" ::: "memory"); }
static inline void send_event(void) { __asm__ volatile(".insn r 0x33, 2, 0, x0, x0, x1" ::: "memory"); }

/* Interrupts off; returns what interrupts_restore wants. */
static inline uint32_t interrupts_off(void)
{
	uint32_t old;
	__asm__ volatile("csrrci %0, mstatus, 8" : "=r"(old)::"memory");
	return old & 8u;
}
static inline void interrupts_restore(uint32_t old) { csr_set(mstatus, old); }

/* --- console: UART0 at 115200 8N1, GPIO0 out, GPIO1 in ----------------- */

void uart_init(void);
void uart_putc(char c);   /* "\n" becomes "\r\n" */
int uart_getc(void);      /* waits */
int uart_try_getc(void);  /* -1 if nothing came */
void uart_flush(void);    /* until the last bit has left */

/* print knows %c %s %d %u %x %%, a width and leading zeros; %u and %x take 32 bits. */
void print(const char *format, ...);

/* --- pins --------------------------------------------------------------- */

void pin_function(unsigned pin, unsigned function);
void pin_output(unsigned pin);
void pin_put(unsigned pin, bool on);
bool pin_get(unsigned pin);

/* --- time --------------------------------------------------------------- */

/* Moments to wait for are at most 71 minutes away: alarms compare 32 bits. */
uint64_t time_us(void);
void sleep_until(uint64_t us);
void sleep_us(uint32_t us);
void sleep_ms(uint32_t ms);
/* Calls fn from an interrupt at time us. Alarms 0 and 1 serve sleep_until on
 * cores 0 and 1; 2 and 3 are free. */
void alarm_at(unsigned alarm, uint64_t us, void (*fn)(void));

/* --- interrupts ----------------------------------------------------------- */

enum {
	IRQ_TIMER0_0 = 0,
	IRQ_IO_BANK0 = 21,
	IRQ_SIO_FIFO = 25,
	IRQ_SIO_BELL = 26,
	IRQ_MTIMECMP = 29,
	IRQ_UART0 = 33,
	IRQ_SPARE_0 = 46, /* 46..51 belong to software alone */
	IRQ_COUNT = 52,
};

typedef void (*irq_handler)(void);

void irq_init_core(void);
void irq_handle(unsigned irq, irq_handler fn);
void irq_enable(unsigned irq, bool on);  /* on this core */
void irq_priority(unsigned irq, unsigned priority); /* 0 lowest .. 15 */
void irq_force(unsigned irq);            /* pend it by software */
/* The two interrupts that do not come through the interrupt controller. */
extern irq_handler soft_irq_handler, timer_irq_handler;

/* --- the other core --------------------------------------------------------- */

void core1_start(void (*fn)(void));
void fifo_push(uint32_t v); /* waits for room */
uint32_t fifo_pop(void);    /* waits for a word */

/* --- the boot ROM ------------------------------------------------------------ */

#define ROM_CODE(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
void *rom_function(uint32_t code); /* 0 if the ROM has none */
void *rom_data(uint32_t code);
void rom_init(void);

/* --- flash: offsets from XIP_BASE --------------------------------------------- */

#define FLASH_SECTOR 4096u
#define FLASH_PAGE   256u
/* Both must be called with the other core out of flash. data is in RAM. */
void flash_erase(uint32_t offset, uint32_t n);
void flash_program(uint32_t offset, const void *data, uint32_t n);

/* --- watchdog ------------------------------------------------------------------ */

void watchdog_start(uint32_t us);
void watchdog_feed(uint32_t us);

/* --- the end ---------------------------------------------------------------------- */

/* Tells a debugger or simulator the status by semihosting; without one the core
 * sleeps for ever. */
void exit(int status) __attribute__((noreturn));
/* A semihosting call; -1 if nobody answers. */
int semihost(int operation, const void *argument);

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

#endif
