/* Registers of the RP2350 that the examples use. Names and offsets are those of
 * the RP2350 datasheet; the chapter is beside each block. */
#ifndef PICO2_REGS_H
#define PICO2_REGS_H

#include <stdint.h>

#define REG(addr) (*(volatile uint32_t *)(uintptr_t)(addr))

/* Every register of an APB or AHB peripheral exists four times (2.1.3): plain,
 * and as three aliases whose writes change single bits in one bus access. */
#define REG_XOR(reg) REG((uintptr_t)&(reg) + 0x1000u)
#define REG_SET(reg) REG((uintptr_t)&(reg) + 0x2000u)
#define REG_CLR(reg) REG((uintptr_t)&(reg) + 0x3000u)

/* 2.2: where the memories are. */
#define XIP_BASE  0x10000000u
#define SRAM_BASE 0x20000000u
#define ROM_ENTRY 0x00007dfcu /* RISC-V reset vector of the boot ROM */

/* 7.5 RESETS: one bit holds one peripheral in reset. */
#define RESETS_RESET      REG(0x40020000)
#define RESETS_RESET_DONE REG(0x40020008)
#define RESET_IO_BANK0    (1u << 6)
#define RESET_PADS_BANK0  (1u << 9)
#define RESET_PLL_SYS     (1u << 14)
#define RESET_PLL_USB     (1u << 15)
#define RESET_UART0       (1u << 26)
#define RESET_ALL         0x1fffffffu

/* 8.1 CLOCKS */
#define CLK_REF_CTRL       REG(0x40010030)
#define CLK_REF_DIV        REG(0x40010034)
#define CLK_REF_SELECTED   REG(0x40010038)
#define CLK_SYS_CTRL       REG(0x4001003c)
#define CLK_SYS_DIV        REG(0x40010040)
#define CLK_SYS_SELECTED   REG(0x40010044)
#define CLK_PERI_CTRL      REG(0x40010048)
#define CLK_USB_CTRL       REG(0x40010060)
#define CLK_USB_DIV        REG(0x40010064)
#define CLK_ADC_CTRL       REG(0x4001006c)
#define CLK_ADC_DIV        REG(0x40010070)
#define CLK_SYS_RESUS_CTRL REG(0x40010084)
#define CLK_ENABLE         (1u << 11)

/* 8.2 XOSC: the 12 MHz crystal. */
#define XOSC_CTRL    REG(0x40048000)
#define XOSC_STATUS  REG(0x40048004)
#define XOSC_STARTUP REG(0x4004800c)
#define XOSC_STABLE  (1u << 31)

/* 8.6 PLL: offsets from PLL_SYS_BASE or PLL_USB_BASE. */
#define PLL_SYS_BASE   0x40050000u
#define PLL_USB_BASE   0x40058000u
#define PLL_CS(b)      REG((b) + 0x0)
#define PLL_PWR(b)     REG((b) + 0x4)
#define PLL_FBDIV(b)   REG((b) + 0x8)
#define PLL_PRIM(b)    REG((b) + 0xc)
#define PLL_LOCK       (1u << 31)
#define PLL_PD         (1u << 0)
#define PLL_POSTDIVPD  (1u << 3)
#define PLL_VCOPD      (1u << 5)

/* 8.5 TICKS: six generators of 1 us ticks, 12 bytes each: PROC0, PROC1, TIMER0,
 * TIMER1, WATCHDOG, RISCV. */
#define TICKS_CTRL(n)   REG(0x40108000 + 12 * (n))
#define TICKS_CYCLES(n) REG(0x40108004 + 12 * (n))

/* 9.11 IO_BANK0 and PADS_BANK0: what a pin is connected to, and its driver. */
#define GPIO_CTRL(n)   REG(0x40028004 + 8 * (n))
#define IO_INTR(n)     REG(0x40028230 + 4 * ((n) / 8))
#define PROC0_INTE(n)  REG(0x40028248 + 4 * ((n) / 8))
#define PROC0_INTS(n)  REG(0x40028278 + 4 * ((n) / 8))
#define PAD(n)         REG(0x40038004 + 4 * (n))
#define PAD_IE         (1u << 6)
#define PAD_OD         (1u << 7)
#define PAD_ISO        (1u << 8)
#define FUNC_UART      2u
#define FUNC_SIO       5u

/* 12.1 UART0 */
#define UART_DR    REG(0x40070000)
#define UART_FR    REG(0x40070018)
#define UART_IBRD  REG(0x40070024)
#define UART_FBRD  REG(0x40070028)
#define UART_LCR_H REG(0x4007002c)
#define UART_CR    REG(0x40070030)
#define UART_IMSC  REG(0x40070038)
#define UART_MIS   REG(0x40070040)
#define UART_ICR   REG(0x40070044)
#define UART_BUSY  (1u << 3)
#define UART_RXFE  (1u << 4)
#define UART_TXFF  (1u << 5)
#define UART_RXIM  (1u << 4)
#define UART_RTIM  (1u << 6)

/* 12.8 TIMER0 */
#define TIMER_ALARM(n) REG(0x400b0010 + 4 * (n))
#define TIMER_ARMED    REG(0x400b0020)
#define TIMER_RAWH     REG(0x400b0024)
#define TIMER_RAWL     REG(0x400b0028)
#define TIMER_INTR     REG(0x400b003c)
#define TIMER_INTE     REG(0x400b0040)

/* 12.9 WATCHDOG */
#define WATCHDOG_CTRL       REG(0x400d8000)
#define WATCHDOG_LOAD       REG(0x400d8004)
#define WATCHDOG_REASON     REG(0x400d8008)
#define WATCHDOG_SCRATCH(n) REG(0x400d800c + 4 * (n))
#define WATCHDOG_ENABLE     (1u << 30)
#define WATCHDOG_PAUSE      (7u << 24)

/* 7.4 PSM: what a watchdog reset resets. */
#define PSM_WDSEL REG(0x40018008)
#define PSM_ALL   0x01ffffffu
#define PSM_ROSC  (1u << 2)
#define PSM_XOSC  (1u << 3)

/* 5.4 boot RAM: the XIP set-up function, and locks for calls of the boot ROM. */
#define BOOTRAM_BASE     0x400e0000u
#define BOOTLOCK(n)      REG(BOOTRAM_BASE + 0x80c + 4 * (n))
#define BOOTLOCK_FLASH   1
#define BOOTLOCK_ENABLE  7

/* 3.1 SIO: core-local, one cycle away. */
#define SIO_CPUID            REG(0xd0000000)
#define SIO_GPIO_IN          REG(0xd0000004)
#define SIO_GPIO_OUT         REG(0xd0000010)
#define SIO_GPIO_OUT_SET     REG(0xd0000018)
#define SIO_GPIO_OUT_CLR     REG(0xd0000020)
#define SIO_GPIO_OUT_XOR     REG(0xd0000028)
#define SIO_GPIO_OE_SET      REG(0xd0000038)
#define SIO_FIFO_ST          REG(0xd0000050)
#define SIO_FIFO_WR          REG(0xd0000054)
#define SIO_FIFO_RD          REG(0xd0000058)
#define SIO_FIFO_VLD         (1u << 0)
#define SIO_FIFO_RDY         (1u << 1)
#define SIO_DOORBELL_OUT_SET REG(0xd0000180)
#define SIO_DOORBELL_IN_SET  REG(0xd0000188)
#define SIO_DOORBELL_IN_CLR  REG(0xd000018c)
#define SIO_RISCV_SOFTIRQ    REG(0xd00001a0)
#define SIO_MTIME_CTRL       REG(0xd00001a4)
#define SIO_MTIME            REG(0xd00001b0)
#define SIO_MTIMEH           REG(0xd00001b4)
#define SIO_MTIMECMP         REG(0xd00001b8)
#define SIO_MTIMECMPH        REG(0xd00001bc)

/* 12.15 SYSINFO */
#define SYSINFO_CHIP_ID REG(0x40000000)

#endif
