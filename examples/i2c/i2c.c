/* I2C: who is on the bus, a device of registers, an EEPROM that is busy while it
 * writes. SDA is GPIO4, SCL GPIO5, 400 kHz. */
#include "pico2.h"
#include "periph.h"

static void target(unsigned address)
{
	I2C_ENABLE = 0;
	I2C_TAR = address;
	I2C_ENABLE = 1;
}

/* Sends n bytes and receives m; false if nobody acknowledged. */
static bool transfer(unsigned address, const uint8_t *out, unsigned n, uint8_t *in, unsigned m)
{
	target(address);
	for (unsigned i = 0; i < n; i++) {
		I2C_DATA = out[i] | (i + 1 == n && m == 0 ? I2C_STOP : 0);
		while (!(I2C_RAW & (I2C_TX_EMPTY | I2C_TX_ABRT)))
			;
	}
	for (unsigned i = 0; i < m && !(I2C_RAW & I2C_TX_ABRT); i++) {
		I2C_DATA = I2C_READ | (i == 0 && n ? I2C_RESTART : 0) | (i + 1 == m ? I2C_STOP : 0);
		while (!I2C_RXFLR && !(I2C_RAW & I2C_TX_ABRT))
			;
		if (I2C_RXFLR)
			in[i] = (uint8_t)I2C_DATA;
	}
	bool ok = !(I2C_RAW & I2C_TX_ABRT);
	while (!(I2C_RAW & I2C_STOP_DET))
		;
	(void)I2C_CLR_STOP;
	(void)I2C_CLR_ABRT;
	return ok;
}

int main(void)
{
	pin_function(4, FUNC_I2C);
	pin_function(5, FUNC_I2C);
	I2C_ENABLE = 0;
	I2C_CON = 1 | 2 << 1 | 1 << 5 | 1 << 6 | 1 << 8; /* controller, fast mode, TX_EMPTY when shifted out */
	/* 400 kHz at 150 MHz: 375 cycles a bit, three fifths of them low. */
	I2C_FS_HCNT = 150;
	I2C_FS_LCNT = 225;
	I2C_SDA_HOLD = 45;

	print("on the bus:");
	uint8_t b[20];
	for (unsigned a = 0x08; a < 0x78; a++)
		if (transfer(a, b, 0, b, 1))
			print(" %x", a);
	print("\n");

	/* Register 0x75 says who it is; 0x10 and on are written and read back. */
	b[0] = 0x75;
	transfer(0x68, b, 1, b, 1);
	print("who am I: %x\n", b[0]);
	const uint8_t three[] = {0x10, 1, 2, 3};
	transfer(0x68, three, 4, 0, 0);
	b[0] = 0x10;
	transfer(0x68, b, 1, b, 3);
	print("registers: %u %u %u\n", b[0], b[1], b[2]);

	/* The EEPROM: a page of 32 bytes at 0x0120; then it does not answer. */
	b[0] = 0x01;
	b[1] = 0x20;
	for (unsigned i = 0; i < 14; i++)
		b[2 + i] = (uint8_t)"kept in EEPROM"[i];
	transfer(0x50, b, 16, 0, 0);
	uint64_t start = time_us();
	unsigned tries = 0;
	while (!transfer(0x50, b, 0, b, 1))
		tries++;
	uint32_t took = (uint32_t)(time_us() - start);
	print("written in %u ms%s\n", (took + 500) / 1000, tries > 10 ? ", polled meanwhile" : "");
	b[0] = 0x01;
	b[1] = 0x20;
	transfer(0x50, b, 2, b, 14);
	b[14] = 0;
	print("%s\n", (char *)b);
	return 0;
}
