/* The other side of the bus. I2C1 is a memory of 256 bytes at address 0x17, served
 * by interrupts, for I2C0 on the same wires; SPI1 is the target of SPI0.
 *
 * I2C: SDA GPIO4 to GPIO6, SCL GPIO5 to GPIO7. SPI: TX GPIO19 to GPIO8, select
 * GPIO17 to GPIO9, clock GPIO18 to GPIO10, and back GPIO11 to GPIO16. */
#include "pico2.h"
#include "periph.h"

static volatile uint8_t memory[256];
static volatile uint8_t position;
static volatile unsigned stops;

/* The first byte that is written is the position; reading goes on from there. */
static void on_target(void)
{
	uint32_t events = I2C1_INTR;
	if (events & I2C_RX_FULL) {
		uint32_t v = I2C1_DATA;
		if (v & I2C_FIRST)
			position = (uint8_t)v;
		else
			memory[position++] = (uint8_t)v;
	}
	if (events & I2C_RD_REQ) {
		(void)I2C1_CLR_RD_REQ;
		I2C1_DATA = memory[position++];
	}
	if (events & I2C_STOP_DET) {
		(void)I2C1_CLR_STOP;
		stops++;
	}
}

static void wires(void)
{
	for (unsigned pin = 4; pin < 8; pin++) {
		pin_function(pin, FUNC_I2C);
		REG_SET(PAD(pin)) = PAD_PULL_UP;
		REG_CLR(PAD(pin)) = PAD_PULL_DOWN;
	}
	for (unsigned pin = 8; pin < 12; pin++) {
		pin_function(pin, FUNC_SPI);
		pin_function(pin + 8, FUNC_SPI);
	}
}

static void i2c(void)
{
	I2C1_ENABLE = 0;
	I2C1_CON = 2 << 1 | 1 << 8 | 1 << 9; /* target; the clock waits while the FIFO is full */
	I2C1_SAR = 0x17;
	I2C1_INTR_MASK = I2C_RX_FULL | I2C_RD_REQ | I2C_STOP_DET;
	I2C1_RX_TL = 0;
	I2C1_ENABLE = 1;
	irq_handle(IRQ_I2C1, on_target);
	irq_enable(IRQ_I2C1, true);

	I2C_ENABLE = 0;
	I2C_CON = 1 | 2 << 1 | 1 << 5 | 1 << 6 | 1 << 8;
	I2C_FS_HCNT = 150;
	I2C_FS_LCNT = 225;
	I2C_SDA_HOLD = 45;
	I2C_TAR = 0x17;
	I2C_ENABLE = 1;

	static const char text[] = "from the controller";
	I2C_DATA = 0x40;
	for (const char *s = text; *s; s++) {
		while (!(I2C_STATUS & I2C_TFNF))
			;
		I2C_DATA = (uint8_t)*s | (s[1] ? 0 : I2C_STOP);
	}
	while (stops < 1)
		;
	print("target holds: ");
	for (unsigned i = 0; i < sizeof text - 1; i++)
		print("%c", memory[0x40 + i]);
	/* Half of it back, behind a restart. */
	I2C_DATA = 0x49;
	for (unsigned i = 0; i < 10; i++)
		I2C_DATA = I2C_READ | (i ? 0 : I2C_RESTART) | (i == 9 ? I2C_STOP : 0);
	while (stops < 2)
		;
	print("\ncontroller reads: ");
	for (unsigned i = 0; i < 10; i++)
		print("%c", (char)I2C_DATA);
	print("\n");
}

static void spi(void)
{
	/* Both with 16 bits, clock idle low, second edge; 150 MHz / 12 / 5 = 2.5 MHz. */
	SPI1_CPSR = 2;
	SPI1_CR0 = 1u << 7 | 15;
	SPI1_CR1 = 1u << 2 | 1u << 1;
	SPI_CPSR = 12;
	SPI_CR0 = 4u << 8 | 1u << 7 | 15;
	SPI_CR1 = 1u << 1;
	for (unsigned i = 0; i < 8; i++)
		SPI1_DR = 0xa000 + i;
	for (unsigned i = 0; i < 8; i++)
		SPI_DR = 0x5000 + i;
	uint32_t a = 0, b = 0;
	for (unsigned i = 0; i < 8; i++) {
		while (!(SPI_SR & SPI_RNE) || !(SPI1_SR & SPI_RNE))
			;
		a = a * 31 + SPI_DR;
		b = b * 31 + SPI1_DR;
	}
	uint32_t wa = 0, wb = 0;
	for (unsigned i = 0; i < 8; i++) {
		wa = wa * 31 + 0xa000 + i;
		wb = wb * 31 + 0x5000 + i;
	}
	print("SPI both ways: %s\n", a == wa && b == wb ? "right" : "wrong");
}

int main(void)
{
	wires();
	i2c();
	spi();
	return 0;
}
