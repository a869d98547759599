/* Registers of the peripherals that the examples about them use. The chapter of
 * the RP2350 datasheet is beside each block. */
#ifndef PICO2_PERIPH_H
#define PICO2_PERIPH_H

#include "regs.h"

#define FUNC_SPI   1u
#define FUNC_I2C   3u
#define FUNC_PWM   4u
#define FUNC_PIO0  6u
#define FUNC_PIO1  7u
#define FUNC_PIO2  8u
#define FUNC_CLOCK 9u

/* 12.6 DMA: the registers of a channel, and its CTRL. */
#define DMA_READ(n)       REG(0x50000000 + 0x40 * (n) + 0x00)
#define DMA_WRITE(n)      REG(0x50000000 + 0x40 * (n) + 0x04)
#define DMA_COUNT(n)      REG(0x50000000 + 0x40 * (n) + 0x08)
#define DMA_CTRL_TRIG(n)  REG(0x50000000 + 0x40 * (n) + 0x0c)
#define DMA_CTRL(n)       REG(0x50000000 + 0x40 * (n) + 0x10)
#define DMA_COUNT_TRIG(n) REG(0x50000000 + 0x40 * (n) + 0x1c)
#define DMA_READ_TRIG(n)  REG(0x50000000 + 0x40 * (n) + 0x3c)
#define DMA_INTR          REG(0x50000400)
#define DMA_INTE0         REG(0x50000404)
#define DMA_INTS0         REG(0x5000040c)
#define DMA_TIMER(n)      REG(0x50000440 + 4 * (n))
#define DMA_SNIFF_CTRL    REG(0x50000454)
#define DMA_SNIFF_DATA    REG(0x50000458)
#define DMA_EN            (1u << 0)
#define DMA_SIZE(log2)    ((log2) << 2)
#define DMA_INCR_READ     (1u << 4)
#define DMA_INCR_WRITE    (1u << 6)
#define DMA_RING_WRITE(b) ((b) << 8 | 1u << 12)
#define DMA_CHAIN(n)      ((n) << 13)
#define DMA_TREQ(n)       ((n) << 17)
#define DMA_TREQ_TIMER0   0x3bu
#define DMA_TREQ_NOW      0x3fu
#define DMA_SNIFF         (1u << 25)
#define DMA_BUSY          (1u << 26)
#define IRQ_DMA_0         10u

/* 11 PIO: block b, machine n. */
#define PIO_BASE(b)        (0x50200000u + 0x100000u * (b))
#define PIO_CTRL(b)        REG(PIO_BASE(b) + 0x000)
#define PIO_FSTAT(b)       REG(PIO_BASE(b) + 0x004)
#define PIO_TXF(b, n)      REG(PIO_BASE(b) + 0x010 + 4 * (n))
#define PIO_RXF(b, n)      REG(PIO_BASE(b) + 0x020 + 4 * (n))
#define PIO_IRQ(b)         REG(PIO_BASE(b) + 0x030)
#define PIO_MEM(b, i)      REG(PIO_BASE(b) + 0x048 + 4 * (i))
#define PIO_CLKDIV(b, n)   REG(PIO_BASE(b) + 0x0c8 + 0x18 * (n))
#define PIO_EXECCTRL(b, n) REG(PIO_BASE(b) + 0x0cc + 0x18 * (n))
#define PIO_SHIFTCTRL(b, n) REG(PIO_BASE(b) + 0x0d0 + 0x18 * (n))
#define PIO_ADDR(b, n)     REG(PIO_BASE(b) + 0x0d4 + 0x18 * (n))
#define PIO_INSTR(b, n)    REG(PIO_BASE(b) + 0x0d8 + 0x18 * (n))
#define PIO_PINCTRL(b, n)  REG(PIO_BASE(b) + 0x0dc + 0x18 * (n))
#define PIO_RXEMPTY(n)     (1u << (8 + (n)))
#define PIO_TXFULL(n)      (1u << (16 + (n)))
#define PIO_WRAP(bottom, top) ((top) << 12 | (bottom) << 7)
#define DREQ_PIO_TX(b, n)  (8 * (b) + (n))
#define DREQ_PIO_RX(b, n)  (8 * (b) + 4 + (n))

/* 12.5 PWM */
#define PWM_CSR(n)  REG(0x400a8000 + 0x14 * (n))
#define PWM_DIV(n)  REG(0x400a8004 + 0x14 * (n))
#define PWM_CTR(n)  REG(0x400a8008 + 0x14 * (n))
#define PWM_CC(n)   REG(0x400a800c + 0x14 * (n))
#define PWM_TOP(n)  REG(0x400a8010 + 0x14 * (n))
#define PWM_EN      REG(0x400a80f0)
#define PWM_INTR    REG(0x400a80f4)
#define PWM_INTE0   REG(0x400a80f8)
#define PWM_ENABLE  (1u << 0)
#define PWM_PHASE   (1u << 1)
#define PWM_B_HIGH  (1u << 4)
#define PWM_B_RISE  (2u << 4)
#define IRQ_PWM_0   8u

/* 12.4 ADC */
#define ADC_CS     REG(0x400a0000)
#define ADC_RESULT REG(0x400a0004)
#define ADC_FCS    REG(0x400a0008)
#define ADC_FIFO   REG(0x400a000c)
#define ADC_DIV    REG(0x400a0010)
#define ADC_EN     (1u << 0)
#define ADC_TEMP   (1u << 1)
#define ADC_ONCE   (1u << 2)
#define ADC_MANY   (1u << 3)
#define ADC_READY  (1u << 8)
#define DREQ_ADC   48u

/* 12.2 I2C0 */
#define I2C_CON        REG(0x40090000)
#define I2C_TAR        REG(0x40090004)
#define I2C_DATA       REG(0x40090010)
#define I2C_FS_HCNT    REG(0x4009001c)
#define I2C_FS_LCNT    REG(0x40090020)
#define I2C_RAW        REG(0x40090034)
#define I2C_CLR_ABRT   REG(0x40090054)
#define I2C_CLR_STOP   REG(0x40090060)
#define I2C_ENABLE     REG(0x4009006c)
#define I2C_RXFLR      REG(0x40090078)
#define I2C_SDA_HOLD   REG(0x4009007c)
#define I2C_ABRT_SRC   REG(0x40090080)
#define I2C_TX_EMPTY   (1u << 4)
#define I2C_TX_ABRT    (1u << 6)
#define I2C_STOP_DET   (1u << 9)
#define I2C_READ       (1u << 8)
#define I2C_STOP       (1u << 9)
#define I2C_RESTART    (1u << 10)

/* 12.3 SPI0 */
#define SPI_CR0  REG(0x40080000)
#define SPI_CR1  REG(0x40080004)
#define SPI_DR   REG(0x40080008)
#define SPI_SR   REG(0x4008000c)
#define SPI_CPSR REG(0x40080010)
#define SPI_TNF  (1u << 1)
#define SPI_RNE  (1u << 2)
#define SPI_BSY  (1u << 4)

/* 3.1.10 SIO interpolator 0 */
#define INTERP_ACCUM(l) REG(0xd0000080 + 4 * (l))
#define INTERP_BASE(l)  REG(0xd0000088 + 4 * (l))
#define INTERP_POP(l)   REG(0xd0000094 + 4 * (l))
#define INTERP_PEEK(l)  REG(0xd00000a0 + 4 * (l))
#define INTERP_CTRL(l)  REG(0xd00000ac + 4 * (l))

/* 12.13 SHA-256 */
#define SHA_CSR    REG(0x400f8000)
#define SHA_WDATA  REG(0x400f8004)
#define SHA_SUM(n) REG(0x400f8008 + 4 * (n))
#define SHA_START  (1u << 0)
#define SHA_READY  (1u << 1)
#define SHA_VALID  (1u << 2)

/* 8.1 clock outputs and the frequency counter */
#define CLK_GPOUT_CTRL(n) REG(0x40010000 + 12 * (n))
#define CLK_GPOUT_DIV(n)  REG(0x40010004 + 12 * (n))
#define FC0_REF_KHZ       REG(0x4001008c)
#define FC0_MIN           REG(0x40010090)
#define FC0_MAX           REG(0x40010094)
#define FC0_DELAY         REG(0x40010098)
#define FC0_INTERVAL      REG(0x4001009c)
#define FC0_SRC           REG(0x400100a0)
#define FC0_STATUS        REG(0x400100a4)
#define FC0_RESULT        REG(0x400100a8)

/* 12.1 UART1 */
#define UART1_DR    REG(0x40078000)
#define UART1_FR    REG(0x40078018)
#define UART1_IBRD  REG(0x40078024)
#define UART1_FBRD  REG(0x40078028)
#define UART1_LCR_H REG(0x4007802c)
#define UART1_CR    REG(0x40078030)

/* 6.4 POWMAN: writes carry the password in the upper half. */
#define POWMAN(offset)     REG(0x40100000 + (offset))
#define POWMAN_PASSWORD    0x5afe0000u
#define POWMAN_SET_TIME(n) POWMAN(0x60 + 4 * (n)) /* bits 63:48 first */
#define POWMAN_TIME_UPPER  POWMAN(0x70)
#define POWMAN_TIME_LOWER  POWMAN(0x74)
#define POWMAN_ALARM(n)    POWMAN(0x78 + 4 * (n))
#define POWMAN_TIMER       POWMAN(0x88)
#define POWMAN_INTE        POWMAN(0xe4)
#define IRQ_POWMAN_TIMER   45u

/* 12.8 TIMER1, counting cycles of clk_sys: a stopwatch. */
#define STOPWATCH_SOURCE REG(0x400b8038)
#define STOPWATCH        REG(0x400b8028)

/* 12.2 I2C1, as a target */
#define I2C1_CON        REG(0x40098000)
#define I2C1_SAR        REG(0x40098008)
#define I2C1_DATA       REG(0x40098010)
#define I2C1_INTR       REG(0x4009802c)
#define I2C1_INTR_MASK  REG(0x40098030)
#define I2C1_RX_TL      REG(0x40098038)
#define I2C1_CLR_RD_REQ REG(0x40098050)
#define I2C1_CLR_STOP   REG(0x40098060)
#define I2C1_ENABLE     REG(0x4009806c)
#define I2C_STATUS      REG(0x40090070)
#define I2C_TFNF        (1u << 1)
#define I2C_RX_FULL     (1u << 2)
#define I2C_RD_REQ      (1u << 5)
#define I2C_FIRST       (1u << 11)
#define IRQ_I2C1        37u

/* 12.3 SPI1 */
#define SPI1_CR0  REG(0x40088000)
#define SPI1_CR1  REG(0x40088004)
#define SPI1_DR   REG(0x40088008)
#define SPI1_SR   REG(0x4008800c)
#define SPI1_CPSR REG(0x40088010)

/* 12.11 HSTX */
#define FUNC_HSTX     0u
#define CLK_HSTX_CTRL REG(0x40010054)
#define CLK_HSTX_DIV  REG(0x40010058)
#define HSTX_CSR      REG(0x400c0000)
#define HSTX_BIT(n)   REG(0x400c0004 + 4 * (n))
#define HSTX_SHIFT    REG(0x400c0024)
#define HSTX_TMDS     REG(0x400c0028)
#define HSTX_STAT     REG(0x50600000)
#define HSTX_FIFO     REG(0x50600004)
#define HSTX_EN       (1u << 0)
#define HSTX_EXPAND   (1u << 1)
#define HSTX_BIT_CLK  (1u << 17)
#define HSTX_EMPTY    (1u << 9)
#define HSTX_CMD_TMDS (2u << 12)
#define DREQ_HSTX     52u

/* 9.11.3: the pulls of a pad */
#define PAD_PULL_DOWN (1u << 2)
#define PAD_PULL_UP   (1u << 3)

#endif
