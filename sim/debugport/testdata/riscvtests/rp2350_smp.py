"""The same target with its harts as threads of one gdb."""

import rp2350


class RP2350SMP(rp2350.RP2350):
    """Both harts in a group."""
    openocd_config_path = "rp2350_smp.cfg"
