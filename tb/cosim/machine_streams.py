"""Cocotb tests: random command streams, with pauses of 0, 30 and 80 % on every channel."""

from typing import Any

import cocotb

from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.choice import seeds, with_pauses
from ctm.tb.cosim.command_streams import random_stream
from ctm.tb.cosim.scoreboard import Scoreboard
from ctm.tb.cosim.testbench import TB

_SIZES = {0.0: 6, 0.3: 4, 0.8: 1}
"""Wavefronts of a start."""


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("seed", "pauses"), with_pauses(seeds(3))))
async def random_streams(dut: Any, seed: int, pauses: float) -> None:
    tb = TB(dut, pauses=pauses, seed=seed)
    await tb.start()
    board = Scoreboard(tb, watchdog=20_000)
    await board.prepare()
    stream = random_stream(
        seed, lanes=tb.config.array.lanes, programs=2, buffers=2 if pauses < 0.5 else 1, wavefronts=_SIZES[pauses]
    )
    await board.run(stream)
    await tb.finish()
    assert any(port.counts.reads for port in tb.checked)
