"""LiteDRAM's generator, for the chips and the input registers of boards.

``python -m ctm.sim.boards.sdram_generator CYCLES ARGUMENTS``: the registers at the data pins give words so many clock
cycles later than those of an ECP5. The other arguments are LiteDRAM's.
"""

import sys
from typing import Any

from litedram import gen, modules, phy
from litedram.common import get_default_cl
from litedram.modules import MT48LC16M16
from litedram.phy import GENSDRPHY

from ctm.sim.boards.controller import CHIP


class LongestTimes(MT48LC16M16):  # type: ignore[misc]
    """4 banks of 8,192 rows of 512 words of 16 bits, with the longest times in ns of any that boards have.

    Sources: data sheets of Micron MT48LC16M16A2, ISSI IS42S16160, Alliance AS4C16M16SA, Winbond W9825G6KH.
    """

    speedgrade_timings = {
        "default": modules._SpeedgradeTimings(tRP=21, tRCD=21, tWR=15, tRFC=(None, 70), tFAW=None, tRAS=45)
    }


def main() -> None:
    """As LiteDRAM's own, with one argument more."""
    cycles = int(sys.argv.pop(1))

    class Pins(GENSDRPHY):  # type: ignore[misc]
        def __init__(self, pads: Any, sys_clk_freq: float) -> None:
            latency = get_default_cl("SDR", 1 / sys_clk_freq)
            super().__init__(pads, sys_clk_freq, latency + cycles)
            # The chip's own, which is written to its mode register.
            self.settings.cl = latency

    phy.GENSDRPHY = Pins
    setattr(modules, CHIP, LongestTimes)
    gen.main()


if __name__ == "__main__":
    main()
