/* The watchdog: resets the chip unless it is fed in time. */
#include "pico2.h"

void watchdog_start(uint32_t us)
{
	REG_CLR(WATCHDOG_CTRL) = WATCHDOG_ENABLE;
	/* Reset everything but the oscillators. */
	REG_SET(PSM_WDSEL) = PSM_ALL & ~(PSM_ROSC | PSM_XOSC);
	/* Stand still while a debugger has halted the cores. */
	REG_SET(WATCHDOG_CTRL) = WATCHDOG_PAUSE;
	WATCHDOG_LOAD = us;
	/* No boot vector: the next boot is an ordinary one. */
	WATCHDOG_SCRATCH(4) = 0;
	REG_SET(WATCHDOG_CTRL) = WATCHDOG_ENABLE;
}

void watchdog_feed(uint32_t us) { WATCHDOG_LOAD = us; }
