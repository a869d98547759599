/* The board support library for the Cortex-M33 cores: the same calls as for
 * RISC-V (../pico2.h), so that one source serves both. What differs is here and
 * in this folder: reset and vectors (start.c), interrupts (irq.c), the boot ROM
 * (rom.c), the second core (multicore.c) and the end (exit.c). */
#ifndef PICO2_H
#define PICO2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "regs.h"

#define CLK_SYS_HZ 150000000u
#define LED_PIN    25u

/* Arm v8-M: system control space. */
#define SYST_CSR   REG(0xe000e010)
#define SYST_RVR   REG(0xe000e014)
#define SYST_CVR   REG(0xe000e018)
#define NVIC_ISER(n) REG(0xe000e100 + 4 * (n))
#define NVIC_ICER(n) REG(0xe000e180 + 4 * (n))
#define NVIC_ISPR(n) REG(0xe000e200 + 4 * (n))
#define NVIC_ICPR(n) REG(0xe000e280 + 4 * (n))
#define NVIC_IPR(n)  (*(volatile uint8_t *)(uintptr_t)(0xe000e400 + (n)))
#define SCB_ICSR   REG(0xe000ed04)
#define SCB_VTOR   REG(0xe000ed08)
#define SCB_SHPR3  REG(0xe000ed20)
#define SCB_CPACR  REG(0xe000ed88)

static inline uint32_t core_num(void) { return SIO_CPUID; }

/* Waits for an interrupt, taken or not: it wakes with PRIMASK set, too. */
static inline void wait_for_interrupt(void) { __asm__ volatile("wfi" ::: "memory"); }
static inline void wait_for_event(void) { __asm__ volatile("wfe" ::: "memory"); }
static inline void send_event(void) { __asm__ volatile("dmb\n\tsev" ::: "memory"); }

static inline uint32_t interrupts_off(void)
{
	uint32_t old;
	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(old)::"memory");
	return old;
}
static inline void interrupts_restore(uint32_t old) { __asm__ volatile("msr primask, %0" ::"r"(old) : "memory"); }

void uart_init(void);
void uart_putc(char c);
int uart_getc(void);
int uart_try_getc(void);
void uart_flush(void);
void print(const char *format, ...);

void pin_function(unsigned pin, unsigned function);
void pin_output(unsigned pin);
void pin_put(unsigned pin, bool on);
bool pin_get(unsigned pin);

uint64_t time_us(void);
void sleep_until(uint64_t us);
void sleep_us(uint32_t us);
void sleep_ms(uint32_t ms);
void alarm_at(unsigned alarm, uint64_t us, void (*fn)(void));

enum {
	IRQ_TIMER0_0 = 0,
	IRQ_IO_BANK0 = 21,
	IRQ_SIO_FIFO = 25,
	IRQ_SIO_BELL = 26,
	IRQ_MTIMECMP = 29,
	IRQ_UART0 = 33,
	IRQ_SPARE_0 = 46,
	IRQ_COUNT = 52,
};

typedef void (*irq_handler)(void);

void irq_init_core(void);
void irq_handle(unsigned irq, irq_handler fn);
void irq_enable(unsigned irq, bool on);
void irq_priority(unsigned irq, unsigned priority); /* 0 lowest .. 15 */
void irq_force(unsigned irq);

void core1_start(void (*fn)(void));
void fifo_push(uint32_t v);
uint32_t fifo_pop(void);

#define ROM_CODE(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
void *rom_function(uint32_t code);
void *rom_data(uint32_t code);
void rom_init(void);

void watchdog_start(uint32_t us);
void watchdog_feed(uint32_t us);

void exit(int status) __attribute__((noreturn));
int semihost(int operation, const void *argument);

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

#endif
