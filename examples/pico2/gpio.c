/* Pins. A pin has a pad (its driver and receiver) and a multiplexer. */
#include "pico2.h"

void pin_function(unsigned pin, unsigned function)
{
	uint32_t pad = PAD(pin);
	PAD(pin) = (pad & ~PAD_OD) | PAD_IE;
	GPIO_CTRL(pin) = function;
	/* A pad wakes up isolated: it keeps its level until told otherwise. */
	REG_CLR(PAD(pin)) = PAD_ISO;
}

void pin_output(unsigned pin)
{
	SIO_GPIO_OUT_CLR = 1u << pin;
	SIO_GPIO_OE_SET = 1u << pin;
	pin_function(pin, FUNC_SIO);
}

void pin_put(unsigned pin, bool on)
{
	if (on)
		SIO_GPIO_OUT_SET = 1u << pin;
	else
		SIO_GPIO_OUT_CLR = 1u << pin;
}

bool pin_get(unsigned pin) { return SIO_GPIO_IN >> pin & 1; }
