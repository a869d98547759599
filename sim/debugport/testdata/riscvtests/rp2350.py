"""The simulated RP2350 as a target of riscv-tests' debug suite.

The suite (riscv-software-src/riscv-tests, folder debug) imports this file. Its
modules targets and testlib are on the path then. STEM_HW names the program.
"""

import os
import re
import subprocess
import tempfile
import time

import targets
import testlib


class RP2350Hart(targets.Hart):
    """One Hazard3."""
    xlen = 32
    misa = 0x40901105
    # Striped SRAM; the banks behind it are left to the debugger's work area.
    ram = 0x20000000
    ram_size = 0x60000
    bad_address = 0x90000000
    instruction_hardware_breakpoint_count = 4
    reset_vectors = [0x7dfc]
    link_script_path = "rp2350.lds"


class Board:
    """A simulated board, which ends with its last reference."""

    process = None

    def __init__(self):
        # pylint: disable=consider-using-with
        self.log = tempfile.NamedTemporaryFile(prefix="rp2350-", suffix=".log")
        self.lognames = [self.log.name]
        self.process = subprocess.Popen(
            [os.environ["STEM_HW"], "sim", "board", "--arch", "riscv",
             "--jtag-bitbang", ":0"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.time() + 30
        while time.time() < end:
            with open(self.log.name, encoding="utf-8") as said:
                where = re.search(r"^jtag-bitbang +(\S+):(\d+)$", said.read(),
                                  re.MULTILINE)
            if where:
                os.environ["REMOTE_BITBANG_HOST"] = where.group(1)
                os.environ["REMOTE_BITBANG_PORT"] = where.group(2)
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise testlib.TestLibError("the board does not say where it is")

    def __del__(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


class RP2350(targets.Target):
    """Both harts behind the simulation's JTAG chain, a gdb for each."""
    harts = [RP2350Hart(), RP2350Hart()]
    openocd_config_path = "rp2350.cfg"
    timeout_sec = 120
    # The SIO's timer is not laid out as a CLINT. Programs and the suite write to
    # memory instead, so that no timer interrupt comes.
    clint_addr = 0x20060000
    supports_clint_mtime = False
    # Hazard3 as it is in this chip: four triggers, for execution alone.
    support_mcontrol = False
    support_mcontrol6 = False
    support_icount = False
    support_itrigger = False
    support_etrigger = False
    skip_tests = ["ProgramHwWatchpoint", "TriggerLoadAddressInstant",
                  "TriggerStoreAddressInstant"]
    implements_page_virtual_memory = False

    def create(self):
        return Board()

    def do_compile(self, hart, *sources):
        clint = self.clint_addr
        if "run_halt_timing" in sources[0]:
            self.clint_addr = 0xd00001b0 - 0xbff8  # it reads MTIME alone
        try:
            # Some programs want a C library: the small one, without its start
            # code.
            return super().do_compile(hart, *sources, "--specs=picolibc.specs",
                                      "-Wl,--no-gc-sections")
        finally:
            self.clint_addr = clint
